//! What a run prints, and the reports that it leaves.

use cr_test::{Fifo, Terminal};
use serde_json::{Value, json};

use crate::case::Case;

/// What an agent says that must act on nobody: a terminal, Markdown, XML.
const HOSTILE: &str = r#"\u001b[2J\n# Heading\n<script>alert(1)</script> & ]]> \"'`[x](http://y)\u0007 \u202e \uffff"#;

/// One done, one failed, one that waits for it, one that asks.
fn mixed() -> Case {
    let case = Case::new();
    case.plan(&[
        ("good", ""),
        ("bad", "retries: 0, title: '<b>*x*'"),
        ("after", "depends_on: bad"),
        ("asks", "retries: 0"),
        ("later", "wave: 1"),
    ]);
    let bad = format!(
        r#"result '"subtype":"error_during_execution","is_error":true,"errors":["{}"]' 1"#,
        HOSTILE.replace('\'', "")
    );
    case.script("bad", 1, &bad);
    let asks = r#"result '"subtype":"success","is_error":false,"result":"```json\n{\"status\":\"needs-human\",\"summary\":\"s\",\"humanNeeded\":\"which <port>?\"}\n```"' 0"#;
    case.script("asks", 1, asks);
    case
}

#[test]
fn without_json_a_run_ends_with_a_table() {
    let case = mixed();
    let ended = case.run(&["../plan.yaml", "--sprint"]);
    assert_eq!(ended.code, Some(4), "{}", ended.err);
    let lines: Vec<&str> = ended.out.lines().collect();
    assert_eq!(lines.len(), 7, "{}", ended.out);
    assert!(lines[0].starts_with("task   state "), "{}", ended.out);
    for (line, words) in lines[1..].iter().zip([
        &["good", "completed", "$0.01"][..],
        &["bad", "failed", "$0.01"],
        &["after", "pending", "waits for bad"],
        &["asks", "needs-human", "which <port>?"],
        &["later", "pending", "waits for"],
        &[
            "all",
            "$0.03",
            "1 done, 1 failed, 1 need a person, 2 not started",
        ],
    ]) {
        for word in words {
            assert!(line.contains(word), "{word}: {line}");
        }
    }
    assert!(!ended.out.contains('\x1b') && !ended.err.contains('\x1b'));
    let ended = case.resume(&["--quiet"]);
    assert!(ended.err.is_empty(), "{}", ended.err);
    let id = case.run_id();
    let ended = case.run(&["--resume-run", &id, "--quiet"]);
    assert_eq!((ended.out.as_str(), ended.err.as_str()), ("", ""));
}

#[test]
fn a_full_disk_at_standard_output_is_74_and_the_work_is_done() {
    for json in [&[][..], &["--json"]] {
        let case = Case::new();
        case.plan(&[("a", ""), ("b", "")]);
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
        let mut command = case.command(&["../plan.yaml"]);
        let output = command.args(json).stdout(full.expect("opened")).output();
        let output = output.expect("run");
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(74), "{json:?}: {err}");
        assert!(err.contains("No space left"), "{json:?}: {err}");
        assert!(case.of_run("report.json").contains("completed"), "{json:?}");
        assert_eq!((case.starts("a"), case.starts("b")), (1, 1), "{json:?}");
    }
}

#[test]
fn waves_are_told_when_they_begin_and_when_they_are_over() {
    let case = Case::new();
    case.plan(&[
        ("a", ""),
        ("b", ""),
        ("c", "wave: 1, verify: 'false', retries: 0"),
        ("d", "wave: 1, depends_on: c"),
        ("e", "wave: 2"),
    ]);
    let ended = case.go(&[]);
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    let lines = ended.out.lines().map(|line| {
        let value: Value = serde_json::from_str(line).expect("JSON");
        value
    });
    let waves: Vec<Value> = lines
        .filter(|line| line["subtype"] == "wave")
        .map(|line| json!([line["n"], line["state"], line["counts"], line["spent"]]))
        .collect();
    let expected = [
        json!([0, "running", {"running": 1, "pending": 1}, null]),
        json!([0, "completed", {"completed": 2}, 0.02]),
        json!([1, "running", {"running": 1, "pending": 1}, null]),
        json!([1, "incomplete", {"failed": 1, "pending": 1}, 0.01]),
    ];
    assert_eq!(waves, expected);
    // Nothing of it is said twice.
    assert!(!case.resume(&[]).out.contains(r#""subtype":"wave""#));
    let log = case.of_run("session.log");
    assert_eq!(log.matches(r#""subtype":"wave""#).count(), 4, "{log}");
}

#[test]
fn the_report_is_there_for_people_programs_and_ci() {
    let case = mixed();
    let ended = case.go(&["--sprint"]);
    assert_eq!(ended.code, Some(4), "{}", ended.err);
    let report: Value = serde_json::from_str(&case.of_run("report.json")).expect("JSON");
    assert_eq!(report["run_id"], case.run_id());
    assert_eq!(
        (&report["exit_code"], &report["state"]),
        (&json!(4), &json!("ended"))
    );
    assert_eq!(report["cost_usd"], 0.03);
    let tasks = report["tasks"].as_array().expect("tasks").iter();
    let states: Vec<Value> = tasks
        .map(|task| {
            json!([
                task["id"],
                task["state"],
                task["attempts"],
                task["waits_for"]
            ])
        })
        .collect();
    let expected = [
        json!(["good", "completed", 1, null]),
        json!(["bad", "failed", 1, null]),
        json!(["after", "pending", 0, "bad"]),
        json!(["asks", "needs-human", 1, null]),
        json!(["later", "pending", 0, "bad"]),
    ];
    assert_eq!(states, expected);
    assert_eq!(report["tasks"][3]["question"], "which <port>?");
    let next = report["next"].as_str().expect("a command");
    assert!(next.contains("--resume-run"), "{next}");

    let xml = case.of_run("report.xml");
    let head = r#"tests="5" failures="1" errors="1" skipped="2""#;
    assert_eq!(xml.matches(head).count(), 2, "{xml}");
    for part in [
        r#"<testcase name="good" classname="wave 0""#,
        r#"<skipped message="waits for bad"/>"#,
        r#"type="needs_input">which &lt;port&gt;?</error>"#,
        "&lt;script&gt;",
    ] {
        assert!(xml.contains(part), "{part}: {xml}");
    }
    assert!(!xml.contains("<script"), "{xml}");
    let is_xml = |c: char| matches!(c, '\n' | ' '..='\u{fffd}' | '\u{10000}'..);
    assert!(xml.chars().all(is_xml), "{xml:?}");

    let markdown = case.of_run("report.md");
    assert!(markdown.contains(r"bad: &lt;b&gt;\*x\*"), "{markdown}");
    assert!(!markdown.contains("<script"), "{markdown}");
    assert!(!markdown.contains('\x1b'), "{markdown:?}");
    assert!(!markdown.contains("\n# Heading"), "{markdown}");
}

#[test]
fn a_terminal_shows_what_each_agent_does() {
    let case = Case::new();
    case.plan(&[("a", ""), ("b", "")]);
    let gate = Fifo::new(case.path("gate"));
    let call = r#"{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"make \u001b[2J tests"}}]}}"#;
    case.script("a", 1, &format!("echo '{call}'\ncat \"$CASE/gate\""));
    let mut command = case.command(&["../plan.yaml"]);
    command.env("TERM", "xterm");
    let (mut terminal, mut child) = Terminal::start(&command);
    let shown = terminal.wait_for("Bash: make");
    assert!(shown.contains("0 of 2 done"), "{shown:?}");
    assert!(!shown.contains("\x1b[2J"), "{shown:?}");
    drop(gate.writer());
    let shown = terminal.finish();
    assert_eq!(child.wait().expect("ended").code(), Some(0), "{shown}");
    assert!(shown.contains("1 of 2 done"), "{shown:?}");
    assert!(
        shown.contains("b: attempt 1: completed (success)"),
        "{shown}"
    );
    let end = shown.rsplit("report: ").next().expect("the end");
    assert!(end.contains("2 done, 0 failed"), "{end:?}");
}

#[test]
fn the_first_code_that_applies_is_the_code_of_the_run() {
    let asks = r#"result '"subtype":"success","is_error":false,"result":"```json\n{\"status\":\"needs-human\"}\n```"' 0"#;
    let fails = r#"result '"subtype":"error_during_execution","is_error":true' 1"#;
    let auth = r#"error "Invalid API key · Please run /login" ',"api_error_status":401'"#;
    let limited = r#"echo '{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":4000000000}}'
error "limit reached" ',"api_error_status":429'"#;
    // (what the agents do one after the other, the options, the code)
    let later = &["--max-wait", "1h"][..];
    let poor = &["--budget", "0.25"][..];
    for (scripts, options, code) in [
        (&[fails, asks, auth][..], &[][..], 77),
        (&[fails, asks, limited], later, 4),
        (&[fails, limited], later, 75),
        (&[fails, "good"], poor, 3),
        (&[asks, "good"], poor, 4),
        (&[fails, "good"], &[], 1),
    ] {
        let case = Case::new();
        let ids = ["a", "b", "c"];
        case.plan(&ids.map(|id| (id, "retries: 0, budget_usd: 0.24")));
        for (id, script) in ids.iter().zip(scripts) {
            case.script(id, 1, script);
        }
        let mut args = vec!["--sprint"];
        args.extend(options);
        let ended = case.go(&args);
        assert_eq!(ended.code, Some(code), "{scripts:?}: {}", ended.err);
    }
}
