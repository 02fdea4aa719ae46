//! What is written: the same text with two fields more.

use crate::tool::{turns, written};

const REASON: &str = r#""max_turns_reason":"type testing""#;

#[test]
fn the_form_the_order_and_all_other_fields_stay_as_they_are() {
    let cases = [
        // One task a line.
        (
            "{\"z\":1,\"task_type\":\"testing\",\"a\":[1, 2]}\n\n{\"task_type\":\"testing\"}\n",
            "{\"z\":1,\"task_type\":\"testing\",\"a\":[1, 2],@}\n\n{\"task_type\":\"testing\",@}\n",
        ),
        // A list.
        (
            "[ {\"task_type\":\"testing\"} ,\n{\"task_type\":\"testing\"}]\n",
            "[ {\"task_type\":\"testing\",@} ,\n{\"task_type\":\"testing\",@}]\n",
        ),
        // An object with a list, and with more.
        (
            "{\"n\":1.50,\"tasks\":[{\"task_type\":\"testing\"}],\"x\":{}}\n",
            "{\"n\":1.50,\"tasks\":[{\"task_type\":\"testing\",@}],\"x\":{}}\n",
        ),
        (
            "{\"steps\":[{\"task_type\":\"testing\"}]}\n",
            "{\"steps\":[{\"task_type\":\"testing\",@}]}\n",
        ),
        // Numbers and escapes that another form would change.
        (
            "{\"id\":123456789012345678901234567890,\"f\":1e2,\"s\":\"\\u00e9\\/\",\"task_type\":\"testing\"}\n",
            "{\"id\":123456789012345678901234567890,\"f\":1e2,\"s\":\"\\u00e9\\/\",\"task_type\":\"testing\",@}\n",
        ),
        // A field twice, as it is; the last counts.
        (
            "{\"task_type\":\"x\",\"task_type\":\"testing\"}\n",
            "{\"task_type\":\"x\",\"task_type\":\"testing\",@}\n",
        ),
        // The last line has no end; other ends of lines.
        (
            "{\"task_type\":\"testing\"}",
            "{\"task_type\":\"testing\",@}\n",
        ),
        (
            "{\"task_type\":\"testing\"}\r\n",
            "{\"task_type\":\"testing\",@}\r\n",
        ),
        (
            "\u{feff}{\"task_type\":\"testing\"}\n",
            "\u{feff}{\"task_type\":\"testing\",@}\n",
        ),
        // No tasks.
        ("", ""),
        ("\n", "\n"),
        ("[]\n", "[]\n"),
        ("{\"tasks\":[]}\n", "{\"tasks\":[]}\n"),
    ];
    for (input, expected) in cases {
        let expected = expected.replace('@', &format!("\"max_turns\":8,{REASON}"));
        assert_eq!(written(&[], input), expected, "{input}");
    }
}

#[test]
fn new_fields_are_laid_out_as_the_others() {
    let cases = [
        (
            "[\n  {\n    \"id\": \"a\",\n    \"task_type\": \"testing\"\n  }\n]\n",
            "[\n  {\n    \"id\": \"a\",\n    \"task_type\": \"testing\",\n    \"max_turns\": 8,\n    \"max_turns_reason\": \"type testing\"\n  }\n]\n",
        ),
        (
            "{\"id\": 1, \"task_type\": \"testing\"}\n",
            "{\"id\": 1, \"task_type\": \"testing\", \"max_turns\": 8, \"max_turns_reason\": \"type testing\"}\n",
        ),
        (
            "{ }\n",
            "{\"max_turns\":3,\"max_turns_reason\":\"no complexity words, no scope phrases, at most 1 file\" }\n",
        ),
    ];
    for (input, expected) in cases {
        assert_eq!(written(&[], input), expected, "{input}");
    }
}

#[test]
fn a_limit_that_a_task_has_is_kept_unless_it_is_overridden() {
    let given = "{\"max_turns\":70,\"task_type\":\"testing\"}\n";
    let kept = "{\"max_turns\":70,\"task_type\":\"testing\",\"max_turns_reason\":\"given\"}\n";
    assert_eq!(written(&[], given), kept);
    let new = format!("{{\"max_turns\":8,\"task_type\":\"testing\",{REASON}}}\n");
    assert_eq!(written(&["--override"], given), new);
    assert_eq!(written(&["--override"], kept), new, "also the reason");
}

#[test]
fn a_limit_that_is_null_is_absent() {
    let null = "{\"max_turns_reason\":null,\"max_turns\":null,\"task_type\":\"testing\"}\n";
    let new = format!("{{{REASON},\"max_turns\":8,\"task_type\":\"testing\"}}\n");
    assert_eq!(written(&[], null), new);
}

#[test]
fn a_second_time_changes_nothing() {
    let input = "{\"task_type\":\"testing\"}\n{\"max_turns\":70}\n";
    let once = written(&[], input);
    assert_eq!(written(&[], once.clone()), once);
}

#[test]
fn a_file_is_read_by_name_also_if_it_is_compressed() {
    let world = cr_test::World::new();
    let text = b"{\"task_type\":\"testing\"}\n";
    std::fs::write(world.path("a.ndjson"), text).expect("written");
    std::fs::write(world.path("a.gz"), cr_test::gzip(text)).expect("written");
    for name in ["a.ndjson", "a.gz"] {
        let path = world.path(name);
        assert_eq!(turns(&[path.to_str().expect("UTF-8")], "").0, 8, "{name}");
    }
    assert_eq!(turns(&["-"], "{\"task_type\":\"testing\"}").0, 8);
}

#[test]
fn the_tasks_can_be_run() {
    let plan = "{\"id\":\"a\",\"prompt\":\"p\",\"task_type\":\"testing\"}\n{\"id\":\"b\",\"prompt\":\"p\",\"max_turns\":5}\n";
    let text = written(&[], plan);
    let mut command = cr_test::tool("cr-orchestrate");
    let output = command.args(["--dry-run", "--json", "-"]).write_stdin(text);
    let output = output.output().expect("run");
    let text = String::from_utf8(output.stdout.clone()).expect("UTF-8");
    let run: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let tasks = run["tasks"].as_array().expect("tasks").iter();
    let limits: Vec<_> = tasks
        .map(|task| task["task"]["max_turns"].clone())
        .collect();
    assert_eq!(limits, [8, 5], "{output:?}");
}
