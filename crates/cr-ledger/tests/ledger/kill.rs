//! Writers that are killed.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

use cr_test::repeats;

use crate::case::Case;
use crate::random::{Random, seed};
use crate::record::summary;

const WRITERS: usize = 8;

/// Summaries that one writer is given.
const SUMMARIES: usize = 120;

/// The runs that were passed on: whole lines only.
fn acknowledged(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).expect("text");
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let run = |line: &str| {
        let value: serde_json::Value = serde_json::from_str(line).expect("JSON");
        value["run_id"].as_str().expect("a run").to_owned()
    };
    whole.lines().map(run).collect()
}

/// Starts a writer again and again and kills it at random moments until `kills` of
/// them found it alive. Returns the runs that were passed on.
fn torment(case: &Case, writer: usize, kills: usize, random: &mut Random) -> Vec<String> {
    let mut passed_on = Vec::new();
    let mut hit = 0;
    let mut round = 0;
    while hit < kills {
        let name = format!("{writer}-{round}");
        round += 1;
        assert!(
            round < kills * 50 + 200,
            "the writer ends before it is killed"
        );
        let count = if round % 2 == 0 { SUMMARIES } else { 5 };
        let lines = (0..count).map(|number| {
            let run = format!("{name}-{number}");
            // Now and then all writers have a run of one session.
            let shared = number == 50 && round % 10 == 0;
            let session = if shared {
                "shared".to_owned()
            } else {
                format!("{name}-{}", number / 4)
            };
            format!("{}\n", summary(&run, &session, 0.5))
        });
        let input = case
            .world
            .write(format!("{name}.in"), lines.collect::<String>());
        let output = case.path(&format!("{name}.out"));
        let mut child = case
            .command(&["record"])
            .stdin(File::open(input).expect("opened"))
            .stdout(File::create(&output).expect("made"))
            .stderr(File::create(case.path(&format!("{name}.err"))).expect("made"))
            .spawn()
            .expect("started");
        let moment = Duration::from_micros(random.below(200_000));
        if child.ends_within(moment) {
            let status = child.wait().expect("ended");
            let err = fs::read_to_string(case.path(&format!("{name}.err"))).expect("text");
            assert_eq!(status.code(), Some(0), "not killed, and failed: {err}");
        } else {
            let _ = child.kill();
            let status = child.wait().expect("ended");
            hit += usize::from(status.code().is_none());
        }
        passed_on.extend(acknowledged(&output));
    }
    passed_on
}

#[test]
fn l1_l2_what_eight_writers_passed_on_is_there_although_they_are_killed() {
    let case = Case::new();
    let seed = seed();
    let kills = repeats(5, 100);
    let passed_on: BTreeSet<String> = std::thread::scope(|scope| {
        let case = &case;
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let mut random = Random::new(seed + writer as u64);
                scope.spawn(move || torment(case, writer, kills, &mut random))
            })
            .collect();
        let joined = writers
            .into_iter()
            .map(|writer| writer.join().expect("no failure"));
        joined.flatten().collect()
    });
    assert!(!passed_on.is_empty(), "seed {seed}: nothing was passed on");
    assert_eq!(
        case.sql("PRAGMA integrity_check")[0]["integrity_check"],
        "ok",
        "seed {seed}"
    );
    let rows = case.sql("SELECT run_id FROM runs");
    let there: BTreeSet<String> = rows
        .iter()
        .map(|row| row["run_id"].as_str().expect("a run").to_owned())
        .collect();
    let missing: Vec<&String> = passed_on.difference(&there).collect();
    assert!(missing.is_empty(), "seed {seed}: {missing:?}");
    // The sums are those of the runs that are there.
    let sums = case.sql("SELECT count(*) AS runs, sum(cost_usd) AS usd FROM runs");
    let usage = case.sql("SELECT sum(cost_usd) AS usd FROM usage");
    assert_eq!(sums[0]["usd"], usage[0]["usd"], "seed {seed}");
    #[expect(clippy::print_stderr, reason = "the figures of a campaign")]
    let () = eprintln!(
        "seed {seed}: {} kills, {} passed on, {} recorded",
        kills * WRITERS,
        passed_on.len(),
        there.len()
    );
}

#[test]
fn l5_a_kill_while_the_ledger_is_made_leaves_none_or_a_whole_one() {
    let seed = seed();
    let mut random = Random::new(seed);
    let (mut none, mut whole) = (0, 0);
    // It follows the machine to the moment at which the ledger is made.
    let mut longest = 30_000;
    for round in 0..repeats(30, 300) {
        let case = Case::new();
        let mut child = case
            .command(&["record"])
            .stdin(File::open("/dev/null").expect("opened"))
            .spawn()
            .expect("started");
        child.ends_within(Duration::from_micros(random.below(longest)));
        let _ = child.kill();
        child.wait().expect("ended");
        let path = case.path("ledger.db");
        if path.exists() {
            let db = rusqlite::Connection::open(&path).expect("opened");
            let one = |sql: &str| -> i64 { db.query_row(sql, [], |row| row.get(0)).expect("read") };
            let version = one("PRAGMA user_version");
            let tables = one("SELECT count(*) FROM sqlite_master");
            let place = format!("seed {seed}, round {round}: version {version}, {tables} tables");
            assert_eq!(version == 0, tables == 0, "{place}");
            assert!(
                tables == 0 || one("SELECT count(*) FROM text_value") == 1,
                "{place}"
            );
            whole += u32::from(version > 0);
            none += u32::from(version == 0);
        } else {
            none += 1;
        }
        longest = if none > whole {
            (longest * 5 / 4).min(20_000_000)
        } else {
            (longest * 4 / 5).max(100)
        };
        case.record(&summary("r1", "s1", 0.25));
    }
    assert!(
        whole > 0 && none > 0,
        "seed {seed}: {none} without, {whole} with a ledger"
    );
}
