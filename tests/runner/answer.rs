//! `--output answer`: the answer on standard output, or why there is none.

use std::fs;

use crate::case::{Case, INIT, RESULT, SESSION};

const SCHEMA: &str = "{\n  \"type\": \"object\",\n  \"required\": [\"a b\"]\n}\n";

/// A recording of a run that ends with `result`, and the case that plays it.
fn ending(result: &str) -> Case {
    let place = Case::new("");
    let init = format!(
        r#"{{"type":"system","subtype":"init","session_id":"{SESSION}","cwd":"/w","model":"m","tools":[]}}"#
    );
    let recording = place.path("recording.ndjson");
    fs::write(&recording, format!("{init}\n{result}\n")).expect("written");
    let case = Case::replaying(&recording);
    fs::write(case.path("repo/s.json"), SCHEMA).expect("written");
    // The recording outlives its place.
    fs::rename(&recording, case.path("recording.ndjson")).expect("moved");
    let moved = case.path("recording.ndjson");
    case.env("CR_REPLAY", moved.to_str().expect("a path"))
}

/// A result with these fields.
fn result(fields: &str) -> String {
    format!(
        r#"{{"type":"result","subtype":"success","session_id":"{SESSION}","num_turns":1,"duration_ms":5,{fields}}}"#
    )
}

#[test]
fn what_a_schema_asked_for_is_given_as_it_was_written() {
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    let answers = [
        r#"{"z": 1.50, "a b":[1e400, 123456789012345678901234567890, -0.0], "z":"\u00e9\ud800"}"#
            .to_owned(),
        format!(r#"{{"a b": {deep}}}"#),
        r#"{"a b": "sk-ant-api03-0123456789abcdef"}"#.to_owned(),
        "false".to_owned(),
    ];
    for answer in answers {
        let line = result(&format!(
            r#""is_error":false,"result":"words","structured_output":{answer}"#
        ));
        let done = ending(&line).run(&["go", "--output=answer", "--json-schema=s.json"]);
        assert_eq!(done.code(), Some(0), "{done:?}");
        assert_eq!(done.out, format!("{answer}\n"));
    }
}

#[test]
fn without_a_schema_the_answer_is_the_final_text() {
    let done = ending(&result(
        r#""is_error":false,"result":"one\ntwo  {\"a\": 1}\n""#,
    ));
    let done = done.run(&["go", "--output", "answer"]);
    assert_eq!(
        (done.code(), done.out.as_str()),
        (Some(0), "one\ntwo  {\"a\": 1}\n"),
        "{done:?}"
    );
}

#[test]
fn an_answer_of_five_megabytes_is_whole() {
    for record in [&[][..], &["--no-record"]] {
        let items = "\"0123456789\",".repeat(400_000);
        let text = "x\\n".repeat(2_000_000);
        let answer = format!("[{items}1]");
        for (fields, wanted) in [
            (format!(r#""structured_output":{answer}"#), answer),
            (
                format!(r#""result":"{text}.""#),
                "x\n".repeat(2_000_000) + ".",
            ),
        ] {
            let case = ending(&result(&fields));
            let done = case.run(&[&["go", "--output=answer"], record].concat());
            assert_eq!(done.code(), Some(0));
            assert!(done.out == wanted + "\n", "{} bytes", done.out.len());
        }
    }
}

#[test]
fn without_an_answer_standard_output_is_empty_and_the_reason_is_told() {
    let failed = r#""is_error":true,"result":"API Error: 529 overloaded","api_error_status":529"#;
    let login = r#""is_error":true,"result":"Invalid API key","api_error_status":401"#;
    for (fields, code, said) in [
        (
            r#""is_error":false,"result":"Here you are: {\"a b\":1}""#,
            1,
            "no answer: no_answer: A schema was asked for, and no answer meets it. Retry",
        ),
        (failed, 75, "no answer: overloaded: "),
        (login, 77, "no answer: auth: "),
    ] {
        let case = ending(&result(fields));
        let done = case.run(&["go", "--output=answer", "--json-schema", "s.json"]);
        assert_eq!(
            (done.code(), done.out.as_str()),
            (Some(code), ""),
            "{done:?}"
        );
        assert!(done.err.contains(said), "{done:?}");
    }
    let limit = format!(
        r#"{{"type":"result","subtype":"error_max_turns","is_error":true,"num_turns":3,"session_id":"{SESSION}","errors":["Reached maximum number of turns (2)"]}}"#
    );
    let done = ending(&limit).run(&["go", "--output=answer"]);
    assert_eq!((done.code(), done.out.as_str()), (Some(3), ""), "{done:?}");
    assert!(done.err.contains("no answer: limit_turns: "), "{done:?}");
}

#[test]
fn the_answer_of_an_earlier_turn_is_not_given() {
    let first = result(r#""is_error":false,"result":"","structured_output":{"a b":1}"#);
    let last = result(r#""is_error":false,"result":"nothing more""#);
    let case = ending(&format!("{first}\n{last}"));
    let done = case.run(&["go", "--output=answer", "--json-schema=s.json"]);
    assert_eq!((done.code(), done.out.as_str()), (Some(1), ""), "{done:?}");
}

#[test]
fn the_answer_of_the_attempt_that_went_well_is_given() {
    let miss = result(r#""is_error":false,"result":"words""#);
    let hit = result(r#""is_error":false,"result":"","structured_output":{"a b": 1.0}"#);
    let agent = format!(
        "[ -e \"$HOME/tried\" ] || {{ touch \"$HOME/tried\"; echo '{miss}'; exit; }}\necho '{hit}'\n"
    );
    let case = Case::new(&[INIT, &agent].concat());
    fs::write(case.path("repo/s.json"), SCHEMA).expect("written");
    let ask = ["go", "--output=answer", "--json-schema=s.json"];
    let done = case.run(&[&ask[..], &["--retry=1"]].concat());
    assert_eq!(
        (done.code(), done.out.as_str()),
        (Some(0), "{\"a b\": 1.0}\n"),
        "{done:?}"
    );
}

#[test]
fn a_schema_that_is_none_is_refused_before_anything_starts() {
    let case = Case::new(&[INIT, RESULT].concat());
    fs::write(case.path("repo/words.json"), "an object, please").expect("written");
    fs::write(case.path("repo/list.json"), "[]").expect("written");
    fs::write(case.path("repo/wrong.json"), r#"{"type":"strng"}"#).expect("written");
    fs::write(
        case.path("repo/long.json"),
        format!(r#"{{"title":"{}"}}"#, "x".repeat(200_000)),
    )
    .expect("written");
    for (name, code, said) in [
        ("none.json", 66, "--json-schema: none.json: No such file"),
        (
            "words.json",
            78,
            "--json-schema: words.json: expected value",
        ),
        (
            "list.json",
            78,
            "--json-schema: list.json: not a schema: expected an object",
        ),
        (
            "wrong.json",
            78,
            "--json-schema: wrong.json: not a schema: /type: ",
        ),
        ("long.json", 2, "--json-schema: the schema is too long"),
        (
            r#"{"required":"a"}"#,
            78,
            "--json-schema: not a schema: /required: ",
        ),
    ] {
        let done = case.run(&["go", "--output=answer", "--json-schema", name]);
        assert_eq!(
            (done.code(), done.out.as_str()),
            (Some(code), ""),
            "{done:?}"
        );
        assert!(
            done.err.starts_with(&format!("claude-runner: {said}")),
            "{done:?}"
        );
        assert_eq!(done.err.lines().count(), 1, "{done:?}");
    }
    assert!(!case.path("home/got").exists(), "an agent was started");
    assert_eq!(case.runs().len(), 0);
}

#[test]
fn the_agent_gets_the_schema_itself_from_a_file_or_from_the_command_line() {
    let say = "printf '%s\\n' \"$@\" >\"$HOME/args\"\n";
    let case = Case::new(&[say, INIT, RESULT].concat());
    fs::write(case.path("repo/s.json"), SCHEMA).expect("written");
    for given in ["s.json", "./s.json", SCHEMA] {
        case.run(&["go", "--json-schema", given]);
        let args = fs::read_to_string(case.path("home/args")).expect("args");
        let wanted = "--json-schema={\"type\":\"object\",\"required\":[\"a b\"]}\n";
        assert!(args.contains(wanted), "{args}");
    }
}
