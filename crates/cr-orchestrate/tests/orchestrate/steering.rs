//! Stopping a run, and continuing it.

use cr_test::{Fifo, appears, root};

use crate::case::Case;

fn three() -> Case {
    let case = Case::new();
    case.plan(&[("a", ""), ("b", ""), ("c", "")]);
    case
}

#[test]
fn a_run_stops_after_the_task_that_was_named() {
    let case = three();
    assert_eq!(case.go(&["--until", "b"]).code, Some(0));
    assert_eq!(case.done(), ["a", "b"]);
    assert_eq!(case.resume(&[]).code, Some(0));
    assert_eq!(case.done(), ["a", "b", "c"]);
    assert_eq!(case.go(&["--until", "x"]).code, Some(2));
}

#[test]
fn a_breakpoint_stops_a_run_once() {
    let case = Case::new();
    case.plan(&[("a", ""), ("b", "breakpoint: true"), ("c", "")]);
    assert_eq!(case.go(&["--break", "c"]).code, Some(4));
    assert_eq!(case.done(), ["a"]);
    assert_eq!(case.resume(&["--break", "c"]).code, Some(4));
    assert_eq!(case.done(), ["a", "b"]);
    assert_eq!(case.resume(&["--break", "c"]).code, Some(0));
    assert_eq!(case.done(), ["a", "b", "c"]);
}

#[test]
fn a_file_called_pause_ends_a_run_before_the_next_attempt() {
    let case = three();
    case.script("a", 1, "touch \"$CR_STATE_DIR\"/orchestrate/*/task-a.prompt; for d in \"$CR_STATE_DIR\"/orchestrate/*; do touch \"$d/PAUSE\"; done");
    let ended = case.go(&[]);
    assert_eq!(ended.code, Some(75), "{}", ended.err);
    assert_eq!(case.done(), ["a"]);
    assert_eq!(case.resume(&[]).code, Some(75));
    std::fs::remove_file(case.run_dir().join("PAUSE")).expect("removed");
    assert_eq!(case.resume(&[]).code, Some(0));
    assert_eq!(case.done(), ["a", "b", "c"]);
}

#[test]
fn a_halted_run_starts_nothing_after_a_failure() {
    let case = three();
    case.script("a", 1, r#"error "no""#);
    assert_eq!(case.go(&["--retries", "0", "--halt"]).code, Some(1));
    assert_eq!((case.starts("a"), case.starts("b")), (1, 0));
}

#[test]
fn w7_a_task_that_is_done_must_not_become_another() {
    let case = three();
    assert_eq!(case.go(&["--until", "a"]).code, Some(0));
    case.plan(&[("a", "max_turns: 7"), ("b", "max_turns: 8"), ("new", "")]);
    let ended = case.resume(&["../plan.yaml"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.err.contains("`a`: changed since it was done"));
    let ended = case.resume(&["../plan.yaml", "--accept-changed"]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert_eq!(case.done(), ["a", "b", "new"]);
    assert!(case.seen("b", 1, "args").contains("--max-turns=8"));
}

#[test]
fn status_says_where_every_task_stands() {
    let case = three();
    case.script("b", 1, r#"error "no""#);
    case.go(&["--until", "b", "--retries", "0"]);
    let ended = case.run(&["status"]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let tasks = ended.out.lines().skip(1).take(3);
    let words: Vec<&str> = tasks.map(|line| &line[..9]).collect();
    assert_eq!(words, ["completed", "failed   ", "pending  "]);
    let id = case.run_id();
    let ended = case.run(&["status", &id[..20], "--json"]);
    assert!(
        ended.out.contains(r#""state":"completed""#),
        "{}",
        ended.out
    );
}

#[test]
fn w2_a_second_engine_on_a_run_leaves_it_alone() {
    let case = three();
    case.script("a", 1, "touch \"$CASE/here\"; cat \"$CASE/gate\"");
    let gate = Fifo::new(case.path("gate"));
    let first = case.command(&["../plan.yaml"]).spawn().expect("run");
    appears(&case.path("here"));
    let second = case.resume(&[]);
    assert_eq!(second.code, Some(75), "{}", second.err);
    drop(gate.writer());
    let ended = first.wait_with_output().expect("ended");
    assert_eq!(ended.status.code(), Some(0));
    assert_eq!(case.done(), ["a", "b", "c"]);
}

#[test]
fn the_example_of_a_sprint_runs_as_it_is() {
    let root = root().join("scripts");
    let case = Case::new();
    let sprint = |args: &[&str]| {
        let mut script = case.world.command(root.join("sprint-loop"));
        case.surround(&mut script);
        script.args(args).env("TASK", "step");
        let output = script.env("PATH", case.world.path_with_tools()).output();
        output.expect("run")
    };
    let plan = root.join("examples/sprint/SPRINT.yaml");
    let output = sprint(&[plan.to_str().expect("text")]);
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(report.starts_with("# Sprint "), "{report}");
    assert_eq!(report.matches("- step-").count(), 3, "{report}");
    let plan = root.join("examples/sprint/plan.yaml");
    let output = sprint(&["--dry-run", plan.to_str().expect("text")]);
    let schedule = String::from_utf8_lossy(&output.stdout);
    assert!(schedule.starts_with("3 steps in "), "{schedule}");
    assert_eq!(sprint(&[]).status.code(), Some(2));
}

#[test]
fn the_users_configuration_holds_unless_the_plan_says_otherwise() {
    let case = Case::new();
    std::fs::create_dir_all(case.path("config/claude-runner")).expect("made");
    let text = "model = \"opus\"\npermission_mode = \"plan\"\nmax_turns = 7\n\
                allowed_tools = [\"Read\"]\nidle_timeout = \"77s\"\n";
    case.write("config/claude-runner/config.toml", text);
    case.plan(&[
        ("a", ""),
        (
            "b",
            "model: haiku, permission_mode: dontAsk, allowed_tools: Edit",
        ),
    ]);
    let ended = case.go(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let (a, b) = (case.seen("a", 1, "args"), case.seen("b", 1, "args"));
    for word in [
        "--model=opus",
        "--permission-mode=plan",
        "--max-turns=7",
        "Read",
    ] {
        assert!(a.contains(word), "{word}: {a}");
    }
    for word in [
        "--model=haiku",
        "--permission-mode=dontAsk",
        "--max-turns=7",
        "Edit",
    ] {
        assert!(b.contains(word), "{word}: {b}");
    }
    assert!(!b.contains("Read"), "{b}");
    let start = case.of_run("attempts/a/1/stream.ndjson");
    assert!(start.contains(r#""idle_timeout_ms":77000"#), "{start}");
}

#[test]
fn the_report_names_what_a_task_waits_for() {
    let case = Case::new();
    case.plan(&[
        ("a", "verify: ['false'], retries: 0"),
        ("b", "depends_on: a"),
    ]);
    assert_eq!(case.go(&[]).code, Some(1));
    let report = case.of_run("report.md");
    let (_, b) = report.split_once("- b ").expect("an entry");
    assert!(b.contains("waits for a"), "{report}");
    assert!(
        !b.contains("next:"),
        "going on would not start it: {report}"
    );
}

#[test]
fn a_run_without_a_name_is_not_the_only_one() {
    let case = Case::new();
    case.plan(&[("a", "breakpoint: true")]);
    assert_eq!(case.go(&[]).code, Some(4));
    assert_eq!(case.run(&["--resume-run", ""]).code, Some(66));
    assert_eq!(case.starts("a"), 0);
}

#[test]
fn a_sprint_loop_speaks_as_sprint_loop() {
    let case = Case::new();
    let sprint = |args: &[&str]| {
        let mut script = case.world.command(root().join("scripts/sprint-loop"));
        case.surround(&mut script);
        script.args(args).env("PATH", case.world.path_with_tools());
        crate::case::Ended::from(script.output().expect("run"))
    };
    let speaks = |text: &str| {
        let is_other = text.contains("cr-orchestrate:") || text.contains("cr-orchestrate --");
        assert!(
            !is_other && !text.contains("Usage: cr-orchestrate"),
            "{text}"
        );
        assert!(text.contains("sprint-loop"), "{text}");
    };
    for args in [&["--help"][..], &["--version"], &["status", "--help"]] {
        let ended = sprint(args);
        assert_eq!(ended.code, Some(0), "{args:?} {ended:?}");
        speaks(&ended.out);
        let is_sprint = ended.out.contains("--sprint ") || ended.out.contains("each task");
        assert!(!is_sprint, "{}", ended.out);
        // Hidden in cr-orchestrate: the agents would share one work tree.
        assert!(!ended.out.contains("--max-agents"), "{}", ended.out);
    }
    for args in [&[][..], &["--no-such"], &["/no/such/plan.yaml"]] {
        let ended = sprint(args);
        assert!(matches!(ended.code, Some(2 | 66)), "{args:?} {ended:?}");
        speaks(&ended.err);
    }
    case.write("plan.yaml", "steps:\n- do it\n");
    let ended = sprint(&["../plan.yaml", "--until", "x"]);
    assert!(ended.err.contains("no step is called `x`"), "{ended:?}");
    case.script("step-1", 1, "exit 3");
    let mut failing = case.world.command(root().join("scripts/sprint-loop"));
    case.surround(&mut failing);
    failing.args(["../plan.yaml", "--retries", "0"]);
    failing.env("PATH", case.world.path_with_tools());
    failing.env("TASK", "step-1");
    let ended = crate::case::Ended::from(failing.output().expect("run"));
    assert_eq!(ended.code, Some(1), "{ended:?}");
    speaks(&ended.err);
    speaks(&ended.out);
    assert!(ended.out.contains("sprint-loop --resume-run "), "{ended:?}");
    let status = sprint(&["status"]);
    assert!(
        status
            .out
            .contains("to continue: sprint-loop --resume-run "),
        "{status:?}"
    );
}
