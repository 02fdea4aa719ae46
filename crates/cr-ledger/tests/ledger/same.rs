//! Recording, importing and merging the same thing again, in any order.

use std::path::Path;

use serde_json::json;

use crate::case::{Case, done};
use crate::logs::{Answer, START, import};
use crate::record::summary;

pub(crate) const VIEWS: [&str; 10] = [
    "usage",
    "messages",
    "sessions",
    "context",
    "runs",
    "turns",
    "tasks",
    "milestones",
    "quota",
    "tools",
];

/// All exports of the ledger `name`.
fn exports(case: &Case, name: &str) -> String {
    let mut all = String::new();
    for view in VIEWS {
        let mut command = case.command(&["export", view, "--ledger"]);
        command.arg(case.path(name));
        let done = done(command, "");
        assert_eq!(done.code, Some(0), "{done:?}");
        all += &format!("{view}\n{}", done.out);
    }
    all
}

/// `cr-ledger` on the ledger `name`, as the machine `machine`.
fn on(case: &Case, (name, machine): (&str, &str), args: &[&str], input: &str) {
    let mut command = case.command(args);
    command
        .env("CR_MACHINE", machine)
        .arg("--ledger")
        .arg(case.path(name));
    let done = done(command, input);
    assert_eq!(done.code, Some(0), "{args:?}: {done:?}");
}

/// Runs with tasks, turns, compactions, quota and more than one session.
fn stream() -> String {
    let mut first = summary("r1", "s1", 0.25);
    first["turns"] = json!([{"number": 1, "outcome": "success", "num_turns": 2, "tokens":
        {"input": 1, "output": 2, "cache_read": 3, "cache_creation": 4}, "cost_usd": 0.25}]);
    first["quota"] = json!({"five_hour": {"used": 0.5, "at": "2026-11-18T03:16:00Z"}});
    first["attempts"] = json!([{"session_id": "s0"}]);
    let mut second = summary("r2", "s2", 0.5);
    second["cost_source"] = json!("estimate");
    let mut timeless = summary("r3", "s3", 1.0);
    timeless["started_at"] = json!(null);
    timeless["ended_at"] = json!(null);
    timeless["last_uuid"] = json!("msg-3");
    format!("{first}\n{second}\n{timeless}\n")
}

/// The logs of two of these runs, and of a session that is no run.
fn logs() -> Vec<Answer> {
    let answer = Answer::default();
    vec![
        answer.clone(),
        Answer {
            id: "msg-2",
            at: START + 20_000,
            tokens: [0, 5, 0, 0],
            ..answer.clone()
        },
        Answer {
            id: "msg-3",
            session: "s3",
            failed: true,
            ..answer.clone()
        },
        Answer {
            id: "msg-4",
            session: "s4",
            model: "claude-opus-5-5",
            ..answer
        },
    ]
}

#[test]
fn l3_a_stream_recorded_twice_changes_no_byte_of_an_export() {
    let case = Case::new();
    let labels = ["record", "--task", "t1", "--milestone", "m1"];
    on(&case, ("a.db", "here"), &labels, &stream());
    let before = exports(&case, "a.db");
    on(&case, ("a.db", "here"), &["record"], &stream());
    on(&case, ("a.db", "here"), &labels, &stream());
    assert_eq!(exports(&case, "a.db"), before);
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Record,
    Import,
    Merge,
}

const ORDERS: [[Step; 3]; 6] = [
    [Step::Record, Step::Import, Step::Merge],
    [Step::Record, Step::Merge, Step::Import],
    [Step::Import, Step::Record, Step::Merge],
    [Step::Import, Step::Merge, Step::Record],
    [Step::Merge, Step::Record, Step::Import],
    [Step::Merge, Step::Import, Step::Record],
];

#[test]
fn l3_record_import_and_merge_of_the_same_runs_give_the_same_in_all_six_orders() {
    let case = Case::new();
    // The other machine has the summaries, and some of the logs.
    on(&case, ("other.db", "laptop"), &["record"], &stream());
    import(&case.path("other.db"), "laptop", &logs()[1..3]);
    let other = case.path("other.db").display().to_string();
    let mut expected = None;
    for (number, order) in ORDERS.into_iter().enumerate() {
        let name = format!("{number}.db");
        for step in order {
            match step {
                Step::Record => on(&case, (&name, "here"), &["record"], &stream()),
                Step::Import => import(&case.path(&name), "here", &logs()),
                Step::Merge => on(&case, (&name, "here"), &["merge", &other], ""),
            }
        }
        let exports = exports(&case, &name);
        let expected = expected.get_or_insert_with(|| exports.clone());
        assert_eq!(*expected, exports, "{order:?}");
    }
    // Each run once: the total of its result, not that of its messages as well.
    let sums = "SELECT session_id, sum(cost_usd) AS usd, sum(total_tokens) AS tokens FROM usage
        WHERE session_id <> 's4' GROUP BY 1";
    let mut command = case.command(&["sql", sums, "--ledger"]);
    command.arg(case.path("0.db"));
    assert_eq!(
        done(command, "").rows(),
        [
            json!({"session_id": "s1", "usd": 0.25, "tokens": 105}),
            json!({"session_id": "s2", "usd": 0.5, "tokens": 100}),
            json!({"session_id": "s3", "usd": 1.0, "tokens": 100}),
        ]
    );
}

#[test]
fn l3_two_ledgers_merged_twice_in_either_order_are_identical() {
    let case = Case::new();
    let (first, rest) = stream()
        .split_once('\n')
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .expect("lines");
    for (name, machine, input) in [("a.db", "here", &first), ("b.db", "laptop", &rest)] {
        on(&case, (name, machine), &["record"], &format!("{input}\n"));
    }
    import(&case.path("a.db"), "here", &logs()[..2]);
    import(&case.path("b.db"), "laptop", &logs()[1..]);
    let copy =
        |from: &str, to: &str| std::fs::copy(case.path(from), case.path(to)).expect("copied");
    let place = |name: &str| case.path(name).display().to_string();
    let mut all = Vec::new();
    for (name, one, other) in [("ab.db", "a.db", "b.db"), ("ba.db", "b.db", "a.db")] {
        copy(one, name);
        let before = std::fs::read(case.path(other)).expect("read");
        on(&case, (name, "server"), &["merge", &place(other)], "");
        let once = exports(&case, name);
        on(
            &case,
            (name, "server"),
            &["merge", &place(other), &place(one)],
            "",
        );
        assert_eq!(exports(&case, name), once, "{name}: merged twice");
        assert_eq!(
            std::fs::read(case.path(other)).expect("read"),
            before,
            "{other} changed"
        );
        all.push(once);
    }
    assert_eq!(all[0], all[1]);
    on(&case, ("ab.db", "here"), &["merge", &place("ab.db")], "");
    assert_eq!(exports(&case, "ab.db"), all[0], "merged with itself");
}

#[test]
fn a_ledger_with_changes_that_are_not_in_its_file_yet_is_merged_and_left_as_it_is() {
    let case = Case::new();
    on(&case, ("b.db", "laptop"), &["record"], &stream());
    let reader = rusqlite::Connection::open(case.path("b.db")).expect("opened");
    let count = || -> i64 {
        reader
            .query_row("SELECT count(*) FROM run", [], |row| row.get(0))
            .expect("read")
    };
    assert_eq!(count(), 3);
    // The reader keeps the changes of this in the file beside it.
    let more = summary("r9", "s9", 2.0);
    on(&case, ("b.db", "laptop"), &["record"], &format!("{more}\n"));
    let bytes = |name: &str| std::fs::read(case.path(name)).unwrap_or_default();
    let before = (bytes("b.db"), bytes("b.db-wal"));
    assert!(!before.1.is_empty(), "the reader does not keep the changes");
    on(
        &case,
        ("a.db", "here"),
        &["merge", &case.path("b.db").display().to_string()],
        "",
    );
    assert!(exports(&case, "a.db").contains("r9"));
    assert_eq!((bytes("b.db"), bytes("b.db-wal")), before);
    assert_eq!(count(), 4);
}

#[test]
fn merge_refuses_what_is_no_ledger_and_takes_nothing() {
    let case = Case::new();
    on(&case, ("a.db", "here"), &["record"], &stream());
    let before = exports(&case, "a.db");
    let text = case
        .world
        .write("text.db", "a text that is long enough to be a file");
    for (path, code) in [(text.as_path(), 78), (Path::new("/nowhere/x.db"), 66)] {
        let mut command = case.command(&["merge"]);
        command.arg(path).arg("--ledger").arg(case.path("a.db"));
        let done = done(command, "");
        assert_eq!(done.code, Some(code), "{done:?}");
        assert!(done.err.contains(&path.display().to_string()), "{done:?}");
    }
    assert_eq!(exports(&case, "a.db"), before);
}
