//! Ledgers of older versions: each is kept for ever, and its sums stay the same.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use cr_test::fixture;
use serde_json::{Value, json};

use crate::case::Case;

/// The versions that there are files of; `crates/cr-ledger-db/examples/make_fixture.rs`
/// wrote the latest one.
const VERSIONS: [i32; 1] = [1];

/// A case whose ledger is that of an old version.
fn old(version: i32) -> Case {
    let case = Case::new();
    let path = case.path("ledger.db");
    fs::copy(fixture(&format!("ledger/v{version}.db")), &path).expect("copied");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("set");
    case
}

#[test]
fn l5_the_ledger_of_each_version_is_read_and_has_its_sums() {
    assert_eq!(
        *VERSIONS.last().expect("one"),
        cr_ledger_db::SCHEMA,
        "no file of this version"
    );
    for version in VERSIONS {
        let case = old(version);
        // Any command that records makes an old one current.
        let done = case.feed(&["record"], "");
        assert_eq!(done.code, Some(0), "{version}: {done:?}");
        let current = case.sql("PRAGMA user_version");
        assert_eq!(current, [json!({"user_version": cr_ledger_db::SCHEMA})]);
        let sums = |by: &str| -> Vec<Value> {
            let rows = case.ok(&["report", "--json", "--by", by]).rows();
            let row = |row: &Value| {
                json!([
                    row["key"],
                    row["messages"],
                    row["tokens"],
                    row["cost_usd"],
                    row["estimated_usd"]
                ])
            };
            rows.iter().map(row).collect()
        };
        assert_eq!(
            sums("session"),
            [
                json!(["session-2", 3, 1110, 1.5, 0.0]),
                json!(["session-1", 2, 330, 0.75, 0.0]),
                json!(["session-3", 1, 100, 0.25, 0.0]),
            ],
            "{version}"
        );
        assert_eq!(
            sums("day"),
            [
                json!(["2026-11-18", 5, 1440, 2.25, 0.0]),
                json!(["2026-11-19", 1, 100, 0.25, 0.0])
            ],
            "{version}"
        );
        assert_eq!(
            sums("milestone"),
            [
                json!(["m1", 5, 1440, 2.25, 0.0]),
                json!([null, 1, 100, 0.25, 0.0])
            ],
            "{version}"
        );
        let tools = case.ok(&["report", "--json", "--by", "tool"]).rows();
        assert_eq!(
            tools[0],
            json!({"key": "Bash", "calls": 3, "failures": 1}),
            "{version}"
        );
        for view in crate::same::VIEWS {
            let rows = case.ok(&["export", view]).rows();
            assert!(!rows.is_empty(), "{version}: {view}");
        }
    }
}

#[test]
fn l5_an_old_ledger_that_is_damaged_or_only_read_is_not_migrated() {
    let case = old(1);
    let before = fs::read(case.path("ledger.db")).expect("read");
    case.run(&["report"]);
    assert_eq!(fs::read(case.path("ledger.db")).expect("read"), before);
}
