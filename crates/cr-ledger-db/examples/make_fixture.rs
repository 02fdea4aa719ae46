//! Writes the ledger that tests of later versions read:
//! `make_fixture tests/fixtures/ledger/v1.db`.
//!
//! A file of a version that was released is never written again.

use std::path::Path;

use anyhow::Context;
use cr_ledger_db::{
    Access, Compaction, Ledger, Message, ModelTotal, RunLabels, SessionHead, ToolCall, Writer,
};
use cr_summary::Summary;

/// 2026-11-18T03:15:00Z.
const START: i64 = 1_794_971_700_000;
const MODEL: &str = "claude-sonnet-5-5";

/// A run of 100 tokens in `session-1`, before its log is imported; one of 1110 in
/// `session-2` with two turns.
const SUMMARIES: [&str; 2] = [
    r#"{"schema":1,"run_id":"run-1","session_id":"session-1","model":"claude-sonnet-5-5",
    "outcome":"success","code":0,"cost_usd":0.75,"cost_source":"result","cwd":"/home/dev/repo",
    "started_at":"2026-11-18T03:15:00.000Z","ended_at":"2026-11-18T03:17:00.000Z",
    "duration_ms":120000,"num_turns":2,"tokens":{"input":30,"output":60,"cache_read":90,
    "cache_creation":150,"context_used":100,"context_window":200000},
    "models":{"claude-sonnet-5-5":{"input":30,"output":60,"cache_read":90,"cache_creation":150,
    "cost_usd":0.75}},"tools":{"Bash":2},"tool_calls":2,"messages":2,"last_uuid":"line-2",
    "quota":{"five_hour":{"used":0.5,"status":"allowed","resets_at":"2026-11-18T05:00:00Z",
    "at":"2026-11-18T03:17:00Z"}}}"#,
    r#"{"schema":1,"run_id":"run-2","session_id":"session-2","model":"claude-sonnet-5-5",
    "outcome":"success","code":0,"cost_usd":1.5,"cost_source":"result","cwd":"/home/dev/repo",
    "started_at":"2026-11-18T04:15:00.000Z","ended_at":"2026-11-18T04:17:00.000Z",
    "tokens":{"input":10,"output":100,"cache_read":1000,"cache_creation":0},
    "models":{"claude-sonnet-5-5":{"input":10,"output":100,"cache_read":1000,"cache_creation":0,
    "cost_usd":1.5}},"tools":{"Bash":1,"Read":1},"tool_calls":2,"messages":3,
    "turns":[{"number":1,"outcome":"success","num_turns":3,"cost_usd":1.5,
    "tokens":{"input":10,"output":100,"cache_read":1000,"cache_creation":0}}]}"#,
];

fn main() -> anyhow::Result<()> {
    let path = std::env::args().nth(1).context("make_fixture FILE")?;
    let path = Path::new(&path);
    if path.exists() {
        std::fs::remove_file(path)?;
    }
    let mut ledger = Ledger::open(path, Access::Write)?.on_machine("desk");
    ledger.write(|writer| {
        let labels = RunLabels {
            milestone: "m1".to_owned(),
            task: "task-1".to_owned(),
            task_type: "bugfix".to_owned(),
        };
        for summary in SUMMARIES {
            writer.run(&Summary::parse(summary.as_bytes())?, &labels)?;
        }
        logs(writer)?;
        let project = writer.text("/home/dev/repo")?;
        let machine = writer.text("desk")?;
        let session = writer.text("session-1")?;
        writer.db().execute(
            "INSERT INTO milestone VALUES ('m1', 'parser', ?1, ?2, 'active', ?3, NULL,
                'the plan', 'the handoff', '', ?3)",
            [project, machine, START],
        )?;
        writer.db().execute(
            "INSERT INTO milestone_session VALUES ('m1', ?1, ?2, 'active', '', ?2)",
            [session, START],
        )?;
        Ok(())
    })
}

/// The log of `session-1`, whose tokens the run covers, and that of `session-3`,
/// whose running total is exact.
fn logs(writer: &mut Writer<'_>) -> anyhow::Result<()> {
    for (number, session, at) in [
        (1, "session-1", START + 10_000),
        (2, "session-1", START + 20_000),
        (3, "session-3", START + 86_400_000),
    ] {
        let (id, uuid) = (format!("msg-{number}"), format!("line-{number}"));
        writer.session(&SessionHead {
            session,
            project: "/home/dev/repo",
            cli_version: "2.1.0",
            first_at: Some(at),
            last_at: Some(at),
        })?;
        writer.message(&Message {
            message_id: &id,
            session,
            project: "/home/dev/repo",
            model: MODEL,
            at,
            last_at: at,
            uuid: &uuid,
            is_final: true,
            log_began_at: START,
            input: 10,
            output: 20,
            cache_read: 30,
            cache_creation: 40,
            cache_creation_1h: Some(40),
            ..Message::default()
        })?;
        writer.prompt(session, at - 1000)?;
    }
    for (id, failed) in [("call-1", false), ("call-2", true)] {
        writer.tool_call(&ToolCall {
            tool_use_id: id,
            name: "Bash",
            project: "/home/dev/repo",
            at: START + 10_000,
        })?;
        if failed {
            writer.tool_failed(id)?;
        }
    }
    writer.compaction(&Compaction {
        session: "session-1",
        at: START + 15_000,
        trigger: "auto",
        pre_tokens: Some(150_000),
        post_tokens: Some(9000),
    })?;
    let total = ModelTotal {
        model: MODEL,
        input: 10,
        output: 20,
        cache_read: 30,
        cache_creation: 40,
        cost_usd: 0.25,
    };
    writer.session_total("session-3", START + 86_400_000, &[total])?;
    Ok(())
}
