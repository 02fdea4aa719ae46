//! Input that is wrong: the line is named, and nothing is written.

use crate::tool::{run, said};

#[test]
fn the_line_and_the_cause_are_named_and_nothing_is_written() {
    #[rustfmt::skip]
    let cases: [(&str, &str); 21] = [
        ("{\"id\":1}\n{\"id\":2\n", "line 2: not JSON: it has no end"),
        ("{\"id\":1}\n\n{]\n{}\n", "line 3: not JSON: key must be a string at line 3 column 2"),
        ("{}\n{\"id\":2\n{}\n", "line 2: not JSON: expected `,` or `}` at line 3 column 1"),
        ("{}\n{}{}\n x\n", "line 3: not JSON: expected value at line 3 column 2"),
        ("{}\n5\n", "line 2: expected an object"),
        ("[{},\n[]]", "line 2: expected an object"),
        ("{}\n[{}]\n", "line 2: expected an object"),
        ("{\"tasks\":5}", "line 1: tasks: expected a list"),
        ("{\"tasks\":[],\"steps\":[]}", "line 1: tasks and steps: one of them, not both"),
        ("{\"tasks\":[\n{},\n\"x\"]}", "line 3: expected an object"),
        ("tasks:\n- id: a\n", "line 1: expected JSON: tasks one after the other, a list, or {\"tasks\": [...]}"),
        ("{\"estimated_files\":-1}", "line 1: estimated_files: expected a whole number from 0"),
        ("{\n\"estimated_loc\":\n\"5\"}", "line 3: estimated_loc: expected a whole number from 0"),
        ("{\"estimated_loc\":1.5}", "line 1: estimated_loc: expected a whole number from 0"),
        ("{\"estimated_loc\":99999999999999999999}", "line 1: estimated_loc: expected a whole number from 0"),
        ("{\"title\":5}", "line 1: title: expected text"),
        ("{\"task_type\":[]}", "line 1: task_type: expected text"),
        ("{}\n{\"max_turns\":0}", "line 2: max_turns: expected a whole number from 1"),
        ("{\"max_turns\":\"9\"}", "line 1: max_turns: expected a whole number from 1"),
        ("{\"max_turns\":1e3}", "line 1: max_turns: expected a whole number from 1"),
        ("[{}", "line 1: not JSON: it has no end"),
    ];
    for (input, cause) in cases {
        let output = run(&[], input);
        assert_eq!(said(&output), format!("cr-turns: {cause}\n"), "{input}");
        assert_eq!(output.status.code(), Some(65), "{input}");
        assert!(output.stdout.is_empty(), "{input}");
    }
}

#[test]
fn a_wrong_limit_does_not_matter_if_it_is_overridden() {
    let output = run(&["--override"], "{\"max_turns\":\"many\"}\n");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stdout.starts_with(b"{\"max_turns\":3,"));
}

#[test]
fn bytes_that_are_no_text_are_refused_with_their_line() {
    let output = run(&[], b"{}\n{\"a\":\"\xff\"}\n".to_vec());
    assert_eq!(said(&output), "cr-turns: line 2: not UTF-8\n");
    assert_eq!(output.status.code(), Some(65));
}

#[test]
fn a_file_is_named() {
    let world = cr_test::World::new();
    let path = world.path("plan.ndjson");
    std::fs::write(&path, "{}\n{\n").expect("written");
    let name = path.to_str().expect("UTF-8");
    let output = run(&[name], "");
    let words = format!("cr-turns: {name}:2: not JSON: it has no end\n");
    assert_eq!(said(&output), words);
    assert_eq!(output.status.code(), Some(65));
}
