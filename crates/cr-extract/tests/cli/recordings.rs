//! Recordings of the real CLI.

use crate::tool::{fixture, said, tool};

#[test]
fn recordings_give_the_answers_that_were_recorded() {
    #[rustfmt::skip]
    let cases: &[(&str, &[&str], i32, &str)] = &[
        ("captures/14-schema.ndjson",       &[],         0, "{\"name\":\"Ada\",\"age\":36}\n"),
        ("captures/14-schema.ndjson",       &["--text"], 0, "{\"name\":\"Ada\",\"age\":36}\n"),
        ("captures/14-schema-never.ndjson", &[],         1, ""),
        ("captures/14-schema-never.ndjson", &["--text"], 0, "plain text never structured\n"),
        ("captures/14-schema-invalid.ndjson", &[],       1, ""),
        ("captures/08-json.ndjson",         &["--text"], 0, "answer one\n"),
        ("captures/08-json-verbose.ndjson", &["--text"], 0, "All done.\nSecond line.\n"),
        ("captures/08-text.ndjson",         &["--text"], 0, "answer one\n"),
        ("captures/02-tools.ndjson",        &["--text"], 0, "All done.\nSecond line.\n"),
        ("captures/02-tools.ndjson",        &[],         1, ""),
        ("session-logs/02-tools.jsonl",     &["--text"], 0, "All done.\nSecond line.\n"),
        ("captures/06-err429.ndjson",       &["--text"], 1, ""),
        ("session-logs/06-err400.jsonl",    &["--text"], 1, ""),
        ("captures/04-maxturns1.ndjson",    &["--text"], 1, ""),
    ];
    for (name, args, code, wanted) in cases {
        let path = fixture(name);
        let by_name = tool(args).arg(&path).output().expect("run");
        let piped = tool(args)
            .write_stdin(std::fs::read(&path).expect("a recording"))
            .output()
            .expect("run");
        for output in [by_name, piped] {
            assert_eq!(
                output.status.code(),
                Some(*code),
                "{name}: {}",
                said(&output)
            );
            assert_eq!(String::from_utf8_lossy(&output.stdout), *wanted, "{name}");
        }
    }
}

#[test]
fn a_session_that_cannot_be_resumed_is_a_failure_and_no_afterthought() {
    let path = fixture("captures/07-bad-resume.ndjson");
    let output = tool(&["--text"]).arg(path).output().expect("run");
    assert_eq!(output.status.code(), Some(1));
    let said = said(&output);
    assert!(
        said.contains(": the run failed: No conversation found"),
        "{said}"
    );
}

#[test]
fn the_text_is_the_last_result_of_every_stream() {
    let folder = fixture("captures");
    let mut checked = 0;
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("a file").path();
        let bytes = std::fs::read(&path).expect("a recording");
        let text = String::from_utf8_lossy(&bytes);
        let mut events = text
            .lines()
            .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        let Some(last) = events.rfind(|event| event["type"] == "result") else {
            continue;
        };
        let is_plain = last["is_error"] == false && last["structured_output"].is_null();
        let Some(wanted) = last["result"]
            .as_str()
            .filter(|text| is_plain && !text.is_empty())
        else {
            continue;
        };
        let output = tool(&["--text"]).arg(&path).output().expect("run");
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            format!("{wanted}\n"),
            "{}",
            path.display()
        );
        checked += 1;
    }
    assert!(checked > 60, "{checked} streams");
}
