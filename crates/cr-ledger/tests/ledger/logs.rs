//! What a session log says, recorded without `cr-ledger import`.

use std::path::Path;

use cr_ledger_db::{Access, Ledger, Message, SessionHead, ToolCall};

/// An answer in a log.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) id: &'static str,
    pub(crate) session: &'static str,
    pub(crate) project: &'static str,
    pub(crate) model: &'static str,
    /// Milliseconds since 1970.
    pub(crate) at: i64,
    /// Input, output, cache read, cache creation.
    pub(crate) tokens: [u64; 4],
    pub(crate) tool: &'static str,
    pub(crate) failed: bool,
}

/// 2026-11-18T03:15:00Z, when the runs of the tests begin.
pub(crate) const START: i64 = 1_794_971_700_000;

impl Default for Answer {
    fn default() -> Self {
        Self {
            id: "msg-1",
            session: "s1",
            project: "/home/dev/repo",
            model: "claude-sonnet-5-5",
            at: START + 10_000,
            tokens: [10, 20, 30, 40],
            tool: "Bash",
            failed: false,
        }
    }
}

/// Records the answers of logs as `cr-ledger import` does.
pub(crate) fn import(path: &Path, machine: &str, answers: &[Answer]) {
    let ledger = Ledger::open(path, Access::Write).expect("opened");
    let mut ledger = ledger.on_machine(machine);
    ledger
        .write(|writer| {
            for answer in answers {
                let [input, output, cache_read, cache_creation] = answer.tokens;
                writer.session(&SessionHead {
                    session: answer.session,
                    project: answer.project,
                    cli_version: "2.1.0",
                    first_at: Some(answer.at),
                    last_at: Some(answer.at),
                })?;
                writer.message(&Message {
                    message_id: answer.id,
                    session: answer.session,
                    project: answer.project,
                    model: answer.model,
                    at: answer.at,
                    last_at: answer.at,
                    uuid: answer.id,
                    is_final: true,
                    log_began_at: answer.at,
                    input,
                    output,
                    cache_read,
                    cache_creation,
                    ..Message::default()
                })?;
                writer.tool_call(&ToolCall {
                    tool_use_id: answer.id,
                    name: answer.tool,
                    project: answer.project,
                    at: answer.at,
                })?;
                if answer.failed {
                    writer.tool_failed(answer.id)?;
                }
            }
            Ok(())
        })
        .expect("recorded");
}
