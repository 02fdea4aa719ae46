//! The order in which facts are recorded, and the ledger that has them first, do
//! not matter.

mod facts;
mod random;

use std::path::Path;

use cr_ledger_db::rusqlite::types::Value;
use cr_ledger_db::{Access, Ledger};

use facts::{Fact, MACHINES, facts, record};
use random::Random;

const VIEWS: [&str; 10] = [
    "usage",
    "messages",
    "sessions",
    "context_window_usage",
    "runs",
    "turns",
    "tasks",
    "milestones",
    "quota",
    "tools",
];

fn open(dir: &Path, name: &str) -> Ledger {
    Ledger::open(&dir.join(name), Access::Write).expect("opened")
}

/// The rows of every view, in an order of their own.
fn dump(ledger: &Ledger) -> Vec<String> {
    let mut lines = Vec::new();
    for view in VIEWS {
        let mut statement = ledger
            .db()
            .prepare(&format!("SELECT * FROM {view}"))
            .expect("a view");
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut rows = statement.query([]).expect("rows");
        let mut of_view = Vec::new();
        while let Some(row) = rows.next().expect("a row") {
            let cells = names.iter().enumerate().filter(|(_, name)| *name != "id");
            let cells = cells.map(|(at, name)| {
                let value: Value = row.get(at).expect("a value");
                format!("{name}={value:?}")
            });
            of_view.push(format!("{view}: {}", cells.collect::<Vec<_>>().join(" ")));
        }
        of_view.sort();
        lines.extend(of_view);
    }
    lines
}

fn assert_same(seed: u64, what: &str, expected: &[String], got: &[String]) {
    if expected == got {
        return;
    }
    let missing = expected.iter().filter(|line| !got.contains(line));
    let more = got.iter().filter(|line| !expected.contains(line));
    let differences: Vec<String> = missing
        .map(|line| format!("- {line}"))
        .chain(more.map(|line| format!("+ {line}")))
        .collect();
    panic!("seed {seed}, {what}:\n{}", differences.join("\n"));
}

/// The seeds: fixed ones, and one that is new each time.
fn seeds(count: usize) -> Vec<u64> {
    let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let new = time.map_or(0, |time| u64::from(time.subsec_nanos()));
    let fixed = std::env::var("CR_TEST_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    match fixed {
        Some(seed) => vec![seed],
        None => (1..=count as u64).chain([new]).collect(),
    }
}

fn rounds() -> usize {
    cr_test::repeats(12, 600)
}

#[test]
fn l3_facts_in_any_order_and_twice_give_the_same_ledger() {
    let dir = tempfile::tempdir().expect("a directory");
    for seed in seeds(rounds()) {
        let random = &mut Random::new(seed);
        let mut facts = facts(random);
        let first = record(random, open(dir.path(), &format!("{seed}-a.db")), &facts);
        let expected = dump(&first);
        let twice = record(random, first, &facts);
        assert_same(seed, "recorded twice", &expected, &dump(&twice));
        random.shuffle(&mut facts);
        let second = record(random, open(dir.path(), &format!("{seed}-b.db")), &facts);
        assert_same(seed, "in another order", &expected, &dump(&second));
    }
}

#[test]
fn l3_ledgers_of_parts_merged_in_any_order_are_the_ledger_of_all() {
    let dir = tempfile::tempdir().expect("a directory");
    for seed in seeds(rounds()) {
        let random = &mut Random::new(seed);
        let facts = facts(random);
        let whole = record(
            random,
            open(dir.path(), &format!("{seed}-whole.db")),
            &facts,
        );
        let expected = dump(&whole);
        drop(whole);
        let mut parts: Vec<(String, Vec<Fact>)> = Vec::new();
        for part in 0..3 {
            parts.push((format!("{seed}-{part}.db"), Vec::new()));
        }
        for fact in &facts {
            let count = parts.len();
            parts[random.index(count)].1.push(fact.clone());
        }
        for (name, facts) in &parts {
            record(random, open(dir.path(), name), facts);
        }
        for times in 0..2 {
            random.shuffle(&mut parts);
            let machine = random.of(&MACHINES.map(|name| name));
            let name = format!("{seed}-merged-{times}.db");
            let mut merged = open(dir.path(), &name).on_machine(machine);
            for (part, _) in parts.iter().chain(&parts) {
                merged.merge(&dir.path().join(part)).expect("merged");
            }
            assert_same(seed, "merged", &expected, &dump(&merged));
        }
        // The first takes in the others, and one that has them takes it in.
        let (first, others) = parts.split_first().expect("three");
        let mut merged = open(dir.path(), &first.0);
        for (part, _) in others {
            merged.merge(&dir.path().join(part)).expect("merged");
        }
        assert_same(seed, "merged into a part", &expected, &dump(&merged));
        drop(merged);
        let mut back = open(dir.path(), &others[0].0);
        back.merge(&dir.path().join(&first.0)).expect("merged");
        assert_same(seed, "merged back", &expected, &dump(&back));
    }
}
