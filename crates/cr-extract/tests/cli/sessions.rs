//! Several sessions in one input, and texts that are no answers.

use std::io::Write;

use crate::tool::{extracted, tool};

fn banner(session: &str) -> String {
    format!(
        "{{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"{session}\",\"model\":\"m\"}}\n"
    )
}

fn message(session: &str, text: &str) -> String {
    format!(
        "{{\"type\":\"assistant\",\"session_id\":\"{session}\",\"message\":{{\"id\":\"{session}\",\
         \"model\":\"m\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}\n"
    )
}

fn result(session: &str, text: &str) -> String {
    format!(
        "{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"num_turns\":1,\
         \"session_id\":\"{session}\",\"result\":\"{text}\"}}\n"
    )
}

/// The text, read as a stream and from the end of a file.
fn text(input: &str) -> Option<String> {
    let streamed = extracted(&["--text"], input);
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(input.as_bytes()).expect("written");
    let path = file.path().to_str().expect("UTF-8");
    let output = tool(&["--text", path]).output().expect("run");
    let found = (output.status.code() == Some(0)).then(|| {
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        text.trim_end().to_owned()
    });
    assert_eq!(found, streamed, "{input}");
    streamed
}

#[test]
fn the_answer_of_an_earlier_session_is_not_that_of_the_last() {
    let first = banner("a") + &message("a", "x") + &result("a", "first");
    assert_eq!(text(&first).as_deref(), Some("first"));
    assert_eq!(text(&(first.clone() + &banner("b"))), None);
    let second = first.clone() + &banner("b") + &message("b", "half");
    assert_eq!(text(&second).as_deref(), Some("half"));
    let both = second + &result("b", "second");
    assert_eq!(text(&both).as_deref(), Some("second"));
    // A further turn of the same session begins with a banner too.
    let again = first + &banner("a") + &result("a", "again");
    assert_eq!(text(&again).as_deref(), Some("again"));
}

#[test]
fn filler_of_the_cli_is_no_answer() {
    assert_eq!(text(&result("a", "No response requested.")), None);
    let stream = message("a", "Done.") + &result("a", "No response requested.");
    assert_eq!(text(&stream).as_deref(), Some("Done."));
}
