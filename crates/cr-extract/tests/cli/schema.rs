//! `--schema`.

use std::path::PathBuf;
use std::process::Output;

use crate::tool::{result, said, tool};

const SPRINT: &str = r#"{"type":"object","required":["status","summary"],"additionalProperties":false,
    "properties":{"status":{"enum":["completed","failed","needs-human"]},"summary":{"type":"string"},
    "humanNeeded":{"type":"object","required":["reason"],"properties":{"reason":{"type":"string"},"details":{}}}}}"#;

fn with(schema: &str, args: &[&str], text: &str) -> (Output, PathBuf) {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("s#%20.json");
    std::fs::write(&path, schema).expect("written");
    let output = tool(args)
        .arg("--schema")
        .arg(&path)
        .write_stdin(result(text))
        .output()
        .expect("run");
    (output, path)
}

#[test]
fn the_first_block_that_satisfies_it_wins() {
    let good = r#"{"status": "completed", "summary": "x"}"#;
    let text = format!(
        "```json\n{{\"status\":\"odd\"}}\n```\n```\n{{\"a\":1}}\n```\nso {{}} or\n{good}\n{{\"b\":1}}"
    );
    let (output, _) = with(SPRINT, &[], &text);
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{good}\n"));
    assert_eq!(output.status.code(), Some(0));
    let numbers = "```json\n{\"n\":1}\n```\n```json\n{\"n\":\"x\"}\n```\n```json\n{\"n\":3}\n```\n";
    let schema = r#"{"properties":{"n":{"type":"integer"}}}"#;
    for (args, wanted) in [
        (&["--last"][..], "{\"n\":3}\n"),
        (&["--all"], "{\"n\":1}\n{\"n\":3}\n"),
    ] {
        assert_eq!(
            String::from_utf8_lossy(&with(schema, args, numbers).0.stdout),
            wanted
        );
    }
}

#[test]
fn none_is_1_and_the_first_violation_is_named() {
    let cases = [
        (r#"{"status":"odd","summary":"x"}"#, "/status: "),
        (r#"{"status":"failed"}"#, "/: missing "),
        (
            r#"{"status":"needs-human","summary":"x","humanNeeded":{}}"#,
            "/humanNeeded: missing ",
        ),
        (r#"{"status":"failed","summary":"x","extra":1}"#, "/: "),
    ];
    for (text, violation) in cases {
        let (output, path) = with(SPRINT, &[], text);
        assert_eq!((output.status.code(), &*output.stdout), (Some(1), &b""[..]));
        let said = said(&output);
        let wanted = format!(
            "cr-extract: does not satisfy {}: {violation}",
            path.display()
        );
        assert!(said.starts_with(&wanted), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

#[test]
fn structured_output_must_satisfy_it_too() {
    let line = r#"{"type":"result","subtype":"success","structured_output":{"n":"x"},"result":"{\"n\": 2}"}"#;
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("s.json");
    std::fs::write(&path, r#"{"properties":{"n":{"type":"integer"}}}"#).expect("written");
    let path = path.display().to_string();
    let output = tool(&["--schema", &path])
        .write_stdin(line)
        .output()
        .expect("run");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "{\"n\": 2}\n");
}

#[test]
fn a_wrong_schema_is_78_and_a_missing_one_66() {
    for schema in [
        "{",
        "{\"type\":\"nothing\"}",
        "{\"$ref\":\"https://example.com/s.json\"}",
    ] {
        let (output, path) = with(schema, &[], "{}");
        assert_eq!(output.status.code(), Some(78), "{output:?}");
        let said = said(&output);
        assert!(
            said.starts_with(&format!("cr-extract: {}: ", path.display())),
            "{said}"
        );
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    let output = tool(&["--schema=/nonexistent"]).output().expect("run");
    assert_eq!(output.status.code(), Some(66));
}

#[test]
fn a_schema_may_refer_to_the_file_beside_it() {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join("n.json"), r#"{"type":"integer"}"#).expect("written");
    let path = dir.path().join("s.json");
    std::fs::write(&path, r#"{"properties":{"n":{"$ref":"n.json"}}}"#).expect("written");
    let path = path.display().to_string();
    for (text, code) in [("{\"n\":1}", 0), ("{\"n\":\"x\"}", 1)] {
        let run = tool(&["--schema", &path])
            .write_stdin(result(text))
            .output()
            .expect("run");
        assert_eq!(run.status.code(), Some(code), "{run:?}");
    }
}
