//! Many inputs, many sessions.

use std::fs;

use serde_json::Value;

use crate::tool::{fixture, good, lines, summary, tool};

fn all(output: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(output).expect("UTF-8");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("an object"))
        .collect()
}

#[test]
fn more_than_one_file_gives_a_line_each_and_the_code_0() {
    let names = ["06-err429", "01-simple", "17-badflag"];
    let paths = names.map(|name| fixture(&format!("captures/{name}.ndjson")));
    let output = tool().args(&paths).output().expect("run");
    assert_eq!(output.status.code(), Some(0));
    let summaries = all(&output.stdout);
    let codes: Vec<_> = summaries
        .iter()
        .map(|summary| summary["code"].clone())
        .collect();
    assert_eq!(codes, [75, 0, 6]);
    for (summary, path) in summaries.iter().zip(&paths) {
        assert_eq!(summary["file"], path.to_str().expect("UTF-8"));
    }
}

#[test]
fn a_file_that_cannot_be_read_does_not_stop_the_others() {
    let good = fixture("captures/01-simple.ndjson");
    let output = tool()
        .arg("/no/such")
        .arg(&good)
        .arg(&good)
        .output()
        .expect("run");
    assert_eq!(output.status.code(), Some(66));
    assert_eq!(all(&output.stdout).len(), 2);
    let notes = String::from_utf8_lossy(&output.stderr);
    assert!(notes.starts_with("cr-summarize: /no/such: "), "{notes}");
    let output = tool().arg("/no/such").output().expect("run");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(66), 0));
}

#[test]
fn a_thousand_logs_are_summed_up_in_one_call() {
    let dir = tempfile::tempdir().expect("a directory");
    let log = fs::read(fixture("session-logs/03-agent.jsonl")).expect("a log");
    for n in 0..1000 {
        let folder = dir.path().join(format!("p{}", n % 10));
        fs::create_dir_all(&folder).expect("made");
        fs::write(folder.join(format!("{n:04}.jsonl")), &log).expect("written");
    }
    let output = tool().arg(dir.path()).output().expect("run");
    assert_eq!(output.status.code(), Some(0));
    let summaries = all(&output.stdout);
    assert_eq!(summaries.len(), 1000);
    // They are copies of one session, and are counted once.
    let costs = summaries
        .iter()
        .filter_map(|summary| summary["cost_usd"].as_f64());
    assert_eq!(costs.sum::<f64>().to_bits(), 0.0305_f64.to_bits());
    let own = summaries
        .iter()
        .filter(|summary| summary["cost_usd"] != 0.0);
    assert_eq!(own.count(), 1);
    for summary in &summaries {
        assert_eq!(summary["session_cost_usd"], 0.0305);
    }
}

#[test]
fn the_logs_of_subagents_are_joined_to_their_session() {
    let dir = tempfile::tempdir().expect("a directory");
    let session = dir.path().join("77d984de.jsonl");
    fs::copy(fixture("session-logs/03-agent.jsonl"), &session).expect("copied");
    let agents = dir.path().join("77d984de/subagents");
    fs::create_dir_all(&agents).expect("made");
    let line = r#"{"type":"assistant","isSidechain":true,"sessionId":"s","agentId":"a","cwd":"/elsewhere","message":{"id":"sub","model":"claude-haiku-4-5","content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}],"stop_reason":"tool_use","usage":{"input_tokens":1000,"output_tokens":50}},"timestamp":"2030-01-01T00:00:00Z"}"#;
    // The same message twice is one call.
    fs::write(agents.join("agent-a.jsonl"), format!("{line}\n{line}\n")).expect("written");
    let main = summary(
        &tool()
            .arg("--no-subagents")
            .arg(&session)
            .output()
            .expect("run"),
    )
    .1;
    let joined = summary(&tool().arg(&session).output().expect("run")).1;
    assert_eq!(
        (&main["tool_calls"], &main["tokens"]["input"]),
        (&2.into(), &33.into())
    );
    assert_eq!(
        (&joined["tool_calls"], &joined["tokens"]["input"]),
        (&3.into(), &1033.into())
    );
    for same in ["session_id", "model", "cwd", "ended_at", "outcome"] {
        assert_eq!(main[same], joined[same], "{same}");
    }
    assert_eq!(
        main["tokens"]["context_used"],
        joined["tokens"]["context_used"]
    );
    assert_eq!(lines(&joined), lines(&main) + 2);
    let output = tool().arg(dir.path()).output().expect("run");
    let summaries = all(&output.stdout);
    assert_eq!(summaries.len(), 1, "a joined log is not listed");
    assert_eq!(summaries[0]["tool_calls"], 3);
}

#[test]
fn sessions_are_told_apart_when_asked() {
    let other = good()
        .replace(
            "80f8ae6e-b027-4253-8e9c-1ffd717366a1",
            "11111111-2222-4333-8444-555555555555",
        )
        .replace("\"is_error\":false", "\"is_error\":true");
    // Their lines may be mixed.
    let (first, second) = (good(), other);
    let mixed = first
        .lines()
        .zip(second.lines())
        .map(|(a, b)| format!("{a}\n{b}\n"));
    for stream in [first.clone() + &second, mixed.collect()] {
        let output = tool()
            .arg("--per-session")
            .write_stdin(stream)
            .output()
            .expect("run");
        assert_eq!(output.status.code(), Some(0));
        let mut summaries = all(&output.stdout);
        summaries.sort_by_key(|summary| summary["session_id"].to_string());
        assert_eq!(summaries.len(), 2);
        assert_eq!(
            (&summaries[0]["code"], lines(&summaries[0])),
            (&1.into(), 3)
        );
        assert_eq!(
            (&summaries[1]["code"], lines(&summaries[1])),
            (&0.into(), 3)
        );
    }
}

fn end_of(session: usize) -> String {
    format!(
        "{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"x\",\"session_id\":\"s{session}\"}}\n"
    )
}

#[test]
fn any_number_of_sessions_have_lines_of_their_own() {
    const SESSIONS: usize = 25_000;
    // The last of them is an old one, whose line is printed already.
    let stream: String = (0..SESSIONS).chain([7]).map(end_of).collect();
    let output = tool()
        .args(["--per-session", "--total"])
        .write_stdin(stream)
        .output()
        .expect("run");
    let mut summaries = all(&output.stdout);
    let total = summaries.pop().expect("the total");
    assert_eq!(total["results"], SESSIONS + 1);
    let ids = summaries
        .iter()
        .map(|summary| summary["session_id"].clone());
    let wanted = (0..SESSIONS)
        .chain([7])
        .map(|id| serde_json::json!(format!("s{id}")));
    assert!(ids.eq(wanted), "each session once, in order");
    assert!(summaries.iter().all(|summary| summary["results"] == 1));
    let (last, others) = summaries.split_last().expect("summaries");
    assert_eq!(last["truncated"], serde_json::json!(["session"]));
    assert!(others.iter().all(|summary| summary["truncated"].is_null()));
}
