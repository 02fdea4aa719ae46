//! What goes wrong: files, other processes, a kill, a person who is late.

use std::fs;
use std::os::unix::fs::symlink;
use std::thread;
use std::time::Duration;

use cr_test::Terminal;
use serde_json::{Value, json};

use super::logs::{age, answer, with};
use crate::case::Case;

#[test]
fn a_log_that_cannot_be_read_is_named_and_the_rest_is_imported() {
    let case = Case::new();
    case.put("p/a.jsonl", &[answer("s", "a", 1)]);
    symlink("loop.jsonl", case.log_path("p/loop.jsonl")).expect("linked");
    case.put("p/z.jsonl", &[answer("z", "z", 2)]);
    let done = case.run(&["import", "--json"]);
    assert_eq!(done.code, Some(66), "{done:?}");
    assert!(done.err.contains("p/loop.jsonl: "), "{done:?}");
    assert_eq!(done.rows()[0]["failed"], 1);
    assert_eq!(case.counted(), (2, 3));
    // A compressed one that ends too early: what could be read counts.
    fs::remove_file(case.log_path("p/loop.jsonl")).expect("removed");
    let header = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0x4b];
    fs::write(case.log_path("p/cut.jsonl.gz"), header).expect("written");
    let done = case.run(&["import"]);
    assert_eq!(done.code, Some(65), "{done:?}");
    assert!(done.err.contains("p/cut.jsonl.gz: "), "{done:?}");
    assert_eq!(case.counted(), (2, 3));
}

#[test]
fn lines_that_are_no_objects_are_counted_and_left_out() {
    let case = Case::new();
    let path = case.put("p/s.jsonl", &[answer("s", "a", 1)]);
    let log = fs::read_to_string(&path).expect("read");
    fs::write(&path, format!("{{broken\n{log}")).expect("written");
    let done = case.ok(&["import"]);
    assert!(done.out.ends_with("; 1 bad line left out\n"), "{done:?}");
    assert_eq!(case.counted(), (1, 1));
}

/// Logs that take a while: forks and subagents among them.
fn many(case: &Case, sessions: usize, answers: usize) {
    for session in 0..sessions {
        let id = format!("s{session:03}");
        let line = |number: usize| {
            let at = format!(
                "2026-11-{:02}T03:{:02}:00.000Z",
                1 + session % 28,
                number % 60
            );
            let mut line = answer(&id, &format!("{id}-{number}"), 1 + number as u64 % 7);
            line["message"]["content"] = json!([{"type": "tool_use", "name": "Bash",
                "id": format!("call-{id}-{number}")}]);
            with(line, &json!({"timestamp": at}))
        };
        let mut lines: Vec<Value> = (0..answers).map(line).collect();
        let total = json!({"type": "cost-state", "sessionId": id, "totalCostUSD": 9.0,
            "modelUsage": {"claude-sonnet-5-5": {"inputTokens": 10_000, "costUSD": 9.0,
                "outputTokens": 10_000, "cacheReadInputTokens": 1_000_000}}});
        if session % 2 == 0 {
            lines.push(total);
        }
        case.put(&format!("p/{id}.jsonl"), &lines);
        if session % 5 == 0 {
            let copy = |line: &Value| {
                let from = json!({"sessionId": id});
                with(
                    line.clone(),
                    &json!({"sessionId": format!("fork-{id}"), "forkedFrom": from}),
                )
            };
            let copies: Vec<Value> = lines.iter().take(answers / 2).map(copy).collect();
            case.put(&format!("p/fork-{id}.jsonl"), &copies);
        }
    }
}

/// What the ledger has, as text.
fn everything(case: &Case) -> Vec<String> {
    case.exported().into_iter().map(|done| done.out).collect()
}

#[test]
fn two_imports_at_the_same_time_are_as_good_as_one() {
    let case = Case::new();
    many(&case, 20, 200);
    case.import();
    let expected = everything(&case);
    fs::remove_file(case.path("ledger.db")).expect("removed");
    let import = || thread::scope(|_| case.run(&["import"]));
    thread::scope(|scope| {
        let both = [scope.spawn(import), scope.spawn(import)];
        for done in both {
            let done = done.join().expect("ended");
            assert_eq!(done.code, Some(0), "{done:?}");
        }
    });
    assert_eq!(everything(&case), expected);
}

#[test]
fn l1_an_import_that_was_killed_anywhere_and_repeated_is_one_import() {
    let case = Case::new();
    many(&case, 40, 400);
    let begun = std::time::Instant::now();
    case.import();
    let whole = begun.elapsed();
    let expected = everything(&case);
    let rounds = u32::try_from(cr_test::repeats(6, 60)).expect("few");
    for round in 0..rounds {
        for name in ["ledger.db", "ledger.db-wal", "ledger.db-shm"] {
            let _ = fs::remove_file(case.path(name));
        }
        let mut child = case.command(&["import"]).spawn().expect("started");
        thread::sleep(whole * (round + 1) / (rounds + 1));
        child.kill().expect("killed");
        child.wait().expect("ended");
        // What is there agrees with itself.
        if case.path("ledger.db").exists() {
            let done = case.run(&["sql", SUMS_AGREE]);
            assert!(done.out.is_empty(), "{done:?}");
        }
        case.import();
        assert_eq!(everything(&case), expected, "round {round}");
    }
}

/// The sessions whose sums are not those of their messages.
const SUMS_AGREE: &str = "SELECT session_id FROM
    (SELECT session_id, sum(output_tokens) AS o FROM messages GROUP BY 1) AS m
    LEFT JOIN (SELECT session_id AS id, sum(output_tokens) AS o FROM usage
        WHERE source = 'message' GROUP BY 1) AS u ON u.id = m.session_id
    WHERE m.o IS NOT u.o";

#[test]
fn logs_that_the_agent_deletes_soon_and_that_are_new_are_named_with_the_remedy() {
    let case = Case::new();
    let old = case.put("p/old.jsonl", &[answer("s", "a", 1)]);
    case.put("p/new.jsonl", &[answer("n", "b", 1)]);
    age(&old, 28);
    let done = case.run(&["import", "--dry-run"]);
    assert!(
        done.err.contains("1 log would soon have been deleted"),
        "{done:?}"
    );
    let done = case.ok(&["import", "--json"]);
    assert_eq!(done.rows()[0]["about_to_be_deleted"], 1);
    for text in [
        "for 30 days",
        "cleanupPeriodDays",
        "scripts/install --timer",
        "cr-ledger import",
    ] {
        assert!(done.err.contains(text), "{text}: {done:?}");
    }
    // It is imported now.
    age(&old, 29);
    assert_eq!(case.ok(&["import"]).err, "");
    // Another period.
    let settings = case.world.home().join(".claude/settings.json");
    let later = case.put("p/later.jsonl", &[answer("l", "c", 1)]);
    age(&later, 20);
    assert_eq!(case.ok(&["import", "--dry-run"]).err, "");
    fs::write(&settings, r#"{"cleanupPeriodDays": 22}"#).expect("written");
    let done = case.ok(&["import"]);
    assert!(done.err.contains("for 22 days"), "{done:?}");
}

#[test]
fn logs_elsewhere_are_not_the_agents_to_delete() {
    let case = Case::new();
    let path = case
        .world
        .write("copies/s.jsonl", super::logs::text(&[answer("s", "a", 1)]));
    age(&path, 400);
    let done = case.ok(&["import", path.to_str().expect("text")]);
    assert_eq!(done.err, "");
}

#[test]
fn a_bar_is_shown_on_a_terminal() {
    let case = Case::new();
    many(&case, 20, 200);
    let mut command = case.command(&["import"]);
    command.env("TERM", "xterm");
    let (terminal, mut child) = Terminal::start(&command);
    let shown = terminal.finish();
    assert!(child.ends_within(Duration::from_secs(20)));
    assert!(shown.contains(" left"), "{shown:?}");
    assert!(shown.contains("new messages"), "{shown:?}");
}
