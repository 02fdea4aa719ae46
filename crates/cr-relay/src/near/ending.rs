//! The end of a run: its record, its last line and its exit code.

use std::time::Duration;

use cr_io::Exit;
use cr_rundir::{file, state_text};
use cr_signal::{SIGPIPE, SIGTERM};
use cr_stream::{Reason, RelayEnd, compose_line};
use serde::Serialize;

use super::requests::Cause;
use super::session::{End, Session};
use crate::frame::Kind;
use crate::message::{Done, Work, encode};

/// How long the command may take to end after the far end has.
const DISMISS_LIMIT: Duration = Duration::from_secs(10);

/// `relay.json`: where the run was, and what became of its work.
#[derive(Debug, Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    work: &'a Work,
    /// The ref that holds the far end's last commit.
    r#ref: String,
    /// The branch here was brought to it.
    fast_forwarded: bool,
}

impl Session<'_> {
    /// Ends the run.
    pub(crate) fn finish(mut self, end: End) -> anyhow::Result<Exit> {
        let exit = match end {
            End::Exit(line, work) => self.succeed(line, &work),
            End::NotStarted(code, text) => {
                self.executor.dismiss(Duration::from_secs(1));
                Ok(self.fail(Some(code), &text))
            }
            End::Lost(text, time) => {
                self.executor.dismiss(time);
                Ok(self.fail(None, &text))
            }
        };
        let _ = std::fs::remove_file(self.scratch.path().join("relay.bundle"));
        if self.plan.dir.is_none() {
            let _ = std::fs::remove_dir_all(self.scratch.path());
        }
        exit
    }

    /// The far end's `cr/exit` came, and the work.
    fn succeed(&mut self, mut line: Vec<u8>, work: &Work) -> anyhow::Result<Exit> {
        let fast_forwarded = self.fast_forward(work);
        let report = Report {
            work,
            r#ref: format!("refs/cr-relay/{}/head", self.plan.id.as_str()),
            fast_forwarded,
        };
        if let Some(dir) = &self.plan.dir {
            let text = state_text(&report)?;
            let written = dir.write(file::RELAY, &text);
            written.unwrap_or_else(|err| not_recorded(&err));
        }
        if work.uncommitted_total > 0 {
            let files = cr_io::counted(work.uncommitted_total, "file");
            let (host, dir) = (&work.host, &work.dir);
            crate::note(&format!("not committed: {files} in {dir} on {host}"));
        }
        line.push(b'\n');
        self.record(&line);
        // The far end may forget it only now.
        let done = Done { is_complete: true };
        self.executor.outbox.urgent(Kind::Done, encode(&done));
        self.sink.put(&line, &self.requests);
        self.executor.dismiss(DISMISS_LIMIT);
        Ok(self.code(Exit::Code(work.code)))
    }

    fn fast_forward(&self, work: &Work) -> bool {
        if !self.plan.args.fast_forward || work.head == work.base {
            return false;
        }
        let merged = self.plan.repository.fast_forward(&work.head);
        if let Err(err) = &merged {
            crate::note(&format!("not fast-forwarded: {}", cr_io::message(err)));
        }
        merged.is_ok()
    }

    /// Ends a run whose end is not known, or that did not begin. The command has
    /// ended.
    fn fail(&mut self, spawn_code: Option<u8>, text: &str) -> Exit {
        let (relay_code, relay_signal) = self.executor.end();
        let cause = self.requests.cause();
        let interrupted_by = match cause {
            Some(Cause::Signal(number)) => Some(number),
            Some(Cause::StarterGone) => Some(SIGTERM),
            Some(Cause::ReaderLeft) | None => None,
        };
        let reason = match (spawn_code, interrupted_by) {
            (Some(_), _) => Reason::SpawnFailed,
            (None, Some(_)) => Reason::Interrupted,
            (None, None) => Reason::RelayLost,
        };
        let text = self.plan.redactor.redact(text).into_owned();
        let error = match spawn_code {
            Some(_) => text,
            None => self.with_facts(&text, relay_code, relay_signal),
        };
        let exit = cr_stream::Exit {
            interrupted_by,
            parent_died: cause == Some(Cause::StarterGone),
            spawn_code,
            error: Some(error.as_str().into()),
            duration_ms: u64::try_from(self.began.elapsed().as_millis()).ok(),
            lines: self.lines,
            bytes: self.bytes,
            leaked_total: None,
            recorded: Some(self.sink.is_recorded()),
            relay: Some(RelayEnd {
                relay_code,
                relay_signal,
                last_line_at: self.last_line_at.as_deref().map(Into::into),
            }),
            ..cr_stream::Exit::new(reason)
        };
        let line = compose_line(Some(self.plan.id.as_str()), &exit);
        if self.lines == 0 {
            self.sink.lines(&self.plan.start_line(), &self.requests);
        }
        self.record(&line);
        self.sink.put(&line, &self.requests);
        crate::note(&error);
        let code = match (spawn_code, interrupted_by) {
            (Some(code), _) => Exit::Code(code),
            (None, Some(number)) => of_signal(number),
            (None, None) => Exit::Retry,
        };
        self.code(code)
    }

    /// How the command ended, and what it said last.
    fn with_facts(&self, text: &str, code: Option<i32>, signal: Option<i32>) -> String {
        let how = match (code, signal) {
            (Some(code), _) => format!("the command ended with code {code}"),
            (None, Some(signal)) => format!("the command died of signal {signal}"),
            (None, None) => "the command did not end".to_owned(),
        };
        let said = self.executor.stderr.last_line();
        let said = said.map(|said| format!("; it said: {}", self.plan.redactor.redact(&said)));
        let said = said.unwrap_or_default();
        format!("the relay was lost: {text}; {how}{said}")
    }

    /// Records the last line, before anybody reads it.
    fn record(&mut self, line: &[u8]) {
        self.sink.finish_record(line);
        if let Some(dir) = &self.plan.dir
            && let Err(err) = dir.write_once(file::EXIT, line)
        {
            not_recorded(&err);
        }
    }

    /// `code`, unless the stream could not be passed on.
    fn code(&self, code: Exit) -> Exit {
        match self.sink.failure() {
            Some(text) => {
                crate::note(&format!("write standard output: {text}"));
                Exit::Io
            }
            None if !self.sink.has_reader() => of_signal(SIGPIPE),
            None => code,
        }
    }
}

fn not_recorded(err: &anyhow::Error) {
    crate::note(&format!("not recorded: {}", cr_io::message(err)));
}

fn of_signal(number: i32) -> Exit {
    Exit::Code(u8::try_from(128 + number).unwrap_or(u8::MAX))
}
