//! An input that ends with its summary: the answer, or why there is none.

use crate::tool::{result, run, said};

/// A summary with this code, and this result of its own.
fn summary(code: u8, outcome: &str) -> String {
    format!(
        "{{\"session_id\":null,\"schema\":1,\"ok\":{},\"outcome\":\"{outcome}\",\"code\":{code},\
         \"why\":\"It is so.\",\"next\":\"Do this.\",\"result\":\"cut\",\"truncated\":[]}}\n",
        code == 0
    )
}

#[test]
fn the_answer_is_that_of_the_stream_and_the_code_that_of_the_summary() {
    let output = run(&["--verdict"], result("all of it") + &summary(0, "success"));
    assert_eq!(
        (output.status.code(), &*output.stdout),
        (Some(0), &b"all of it\n"[..])
    );
    // Alone, the summary is all there is.
    let output = run(&["--verdict"], summary(0, "success"));
    assert_eq!(
        (output.status.code(), &*output.stdout),
        (Some(0), &b"cut\n"[..])
    );
}

#[test]
fn a_run_that_went_wrong_has_no_answer_whatever_it_said() {
    for (code, outcome) in [(1, "no_answer"), (4, "needs_input"), (75, "rate_limited")] {
        let output = run(&["--verdict"], result("words") + &summary(code, outcome));
        assert_eq!(
            (output.status.code(), &*output.stdout),
            (Some(code.into()), &b""[..])
        );
        let wanted = format!("cr-extract: no answer: {outcome}: It is so. Do this.\n");
        assert_eq!(said(&output), wanted);
    }
}

#[test]
fn a_good_run_without_words_is_good() {
    let output = run(&["--verdict"], result("") + &summary(0, "success"));
    assert_eq!((output.status.code(), &*output.stdout), (Some(0), &b""[..]));
    assert_eq!(said(&output), "cr-extract: no answer\n");
}

#[test]
fn a_summary_that_is_not_the_end_is_none() {
    for input in [
        String::new(),
        result("x"),
        // An agent may write what looks like one.
        summary(0, "success") + &result("x"),
        summary(0, "success") + "{\"type\":\"cr\",\"subtype\":\"exit\"}\n",
    ] {
        let output = run(&["--verdict"], input);
        assert_eq!(
            (output.status.code(), &*output.stdout),
            (Some(65), &b""[..])
        );
        assert_eq!(said(&output), "cr-extract: no summary at the end\n");
    }
}
