//! The list of runs, and what else is asked for.

use cr_test::World;

use crate::http::Server;
use crate::place::{Growing, RUN, ended_run};

#[test]
fn the_list_is_that_of_cr_runs_and_tells_what_changes() {
    let world = World::new();
    ended_run(&world);
    let server = Server::start(&world, &[]);
    let mut reader = server.events("/events", &[]);
    let first = reader.next().expect("the list");
    assert_eq!(first.name, "runs");
    let listed: serde_json::Value = serde_json::from_str(&first.data).expect("JSON");
    assert_eq!(listed, server.get("/api/runs").json());
    let printed = world
        .tool("cr-runs")
        .args(["ls", "--json"])
        .output()
        .expect("run");
    let mut printed: serde_json::Value = serde_json::from_slice(&printed.stdout).expect("JSON");
    printed["id"] = RUN.into();
    assert_eq!(listed[0], printed);

    let other = "20261118T041500Z-00000001";
    let run = Growing::start(&world, other);
    let mut state = String::new();
    while state != "running" {
        let event = reader.next().expect("a change");
        let value: serde_json::Value = serde_json::from_str(&event.data).expect("JSON");
        assert_eq!((&*event.name, value["id"].as_str()), ("run", Some(other)));
        value["state"]
            .as_str()
            .unwrap_or_default()
            .clone_into(&mut state);
    }
    run.end();
    while state != "ended" {
        let event = reader.next().expect("a change");
        let value: serde_json::Value = serde_json::from_str(&event.data).expect("JSON");
        value["state"]
            .as_str()
            .unwrap_or_default()
            .clone_into(&mut state);
    }
    std::fs::remove_dir_all(world.state().join("runs").join(other)).expect("removed");
    let event = std::iter::from_fn(|| reader.next()).find(|event| event.name == "gone");
    assert_eq!(event.expect("gone").data, format!("{{\"id\":\"{other}\"}}"));
}

#[test]
fn the_summary_of_a_run_that_goes_on_is_that_of_its_transcript_so_far() {
    let world = World::new();
    let run = Growing::start(&world, RUN);
    let recording = std::fs::read(cr_test::fixture("captures/02-tools.ndjson")).expect("read");
    run.append(&recording);
    let server = Server::start(&world, &[]);
    let reply = server.get(&format!("/api/runs/{RUN}/summary"));
    let summary = reply.json();
    assert_eq!(summary["outcome"], "incomplete");
    assert_eq!(summary["num_turns"], 14, "{summary}");
    assert_eq!(
        server
            .get("/api/runs/20261118T031500Z-00000000/summary")
            .status,
        404
    );
}

#[test]
fn a_run_and_the_list_come_in_one_answer() {
    let world = World::new();
    let run = ended_run(&world);
    let server = Server::start(&world, &[]);
    let mut reader = server.events(&format!("/events?run={run}&runs"), &[]);
    let mut names = Vec::new();
    while !(names.contains(&"end".to_owned()) && names.contains(&"runs".to_owned())) {
        names.push(reader.next().expect("more").name);
    }
}

#[test]
fn metrics_are_lines_of_name_and_number() {
    let world = World::new();
    ended_run(&world);
    let server = Server::start(&world, &[]);
    let text = server.get("/metrics").body;
    assert!(text.contains("\ncr_runs{state=\"ended\"} 1\n"), "{text}");
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (_, number) = line.rsplit_once(' ').expect("two words");
        assert!(number.parse::<u64>().is_ok(), "{line}");
    }
}

#[test]
fn the_report_of_the_ledger_is_that_of_cr_ledger() {
    let world = World::new();
    let server = Server::start(&world, &[]);
    assert_eq!(
        server.get("/api/ledger/report").status,
        404,
        "there is no ledger yet"
    );
    let log = cr_test::fixture("session-logs/02-tools.jsonl");
    let imported = world
        .tool("cr-ledger")
        .arg("import")
        .arg(log)
        .output()
        .expect("run");
    assert!(imported.status.success(), "{imported:?}");
    let printed = world
        .tool("cr-ledger")
        .args(["report", "--by=model", "--json"])
        .output();
    let printed: serde_json::Value =
        serde_json::from_slice(&printed.expect("run").stdout).expect("one row");
    let report = server.get("/api/ledger/report?by=model").json();
    assert_eq!(report, serde_json::json!([printed]));
    assert_eq!(server.get("/api/ledger/report?by=nothing").status, 400);
}
