//! What the tests share.

use std::fs;
use std::path::PathBuf;

use cr_session_log::{Fact, FactOf, Resume, Scanned, scan};
use serde_json::Value;

/// A fact that owns its texts.
pub(crate) type Owned = FactOf<String>;

/// The facts of a log, and how far it was read.
pub(crate) fn scanned(log: &[u8], start: &Resume) -> (Vec<Owned>, Scanned) {
    let mut facts = Vec::new();
    let mut sink = |fact: Fact<'_>| facts.push(fact.map(str::to_owned));
    let scanned = scan(log, start, &mut sink).expect("scanned");
    (facts, scanned)
}

/// The facts of a log.
pub(crate) fn facts(log: &[u8]) -> Vec<Owned> {
    scanned(log, &Resume::default()).0
}

/// The facts of one line.
pub(crate) fn facts_of(line: &Value) -> Vec<Owned> {
    facts(format!("{line}\n").as_bytes())
}

/// Facts that can be compared with those of a tree, which sorts the models of a
/// total and is a little wrong about money.
pub(crate) fn comparable(facts: Vec<Owned>) -> Vec<String> {
    let rounded = |usd: Option<f64>| usd.map(|usd| (usd * 1e9).round() / 1e9);
    let mut texts = Vec::new();
    for mut fact in facts {
        match &mut fact {
            FactOf::SessionTotal(total) => total.total_cost_usd = rounded(total.total_cost_usd),
            FactOf::ModelTotal(total) => total.cost_usd = rounded(total.cost_usd),
            FactOf::Message(message) => message.cost_usd = rounded(message.cost_usd),
            _ => {}
        }
        texts.push(format!("{fact:?}"));
    }
    texts.sort();
    texts
}

/// The recorded logs: those of this project and those of public repositories,
/// of CLI versions from 1.0 on.
pub(crate) fn recorded() -> Vec<(PathBuf, Vec<u8>)> {
    let fixtures = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let folders = ["session-logs", "transcripts/session-log"];
    let mut logs = Vec::new();
    for folder in folders {
        for entry in fs::read_dir(fixtures.join(folder)).expect("fixtures") {
            let path = entry.expect("a fixture").path();
            if path.extension().is_some_and(|e| e == "jsonl") {
                let bytes = fs::read(&path).expect("read");
                logs.push((path, bytes));
            }
        }
    }
    logs.sort();
    assert!(logs.len() > 70, "{}", logs.len());
    logs
}

/// A source of numbers that is the same in every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() >> 16).expect("48 bits") % limit
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}
