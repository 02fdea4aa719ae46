//! `forget`: what is deleted, what is said, and what is left.

use serde_json::json;

use crate::case::Case;
use crate::logs::{Answer, START, import};
use crate::record::summary;
use crate::same::VIEWS;

const DAY: i64 = 86_400_000;

/// Two projects over two days; the session s2 has a part on each day.
fn case() -> Case {
    let case = Case::new();
    case.record(&summary("r1", "s1", 0.25));
    let mut other = summary("r2", "s4", 0.5);
    other["cwd"] = json!("/home/dev/other-secret/sub");
    other["started_at"] = json!("2026-11-19T03:15:00.000Z");
    other["ended_at"] = json!("2026-11-19T03:16:00.000Z");
    case.record(&other);
    let secret = Answer {
        session: "s2",
        project: "/home/dev/other-secret",
        tool: "mcp__secret__tool",
        ..Answer::default()
    };
    let answers = [
        Answer::default(),
        Answer {
            id: "msg-2",
            ..secret.clone()
        },
        Answer {
            id: "msg-3",
            at: START + DAY,
            ..secret.clone()
        },
        Answer {
            id: "msg-4",
            session: "s3",
            ..secret
        },
    ];
    import(&case.path("ledger.db"), "here", &answers);
    case
}

fn exports(case: &Case) -> String {
    let all = VIEWS.map(|view| case.ok(&["export", view]).out);
    all.concat()
}

fn sums(case: &Case) -> Vec<serde_json::Value> {
    case.sql("SELECT session_id, sum(total_tokens) AS tokens FROM usage GROUP BY 1 ORDER BY 1")
}

#[test]
fn a_dry_run_says_what_would_be_deleted_and_deletes_nothing() {
    let case = case();
    let before = exports(&case);
    let bytes = std::fs::read(case.path("ledger.db")).expect("read");
    let dry = case.ok(&["forget", "--project", "/home/dev/other-secret", "--dry-run"]);
    assert_eq!(
        dry.out,
        "would delete 3 messages, 3 tool calls, 1 run, 3 sessions, 0 milestones\n"
    );
    assert_eq!(exports(&case), before);
    assert_eq!(std::fs::read(case.path("ledger.db")).expect("read"), bytes);
    let real = case.ok(&["forget", "--project", "/home/dev/other-secret"]);
    assert_eq!(real.out, dry.out.replace("would delete", "deleted"));
    let again = case.ok(&["forget", "--project", "/home/dev/other-secret"]);
    assert_eq!(
        again.out,
        "deleted 0 messages, 0 tool calls, 0 runs, 0 sessions, 0 milestones\n"
    );
}

#[test]
fn nothing_of_a_project_is_left_in_the_file() {
    let case = case();
    let has_secret = || {
        let files = ["ledger.db", "ledger.db-wal"]
            .map(|name| std::fs::read(case.path(name)).unwrap_or_default());
        let has = |bytes: &Vec<u8>| bytes.windows(6).any(|word| word == b"secret");
        files.iter().any(has)
    };
    // Rows that grow leave copies of themselves in unused parts of pages.
    let runs = (0..60).map(|number| {
        let mut run = summary(&format!("run-{number}"), &format!("session-{number}"), 0.5);
        run["cwd"] = json!("/home/dev/other-secret/sub");
        format!("{run}\n")
    });
    let runs: String = runs.collect();
    for task in ["", "plan/a-task-with-a-name-that-is-long"] {
        let done = case.feed(&["record", "--task", task], &runs);
        assert_eq!(done.code, Some(0), "{done:?}");
    }
    assert!(has_secret());
    case.ok(&["forget", "--project", "/home/dev/other-secret"]);
    assert!(!has_secret());
    assert_eq!(sums(&case), [json!({"session_id": "s1", "tokens": 100})]);
    // It still works.
    case.record(&summary("r9", "s9", 0.5));
    assert_eq!(sums(&case).len(), 2);
}

#[test]
fn a_session_that_loses_a_part_keeps_the_rest_of_its_sums() {
    let case = case();
    let done = case.ok(&["forget", "--before", "2026-11-19"]);
    assert_eq!(
        done.out,
        "deleted 3 messages, 3 tool calls, 1 run, 2 sessions, 0 milestones\n"
    );
    assert_eq!(
        sums(&case),
        [
            json!({"session_id": "s2", "tokens": 100}),
            json!({"session_id": "s4", "tokens": 100})
        ]
    );
    let sessions = case.sql("SELECT session_id, started_at FROM sessions ORDER BY 1");
    assert_eq!(
        sessions[0],
        json!({"session_id": "s2", "started_at": "2026-11-19T00:00:00.000Z"})
    );
    // Both conditions must hold.
    let done = case.ok(&[
        "forget",
        "--before",
        "2026-11-20",
        "--project",
        "/home/dev/repo",
    ]);
    assert!(done.out.starts_with("deleted 0 messages"), "{done:?}");
    let done = case.ok(&[
        "forget",
        "--before",
        "2026-11-20",
        "--project",
        "/home/dev/other-secret/sub",
    ]);
    assert!(
        done.out
            .starts_with("deleted 0 messages, 0 tool calls, 1 run, 1 session"),
        "{done:?}"
    );
}

#[test]
fn the_total_of_a_session_does_not_bring_back_what_was_forgotten() {
    let case = case();
    let record = |until: i64| {
        let ledger =
            cr_ledger_db::Ledger::open(&case.path("ledger.db"), cr_ledger_db::Access::Write);
        let total = cr_ledger_db::ModelTotal {
            model: "claude-sonnet-5-5",
            input: 500,
            output: 500,
            cache_read: 500,
            cache_creation: 500,
            cost_usd: 9.0,
        };
        ledger
            .expect("opened")
            .write(|writer| Ok(writer.session_total("s2", until, &[total])?))
            .expect("recorded");
    };
    record(START + DAY);
    assert_eq!(sums(&case)[1], json!({"session_id": "s2", "tokens": 2000}));
    case.ok(&["forget", "--before", "2026-11-19"]);
    assert_eq!(sums(&case)[0], json!({"session_id": "s2", "tokens": 100}));
    // The session goes on, and its log has a new total.
    record(START + DAY + 1000);
    assert_eq!(sums(&case)[0], json!({"session_id": "s2", "tokens": 100}));
}

#[test]
fn sessions_of_other_projects_and_runs_without_a_session_stay() {
    let case = case();
    // A session of which only the beginning is known, and a run without a session.
    let ledger = cr_ledger_db::Ledger::open(&case.path("ledger.db"), cr_ledger_db::Access::Write);
    let head = cr_ledger_db::SessionHead {
        session: "begun",
        project: "/home/dev/third",
        first_at: Some(START),
        ..cr_ledger_db::SessionHead::default()
    };
    ledger
        .expect("opened")
        .write(|writer| Ok(writer.session(&head)?))
        .expect("recorded");
    let mut alone = summary("r8", "x", 1.5);
    alone["session_id"] = json!(null);
    case.record(&alone);
    case.ok(&["forget", "--project", "/home/dev/other-secret"]);
    let sessions = case.sql("SELECT session_id FROM sessions ORDER BY 1");
    assert_eq!(
        sessions,
        [json!({"session_id": "begun"}), json!({"session_id": "s1"})]
    );
    assert_eq!(
        case.sql("SELECT sum(cost_usd) AS usd FROM usage"),
        [json!({"usd": 1.75})]
    );
    case.ok(&["forget", "--before", "2026-11-20"]);
    assert_eq!(
        case.sql("SELECT * FROM sessions"),
        [] as [serde_json::Value; 0]
    );
    assert_eq!(
        case.sql("SELECT * FROM usage"),
        [] as [serde_json::Value; 0]
    );
}

#[test]
fn a_milestone_of_the_project_goes_with_its_handoff() {
    let case = case();
    let db = rusqlite::Connection::open(case.path("ledger.db")).expect("opened");
    db.execute_batch(
        "INSERT INTO milestone SELECT 'm1', 'name', id, 0, 'active', 1, NULL, '', 'words', '', 5
            FROM text_value WHERE value = '/home/dev/other-secret';
        INSERT INTO milestone SELECT 'm2', 'name', id, 0, 'active', 1, NULL, '', 'words', '', 5
            FROM text_value WHERE value = '/home/dev/repo';
        INSERT INTO milestone_session SELECT 'm1', id, 1, 'active', 'words', 5
            FROM text_value WHERE value = 's2';",
    )
    .expect("made");
    drop(db);
    let done = case.ok(&["forget", "--project", "/home/dev/other-secret"]);
    assert!(done.out.ends_with("3 sessions, 1 milestone\n"), "{done:?}");
    let left = case.sql("SELECT milestone_id FROM milestones");
    assert_eq!(left, [json!({"milestone_id": "m2"})]);
    assert_eq!(
        case.sql("SELECT * FROM milestone_session"),
        [] as [serde_json::Value; 0]
    );
}

#[test]
fn forget_needs_to_know_what_and_a_ledger() {
    let case = Case::new();
    assert_eq!(case.run(&["forget"]).code, Some(2));
    assert_eq!(case.run(&["forget", "--before", "soon"]).code, Some(2));
    let dry = case.run(&["forget", "--before", "2026-11-19", "--dry-run"]);
    assert_eq!(dry.code, Some(66), "{dry:?}");
    assert!(!case.path("ledger.db").exists());
}
