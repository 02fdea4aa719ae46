//! `next`: one decision, and why.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::case::{Case, Done};
use crate::record::summary;
use crate::session::{MODEL, PROJECT, call, ms};

/// A minute after the run of [`ran`].
const SOON: &str = "2026-11-18T03:17:00Z";
/// When each cache has expired.
const LATE: &str = "2026-11-18T09:00:00Z";

/// A run whose context had `used` of `window` tokens.
fn ran(used: u64, window: u64) -> Value {
    let mut run = summary("r1", "s1", 0.25);
    run["tokens"]["context_used"] = json!(used);
    run["tokens"]["context_window"] = json!(window);
    run["tokens"]["context_at"] = json!("2026-11-18T03:16:00.000Z");
    run["resume_command"] = json!("cd /home/dev/repo && claude-runner --resume s1");
    run
}

impl Case {
    /// The decision at `at`, which must end with `code`.
    fn next(&self, at: &str, args: &[&str], code: i32) -> Value {
        let done = self.next_done(at, args);
        assert_eq!(done.code, Some(code), "{done:?}");
        let decision = done.rows().remove(0);
        self.check_schema(&decision);
        decision
    }

    /// What is printed satisfies the schema, and the schema has no more fields.
    fn check_schema(&self, decision: &Value) {
        let printed = self.ok(&["next", "--output-schema"]).out;
        let schema: Value = serde_json::from_str(&printed).expect("JSON");
        let names = |value: &Value| {
            let fields = value.as_object().expect("an object");
            fields.keys().cloned().collect::<BTreeSet<_>>()
        };
        assert_eq!(names(decision), names(&schema["properties"]));
        let mut compiler = boon::Compiler::new();
        compiler.enable_format_assertions();
        compiler
            .add_resource("file:///next.json", schema)
            .expect("a schema");
        let mut schemas = boon::Schemas::new();
        let index = compiler
            .compile("file:///next.json", &mut schemas)
            .expect("a schema");
        if let Err(err) = schemas.validate(decision, index) {
            panic!("{err:#}: {decision}");
        }
    }

    fn next_done(&self, at: &str, args: &[&str]) -> Done {
        let whose = ["--session", "--project", "--milestone"];
        let is_named = args.iter().any(|arg| whose.contains(arg));
        let session: &[&str] = if is_named { &[] } else { &["--session", "s1"] };
        self.run(&[&["next", "--at", at], session, args].concat())
    }
}

#[test]
fn the_thresholds_decide_and_a_mark_that_is_reached_counts() {
    let cases = [
        (5000, 10_000, "resume", "ok"),
        (6999, 10_000, "resume", "ok"),
        (7000, 10_000, "resume", "warning"),
        (7999, 10_000, "resume", "warning"),
        (8000, 10_000, "refresh", "refresh"),
        (9500, 10_000, "refresh", "emergency"),
        (2000, 5000, "resume", "ok"),
        (3500, 5000, "resume", "warning"),
        (4100, 5000, "refresh", "refresh"),
    ];
    for (used, window, action, level) in cases {
        let case = Case::new();
        case.record(&ran(used, window));
        let next = case.next(SOON, &[], 0);
        assert_eq!(next["action"], action, "{next}");
        assert_eq!(next["level"], level, "{next}");
        assert_eq!(next["context"]["percent"], used * 100 / window, "{next}");
        assert_eq!(next["context"]["source"], "run");
        let command = match action {
            "resume" => "cd /home/dev/repo && claude-runner --resume s1",
            _ => "cr-ledger refresh --session s1",
        };
        assert_eq!(next["command"], command, "{next}");
        if level != "ok" {
            let why = next["why"].as_str().expect("a sentence");
            assert!(why.contains("at or above the"), "{why}");
        }
    }
}

#[test]
fn flags_change_the_thresholds_and_a_wrong_order_is_refused() {
    let case = Case::new();
    case.record(&ran(5000, 10_000));
    let next = case.next(SOON, &["--warn", "0.3", "--refresh", "0.5"], 0);
    assert_eq!(
        (&next["action"], &next["level"]),
        (&json!("refresh"), &json!("refresh"))
    );
    let wrong: [&[&str]; 6] = [
        &["--warn", "1.5"],
        &["--warn", "-0.1"],
        &["--warn", "NaN"],
        &["--refresh", "much"],
        &["--warn", "0.9"],
        &["--emergency", "0.8"],
    ];
    for args in wrong {
        let done = case.next_done(SOON, args);
        assert_eq!(done.code, Some(2), "{args:?}: {done:?}");
        assert_eq!(done.out, "");
    }
}

#[test]
fn thresholds_of_the_configuration_that_are_wrong_are_refused_with_78() {
    let case = Case::new();
    case.record(&ran(5000, 10_000));
    let file = case.path("config.toml");
    std::fs::write(&file, "context_warn = 0.9\n").expect("written");
    let mut command = case.command(&["next", "--session", "s1"]);
    command.env("CR_CONFIG", &file);
    let done = crate::case::done(command, "");
    assert_eq!(done.code, Some(78), "{done:?}");
    assert!(done.err.contains("context_warn"), "{done:?}");
}

#[test]
fn what_the_ledger_does_not_know_is_66_and_said() {
    let case = Case::new();
    case.record(&ran(5000, 10_000));
    let cases: [(&[&str], &str); 4] = [
        (
            &["--session", "other"],
            "session other: the ledger does not know it",
        ),
        (&["--session", ""], "the ledger does not know it"),
        (&["--project", "/nowhere"], "no session of this directory"),
        (
            &["--milestone", "m"],
            "milestone m: the ledger does not know it",
        ),
    ];
    for (args, text) in cases {
        let done = case.next_done(SOON, args);
        assert_eq!((done.code, done.out.as_str()), (Some(66), ""), "{done:?}");
        assert!(done.err.contains(text), "{done:?}");
    }
    for args in [
        &["next"][..],
        &["next", "--session", "s1", "--project", "/"],
    ] {
        assert_eq!(case.run(args).code, Some(2), "{args:?}");
    }
}

#[test]
fn a_window_that_nobody_knows_is_not_invented() {
    let case = Case::new();
    case.session("s1", &[call("2026-11-18T03:16:00Z", 990_000)]);
    let next = case.next(SOON, &[], 0);
    assert_eq!(
        (&next["action"], &next["level"]),
        (&json!("resume"), &Value::Null)
    );
    assert!(
        next["why"].as_str().expect("text").contains("not known"),
        "{next}"
    );
    assert_eq!(next["context"]["window"], Value::Null);
    let next = case.next(SOON, &["--context-window", "1000000"], 0);
    assert_eq!(
        (&next["action"], &next["level"]),
        (&json!("refresh"), &json!("emergency"))
    );
    assert_eq!(next["context"]["window_source"], "flag");
    // A run of another session with this model tells it.
    let mut other = ran(10, 2_000_000);
    (other["run_id"], other["session_id"]) = (json!("r0"), json!("s0"));
    case.record(&other);
    let next = case.next(SOON, &["--context-window", "1000000"], 0);
    assert_eq!(next["context"]["window"], 2_000_000);
    assert_eq!(next["context"]["window_source"], "model");
    assert_eq!(next["action"], "resume");
}

#[test]
fn the_newer_of_message_and_run_says_how_full_the_context_is() {
    for (at, used, source) in [
        ("2026-11-18T03:15:30Z", 5000, "run"),
        ("2026-11-18T03:16:30Z", 8500, "message"),
    ] {
        let case = Case::new();
        case.record(&ran(5000, 10_000));
        case.session("s1", &[call(at, 8500)]);
        let next = case.next(SOON, &[], 0);
        assert_eq!(next["context"]["used"], used, "{next}");
        assert_eq!(next["context"]["source"], source, "{next}");
    }
}

#[test]
fn a_subagents_context_is_not_that_of_the_session() {
    let case = Case::new();
    case.record(&ran(5000, 10_000));
    case.write(|writer| {
        writer.message(&cr_ledger_db::Message {
            message_id: "m1",
            session: "s1",
            agent: "a1",
            model: MODEL,
            at: ms(SOON),
            last_at: ms(SOON),
            cache_read: 9900,
            ..cr_ledger_db::Message::default()
        })?;
        Ok(())
    });
    assert_eq!(case.next(SOON, &[], 0)["context"]["used"], 5000);
}

#[test]
fn the_cache_is_warm_for_as_long_as_what_was_written_is_kept() {
    let cases = [
        (false, "2026-11-18T03:20:59Z", true),
        (false, "2026-11-18T03:21:00Z", false),
        (true, "2026-11-18T03:21:00Z", true),
        (true, "2026-11-18T04:15:59Z", true),
        (true, "2026-11-18T04:16:00Z", false),
    ];
    for (is_hour, at, is_warm) in cases {
        let case = Case::new();
        let last = call("2026-11-18T03:16:00Z", 100_000);
        let last = if is_hour { last.for_an_hour() } else { last };
        case.session("s1", &[call("2026-11-18T03:15:00Z", 20_000), last]);
        let next = case.next(at, &["--context-window", "200000"], 0);
        assert_eq!(next["cache"]["is_warm"], is_warm, "{at}: {next}");
        assert_eq!(next["cache"]["ttl"], if is_hour { "1h" } else { "5m" });
        // A hundred thousand tokens are dearer than a new session.
        let action = if is_warm { "resume" } else { "refresh" };
        assert_eq!(next["action"], action, "{at}: {next}");
        // Two calls, at two dollars for a million tokens of input and 0.1 for a read.
        let write = if is_hour { 4.0 } else { 2.5 };
        let resume = if is_warm { 2.0 * 0.1 } else { write + 0.1 } / 10.0;
        let refresh = (write + 0.1) * 22_048.0 / 1e6;
        for (price, dollars) in [("resume_usd", resume), ("refresh_usd", refresh)] {
            let got = next["price"][price].as_f64().expect("a price");
            assert!((got - dollars).abs() < 2e-6, "{price} {dollars}: {next}");
        }
        assert_eq!(next["price"]["refresh_tokens"], 22_048);
        assert_eq!(next["price"]["calls"], 2);
    }
}

#[test]
fn a_small_context_is_resumed_although_the_cache_has_expired() {
    let case = Case::new();
    let calls = [
        call("2026-11-18T03:15:00Z", 20_000),
        call("2026-11-18T03:16:00Z", 21_000),
    ];
    case.session("s1", &calls);
    let next = case.next(LATE, &["--context-window", "200000"], 0);
    assert_eq!(next["action"], "resume", "{next}");
    let why = next["why"].as_str().expect("text");
    assert!(why.contains("a resume is not dearer"), "{why}");
    assert!(why.contains("against"), "{why}");
    assert_eq!(
        next["command"],
        "cd /home/dev/repo && claude-runner --permission-mode= --resume s1"
    );
}

#[test]
fn what_a_new_session_would_read_in_again_counts_for_its_price() {
    let case = Case::new();
    // The first task reads 60,000 tokens, the later ones add 1,000 each.
    let calls = [
        call("2026-11-18T03:00:00Z", 20_000),
        call("2026-11-18T03:01:00Z", 80_000),
        call("2026-11-18T03:10:00Z", 80_000),
        call("2026-11-18T03:11:00Z", 81_000),
        call("2026-11-18T03:20:00Z", 81_000),
        call("2026-11-18T03:21:00Z", 82_000),
    ];
    case.session("s1", &calls);
    case.prompts(
        "s1",
        &[
            "2026-11-18T02:59:59Z",
            "2026-11-18T03:09:59Z",
            "2026-11-18T03:19:59Z",
        ],
    );
    let next = case.next(LATE, &["--context-window", "200000"], 0);
    assert_eq!(next["price"]["refresh_tokens"], 20_000 + 2048 + 59_000);
    assert_eq!(next["price"]["calls"], 2);
    assert_eq!(next["price"]["calls_source"], "session");
    assert_eq!(next["action"], "refresh", "{next}");
}

#[test]
fn what_a_session_does_not_say_is_taken_from_the_project_or_said_to_be_a_guess() {
    let case = Case::new();
    // A run without a log: neither its first call nor its number of calls is known.
    let mut run = ran(50_000, 200_000);
    run["num_turns"] = Value::Null;
    run["tokens"]["cache_ttl"] = json!("1h");
    case.record(&run);
    let next = case.next(SOON, &[], 0);
    assert_eq!(next["cache"]["ttl"], "1h");
    assert_eq!(next["price"]["calls"], 10);
    assert_eq!(next["price"]["calls_source"], "default");
    assert_eq!(next["price"]["refresh_tokens"], Value::Null);
    assert_eq!(case.next(LATE, &[], 0)["action"], "resume");
    // Another session of the project tells them: it read in 49,000 tokens.
    let calls = [
        call("2026-11-18T02:00:00Z", 20_000),
        call("2026-11-18T02:01:00Z", 60_000),
        call("2026-11-18T02:02:00Z", 70_000),
        call("2026-11-18T02:10:00Z", 70_000),
        call("2026-11-18T02:11:00Z", 70_000),
        call("2026-11-18T02:12:00Z", 71_000),
    ];
    case.session("s0", &calls);
    case.prompts("s0", &["2026-11-18T01:59:59Z", "2026-11-18T02:09:59Z"]);
    let next = case.next(LATE, &[], 0);
    assert_eq!(next["price"]["calls"], 3, "{next}");
    assert_eq!(next["price"]["calls_source"], "project");
    assert_eq!(next["price"]["refresh_tokens"], 20_000 + 2048 + 49_000);
    assert_eq!(next["action"], "resume", "{next}");
}

#[test]
fn without_a_price_only_the_thresholds_count() {
    let case = Case::new();
    let calls = [
        call("2026-11-18T03:15:00Z", 20_000),
        call("2026-11-18T03:16:00Z", 150_000),
    ];
    case.session_of("s1", "gpt-5", &calls);
    for (window, action) in [("200000", "resume"), ("180000", "refresh")] {
        let next = case.next(LATE, &["--context-window", window], 0);
        assert_eq!(next["action"], action, "{next}");
        assert_eq!(next["price"]["resume_usd"], Value::Null);
        assert_eq!(next["price"]["refresh_usd"], Value::Null);
    }
}

#[test]
fn a_run_that_follows_at_once_does_not_take_the_calls_of_the_one_before() {
    let case = Case::new();
    let calls = [
        call("2026-11-18T03:15:00Z", 20_000),
        call("2026-11-18T03:15:01Z", 150_000),
    ];
    case.session("s1", &calls);
    for (run, from, to) in [
        ("r1", "14:59.500", "15:00.100"),
        ("r2", "15:00.200", "15:01.100"),
    ] {
        let mut ran = summary(run, "s1", 0.5);
        ran["started_at"] = json!(format!("2026-11-18T03:{from}Z"));
        ran["ended_at"] = json!(format!("2026-11-18T03:{to}Z"));
        case.record(&ran);
    }
    let next = case.next(LATE, &["--context-window", "200000"], 0);
    assert_eq!(next["price"]["calls"], 1, "{next}");
    assert_eq!(next["price"]["refresh_tokens"], 22_048, "{next}");
}

#[test]
fn after_a_compaction_of_the_agents_own_the_context_is_what_it_left() {
    let case = Case::new();
    let calls = [
        call("2026-11-18T03:15:00Z", 20_000),
        call("2026-11-18T03:16:00Z", 150_000),
    ];
    case.session("s1", &calls);
    case.compaction("s1", "2026-11-18T03:16:30Z", (150_000, 30_000));
    for at in [SOON, LATE] {
        let next = case.next(at, &["--context-window", "200000"], 0);
        assert_eq!(next["action"], "resume", "{next}");
        assert_eq!(next["context"]["used"], 30_000);
        assert_eq!(next["context"]["source"], "compaction");
        assert_eq!(next["cache"]["is_warm"], false);
        let compaction = &next["compaction"];
        assert_eq!(compaction["trigger"], "auto");
        assert_eq!(compaction["post_tokens"], 30_000);
        assert_eq!(compaction["is_before_refresh"], true);
        let why = next["why"].as_str().expect("text");
        assert!(
            why.contains("compacts it by itself at 150000 tokens"),
            "{why}"
        );
    }
    // A decision before it does not know of it.
    let next = case.next("2026-11-18T03:16:10Z", &["--context-window", "200000"], 0);
    assert_eq!(next["compaction"], Value::Null);
    assert_eq!(next["context"]["used"], 150_000);
    // A message after it counts more.
    case.session("s1", &[call("2026-11-18T03:17:00Z", 170_000)]);
    let next = case.next("2026-11-18T03:18:00Z", &["--context-window", "200000"], 0);
    assert_eq!(
        (&next["action"], &next["context"]["used"]),
        (&json!("refresh"), &json!(170_000))
    );
}

#[test]
fn a_session_whose_context_was_exhausted_is_refreshed() {
    let case = Case::new();
    let mut run = ran(100, 10_000);
    (run["outcome"], run["code"]) = (json!("context_exhausted"), json!(76));
    case.record(&run);
    let next = case.next(SOON, &[], 0);
    assert_eq!(
        (&next["action"], &next["level"]),
        (&json!("refresh"), &json!("emergency"))
    );
}

#[test]
fn a_limited_account_waits_until_its_time_and_not_longer() {
    let cases = [
        ("rate_limited", true),
        ("overloaded", true),
        ("failed", false),
    ];
    for (outcome, waits) in cases {
        let case = Case::new();
        case.record(&ran(5000, 10_000));
        let mut last = summary("r2", "s2", 0.1);
        (last["outcome"], last["code"]) = (json!(outcome), json!(75));
        last["ended_at"] = json!("2026-11-18T03:16:30.000Z");
        last["retry"] = json!({"retryable": true, "action": "wait", "at": "2026-11-18T05:00:00Z"});
        case.record(&last);
        let next = case.next(SOON, &[], if waits { 75 } else { 0 });
        assert_eq!(
            next["action"],
            if waits { "wait" } else { "resume" },
            "{next}"
        );
        if waits {
            assert_eq!(next["until"], "2026-11-18T05:00:00Z");
            assert_eq!(next["command"], Value::Null);
        }
        let later = case.next("2026-11-18T05:00:00Z", &[], 0);
        assert_eq!(later["until"], Value::Null);
    }
}

#[test]
fn a_full_window_of_the_account_waits_for_its_reset() {
    let window = |used: Value, status: Value| {
        json!({"used": used, "status": status, "resets_at": "2026-11-18T08:00:00Z",
            "at": "2026-11-18T03:16:00Z"})
    };
    let cases = [
        ("five_hour", window(json!(0.4), json!("rejected")), 75),
        ("five_hour", window(json!(1.0), Value::Null), 75),
        ("seven_day", window(Value::Null, json!("rejected")), 75),
        (
            "five_hour",
            window(json!(0.99), json!("allowed_warning")),
            0,
        ),
        // The account pays for what is beyond.
        ("five_hour", window(json!(1.2), json!("allowed")), 0),
        // A window of other models.
        ("seven_day_opus", window(json!(1.0), json!("rejected")), 0),
        (
            "seven_day_sonnet",
            window(json!(1.0), json!("rejected")),
            75,
        ),
    ];
    for (name, window, code) in cases {
        let case = Case::new();
        let mut run = ran(5000, 10_000);
        run["quota"] = json!({name: window});
        case.record(&run);
        let next = case.next(SOON, &[], code);
        if code == 75 {
            assert_eq!(next["action"], "wait", "{next}");
            assert_eq!(next["until"], "2026-11-18T08:00:00Z", "{next}");
        }
        assert_eq!(next["quota"][0]["name"], name);
        case.next("2026-11-18T08:00:00Z", &[], 0);
    }
}

#[test]
fn an_account_that_needs_a_person_stops_everything_until_a_run_succeeds() {
    for outcome in ["auth", "billing"] {
        let case = Case::new();
        case.record(&ran(5000, 10_000));
        let mut last = summary("r2", "s2", 0.0);
        (last["outcome"], last["code"]) = (json!(outcome), json!(77));
        last["ended_at"] = json!("2026-11-18T03:16:30.000Z");
        case.record(&last);
        let next = case.next(SOON, &[], 77);
        assert_eq!(next["action"], "stop");
        assert!(
            next["why"].as_str().expect("text").contains(outcome),
            "{next}"
        );
        let mut good = summary("r3", "s2", 0.0);
        good["ended_at"] = json!("2026-11-18T03:16:50.000Z");
        case.record(&good);
        assert_eq!(case.next(SOON, &[], 0)["action"], "resume");
    }
}

#[test]
fn the_latest_session_of_a_directory_and_below_is_found() {
    let case = Case::new();
    case.record(&ran(5000, 10_000));
    let mut below = ran(6000, 10_000);
    (below["run_id"], below["session_id"]) = (json!("r2"), json!("s2"));
    below["cwd"] = json!("/home/dev/repo/part");
    below["ended_at"] = json!("2026-11-18T03:16:40.000Z");
    case.record(&below);
    let mut beside = below.clone();
    (beside["run_id"], beside["session_id"]) = (json!("r3"), json!("s3"));
    beside["cwd"] = json!("/home/dev/repository");
    beside["ended_at"] = json!("2026-11-18T03:16:50.000Z");
    case.record(&beside);
    let next = case.next(SOON, &["--project", PROJECT], 0);
    assert_eq!(next["session_id"], "s2");
}

#[test]
fn a_milestone_means_its_active_session() {
    let case = Case::new();
    case.record(&ran(8500, 10_000));
    case.milestone("m1", "login", "old", "refreshed");
    let done = case.next_done(SOON, &["--milestone", "login"]);
    assert_eq!(done.code, Some(66), "{done:?}");
    assert!(done.err.contains("it has no active session"), "{done:?}");
    case.milestone("m1", "login", "s1", "active");
    for name in ["login", "m1"] {
        let next = case.next(SOON, &["--milestone", name], 0);
        assert_eq!(
            (&next["session_id"], &next["action"]),
            (&json!("s1"), &json!("refresh"))
        );
    }
}

impl Case {
    /// A session of a milestone.
    pub(crate) fn milestone(&self, id: &str, name: &str, session: &str, status: &str) {
        self.write(|writer| {
            let session = writer.text(session)?;
            let at = ms("2026-11-18T03:00:00Z");
            let db = writer.db();
            db.execute(
                "INSERT OR IGNORE INTO milestone VALUES (?1, ?2, 0, 0, 'active', ?3, NULL, '',
                    '', '', ?3)",
                cr_ledger_db::rusqlite::params![id, name, at],
            )?;
            db.execute(
                "INSERT INTO milestone_session VALUES (?1, ?2, ?3, ?4, '', ?3)",
                cr_ledger_db::rusqlite::params![id, session, at, status],
            )?;
            Ok(())
        });
    }
}
