//! Plans: every way to write one, and everything that can be wrong with it.

use crate::case::Case;

/// The ids that a dry run of `plan` shows, in order.
fn order(case: &Case, plan: &str) -> Vec<String> {
    let ended = case.run(&["--dry-run", "--json", plan]);
    assert_eq!(ended.code, Some(0), "{plan}: {}", ended.err);
    let run: serde_json::Value = serde_json::from_str(&ended.out).expect("JSON");
    let tasks = run["tasks"].as_array().expect("a list").iter();
    let id = |task: &serde_json::Value| {
        let id = task["id"].as_str().expect("an id").to_owned();
        assert_eq!(task["task"]["prompt"], format!("do {id}"));
        id
    };
    tasks.map(id).collect()
}

#[test]
fn every_form_of_a_plan_is_read() {
    let case = Case::new();
    case.write(
        "p.ndjson",
        "{\"id\":\"b\",\"prompt\":\"do b\",\"depends_on\":[\"a\"]}\n\n{\"id\":\"a\",\"prompt\":\"do a\"}\n",
    );
    case.write(
        "p.json",
        r#"[{"id":"b","prompt":"do b","wave":2},{"id":"a","prompt":"do a","wave":1}]"#,
    );
    case.write(
        "object.json",
        r#"{"title":"x","tasks":[{"id":"a","prompt":"do a"},{"id":"b","prompt_file":"b.txt"}]}"#,
    );
    case.write("b.txt", "do b");
    case.write(
        "p.yaml",
        "- {id: a, prompt: do a}\n- id: b\n  prompt: do b\n",
    );
    case.write(
        "q.yml",
        "tasks:\n  - id: a\n    prompt: >-\n      do\n      a\n  - {id: b, prompt: do b}\n",
    );
    std::fs::create_dir(case.path("folder")).expect("made");
    case.write("folder/a.md", "---\ndepends_on: []\n---\ndo a\n");
    case.write("folder/b.md", "do b\r\n");
    case.write("folder/README.txt", "not a task");
    for plan in [
        "p.ndjson",
        "p.json",
        "object.json",
        "p.yaml",
        "q.yml",
        "folder",
    ] {
        assert_eq!(order(&case, &format!("../{plan}")), ["a", "b"], "{plan}");
    }
    assert!(!case.path("state").exists(), "a dry run leaves nothing");
}

#[test]
fn a_plan_may_come_by_a_pipe() {
    let case = Case::new();
    case.write("p.ndjson", "{\"id\":\"a\",\"prompt\":\"do a\"}\n");
    let plan = std::fs::File::open(case.path("p.ndjson")).expect("a plan");
    let mut command = case.command(&["--dry-run", "--json", "-"]);
    let output = command.stdin(plan).output().expect("run");
    assert!(String::from_utf8_lossy(&output.stdout).contains(r#""id":"a""#));
}

#[test]
fn steps_of_a_sprint_may_be_prompts_and_nothing_else() {
    let case = Case::new();
    case.write(
        "s.yaml",
        "steps:\n  - do step-1\n  - prompt: do step-2\n  - {id: no, prompt: do no}\n",
    );
    assert_eq!(order(&case, "../s.yaml"), ["step-1", "step-2", "no"]);
}

#[test]
fn all_mistakes_are_listed_before_anything_starts() {
    let case = Case::new();
    case.write(
        "bad.yaml",
        "tasks:
- {id: a, prompt: x, depends_on: [nowhere]}
- {id: a, prompt: x}
- {id: ../etc, prompt: x}
- {prompt: x}
- {id: b}
- {id: c, prompt: x, prompt_file: y}
- {id: d, prompt_file: missing.txt}
- {id: e, prompt: x, max_turns: 0, model: '', timeout: soon, budget_usd: -1}
- {id: f, prompt: x, depends_on: [g]}
- {id: g, prompt: x, depends_on: [f]}
- {id: h, prompt: x, promt: y}
- {id: i, prompt: x, commit: maybe, idempotent: 7, cwd: nowhere}
- {id: j, prompt: x, wave: 1, depends_on: [k]}
- {id: k, prompt: x, wave: 2}
- 7
",
    );
    let ended = case.run(&["../bad.yaml"]);
    assert_eq!(ended.code, Some(2));
    let expected = [
        "depends on `nowhere`, which does not exist",
        "`a`: two tasks have this id",
        "id `../etc`",
        "task 4: no id",
        "task 5 (`b`): no prompt",
        "one of them, not both",
        "missing.txt",
        "max_turns: expected",
        "model: empty",
        "timeout: `soon`",
        "budget_usd: expected",
        "in a cycle",
        "no field is called `promt`",
        "commit: expected",
        "idempotent: expected",
        "no directory",
        "depends on `k`, which is in a later wave",
        "task 15: expected an object",
    ];
    for text in expected {
        assert!(ended.err.contains(text), "{text}\n{}", ended.err);
    }
    assert!(!case.path("state").exists());
    assert_eq!(ended.out, "");
}

#[test]
fn what_is_no_plan_is_refused() {
    let case = Case::new();
    for (text, cause) in [
        ("tasks: 7", "expected a list"),
        ("tasks: []", "no tasks"),
        ("a: [", ""),
        ("&a [*a, *a", ""),
        ("nothing: here", "neither tasks nor steps"),
        ("{tasks: [{id: a, prompt: x}], steps: [y]}", "not both"),
    ] {
        case.write("p.yaml", text);
        let ended = case.run(&["../p.yaml"]);
        assert_eq!(ended.code, Some(2), "{text}: {}", ended.err);
        assert!(ended.err.contains(cause), "{text}: {}", ended.err);
    }
    assert_eq!(case.run(&["../missing.yaml"]).code, Some(66));
    assert_eq!(case.run(&[]).code, Some(2));
    assert_eq!(case.run(&["--resume-run", "20"]).code, Some(66));
}
