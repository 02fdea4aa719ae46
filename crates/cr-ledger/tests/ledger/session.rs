//! A session whose messages are in the ledger, as an import would write them.

use cr_ledger_db::{Access, Compaction, Ledger, Message, SessionHead, Writer, to_ms};
use jiff::Timestamp;

use crate::case::Case;

pub(crate) const PROJECT: &str = "/home/dev/repo";
pub(crate) const MODEL: &str = "claude-sonnet-5-5";

/// A call of the main thread: when, what it sent, and for how long the cache keeps
/// what it wrote of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) at: &'static str,
    pub(crate) read: u64,
    pub(crate) written: u64,
    pub(crate) is_hour: bool,
}

/// A call that sends `context` tokens, all of them from the cache but 1,000 that
/// are kept for five minutes.
pub(crate) fn call(at: &'static str, context: u64) -> Call {
    Call {
        at,
        read: context - 1000,
        written: 1000,
        is_hour: false,
    }
}

impl Call {
    pub(crate) fn for_an_hour(self) -> Self {
        Self {
            is_hour: true,
            ..self
        }
    }
}

pub(crate) fn ms(time: &str) -> i64 {
    to_ms(time.parse::<Timestamp>().expect("a time"))
}

impl Case {
    /// Writes facts into the ledger.
    pub(crate) fn write(&self, work: impl FnOnce(&mut Writer<'_>) -> anyhow::Result<()>) {
        let path = self.path("ledger.db");
        let ledger = Ledger::open(&path, Access::Write).expect("opened");
        ledger.on_machine("here").write(work).expect("written");
    }

    /// Writes the calls of a session of the project.
    pub(crate) fn session(&self, session: &str, calls: &[Call]) {
        self.session_of(session, MODEL, calls);
    }

    pub(crate) fn session_of(&self, session: &str, model: &str, calls: &[Call]) {
        self.write(|writer| {
            writer.session(&SessionHead {
                session,
                project: PROJECT,
                first_at: calls.first().map(|call| ms(call.at)),
                last_at: calls.last().map(|call| ms(call.at)),
                ..SessionHead::default()
            })?;
            for (number, call) in calls.iter().enumerate() {
                let id = format!("{session}-{number}-{}", call.at);
                writer.message(&Message {
                    message_id: &id,
                    session,
                    project: PROJECT,
                    model,
                    at: ms(call.at),
                    last_at: ms(call.at),
                    uuid: &id,
                    is_final: true,
                    cache_read: call.read,
                    cache_creation: call.written,
                    cache_creation_5m: Some(if call.is_hour { 0 } else { call.written }),
                    cache_creation_1h: Some(if call.is_hour { call.written } else { 0 }),
                    ..Message::default()
                })?;
            }
            Ok(())
        });
    }

    /// A prompt at each of the times.
    pub(crate) fn prompts(&self, session: &str, times: &[&str]) {
        self.write(|writer| {
            for time in times {
                writer.prompt(session, ms(time))?;
            }
            Ok(())
        });
    }

    pub(crate) fn compaction(&self, session: &str, at: &str, tokens: (u64, u64)) {
        self.write(|writer| {
            Ok(writer.compaction(&Compaction {
                session,
                at: ms(at),
                trigger: "auto",
                pre_tokens: Some(tokens.0),
                post_tokens: Some(tokens.1),
            })?)
        });
    }
}
