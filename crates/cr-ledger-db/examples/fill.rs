//! Fills a ledger with messages, for the benchmark: `fill FILE MESSAGES`.
//!
//! The messages are those of a busy user: sessions of 100 messages that take about
//! an hour, three models, a subagent now and then, fifty projects, two years.

use std::path::Path;

use anyhow::Context;
use cr_ledger_db::{Access, Ledger, Message, SessionHead, ToolCall};

/// 2025-01-01, in milliseconds.
const START: i64 = 1_735_689_600_000;
const TWO_YEARS: i64 = 2 * 365 * 86_400_000;
const PER_SESSION: i64 = 100;
const PER_TRANSACTION: i64 = 200;
const MODELS: [&str; 3] = ["claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-4-5"];

fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    let usage = "fill FILE MESSAGES";
    let path = args.next().context(usage)?;
    let messages: i64 = args.next().context(usage)?.parse().context(usage)?;
    let mut ledger = Ledger::open(Path::new(&path), Access::Write)?.on_machine("bench");
    let sessions = messages / PER_SESSION;
    let mut from = 0;
    while from < sessions {
        let to = sessions.min(from + PER_TRANSACTION);
        ledger.write(|writer| {
            (from..to).try_for_each(|number| session(writer, number, TWO_YEARS / sessions))
        })?;
        from = to;
    }
    Ok(())
}

fn session(writer: &mut cr_ledger_db::Writer<'_>, number: i64, step: i64) -> anyhow::Result<()> {
    let began_at = START + number * step;
    let id = format!("{number:08x}-aaaa-4bbb-8ccc-0123456789ab");
    let project = format!("/home/dev/project-{}", number % 50);
    for count in 0..PER_SESSION {
        let at = began_at + count * 36_000;
        let message_id = format!("msg_{number}_{count}");
        writer.message(&Message {
            message_id: &message_id,
            request_id: "req",
            session: &id,
            agent: if count % 20 == 7 { "helper" } else { "" },
            project: &project,
            model: MODELS[usize::from(count % 10 == 3) + usize::from(count % 20 == 7)],
            at,
            last_at: at + 1000,
            uuid: &message_id,
            is_final: true,
            log_began_at: began_at,
            input: 5,
            output: 400,
            cache_read: 60_000,
            cache_creation: 1200,
            ..Message::default()
        })?;
        writer.tool_call(&ToolCall {
            tool_use_id: &message_id,
            name: if count % 3 == 0 { "Read" } else { "Bash" },
            project: &project,
            at,
        })?;
    }
    writer.session(&SessionHead {
        session: &id,
        project: &project,
        cli_version: "2.1.0",
        first_at: Some(began_at),
        last_at: Some(began_at + PER_SESSION * 36_000),
    })?;
    Ok(())
}
