//! `cr/exit`: the last line of a supervised run.

use std::borrow::Cow;

use cr_io::OutputFileRecord;

use crate::field::{is_false, is_zero, object};
use crate::open_enum::named;
use crate::{Clock, LineBody, Named, OpenEnum, Subtype};

named! {
    /// Why a run ended. The name of a clock means that it ran out.
    pub enum Reason {
        /// The agent exited.
        Exit = "exit",
        /// The agent died of a signal that we did not send.
        Signal = "signal",
        /// A signal to us, or the death of our starter.
        Interrupted = "interrupted",
        /// The reader of standard output left.
        StdoutClosed = "stdout_closed",
        /// The guardian died or did not answer.
        GuardianDied = "guardian_died",
        /// The agent could not be started.
        SpawnFailed = "spawn_failed",
        /// A failure of our own.
        Internal = "internal",
        /// The relay to the machine of the agent was lost: how the agent ended
        /// is not known here.
        RelayLost = "relay_lost",
        /// See [`Clock::Timeout`].
        Timeout = "timeout",
        /// See [`Clock::Turn`].
        Turn = "turn",
        /// See [`Clock::Tool`].
        Tool = "tool",
        /// See [`Clock::PostResult`].
        PostResult = "post_result",
        /// See [`Clock::Idle`].
        Idle = "idle",
        /// See [`Clock::Startup`].
        Startup = "startup",
    }
}

impl From<Clock> for Reason {
    fn from(clock: Clock) -> Self {
        match clock {
            Clock::Timeout => Self::Timeout,
            Clock::Turn => Self::Turn,
            Clock::Tool => Self::Tool,
            Clock::PostResult => Self::PostResult,
            Clock::Idle => Self::Idle,
            Clock::Startup => Self::Startup,
            // It ends no run.
            Clock::Wake => Self::Internal,
        }
    }
}

impl Reason {
    /// The clock that ran out, if one did.
    pub fn clock(self) -> Option<Clock> {
        Clock::from_name(self.as_str())
    }
}

object! {
    /// How the run ended: facts, no verdict.
    pub struct Exit<'a> {
        /// Why.
        reason: OpenEnum<'a, Reason>,
        /// The agent's exit code.
        exit_code: Option<i32>,
        /// The signal that it died of.
        signal: Option<i32>,
        /// We killed it.
        killed: bool,
        /// The signal that we got.
        #[serde(skip_serializing_if = "Option::is_none")]
        interrupted_by: Option<i32>,
        /// Our starter died.
        #[serde(skip_serializing_if = "is_false")]
        parent_died: bool,
        /// The code for an agent that could not be started: 125 to 127.
        #[serde(skip_serializing_if = "Option::is_none")]
        spawn_code: Option<u8>,
        /// What went wrong.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<Cow<'a, str>>,
        /// The agent wrote a result.
        result_seen: Option<bool>,
        /// Its last result is an error.
        result_is_error: Option<bool>,
        /// How long the run took.
        duration_ms: Option<u64>,
        /// For how long it was stopped (SIGTSTP).
        #[serde(skip_serializing_if = "is_zero")]
        stopped_ms: u64,
        /// Lines of the agent's standard output.
        lines: u64,
        /// Their bytes.
        bytes: u64,
        /// Those that were not JSON.
        noise: u64,
        /// Those that claimed to be our own.
        forged: u64,
        /// Those that were too long.
        oversize: u64,
        /// The agent's standard error.
        stderr: AgentStderr<'a>,
        /// The last line had no newline.
        torn_tail: bool,
        /// Processes that the agent left; the first 50.
        leaked: Vec<LeftoverProcess<'a>>,
        /// How many there were.
        leaked_total: Option<u64>,
        /// Those that could not be killed.
        unkillable: Vec<LeftoverProcess<'a>>,
        /// They were left alive, as the user asked.
        children_kept: bool,
        /// The stream is in the run's directory.
        recorded: Option<bool>,
        /// The file of `--output-file`.
        #[serde(skip_serializing_if = "Option::is_none")]
        output_file: Option<OutputFileState<'a>>,
        /// The record lacks a part of the stream.
        #[serde(skip_serializing_if = "is_false")]
        record_cut: bool,
        /// Why the agent's input was closed, in a session: `input_end`, `field`,
        /// `stop` or `ask_timeout`.
        #[serde(skip_serializing_if = "Option::is_none")]
        completed_by: Option<Cow<'a, str>>,
        /// How the relay to the agent's machine ended, with `relay_lost`.
        #[serde(skip_serializing_if = "Option::is_none")]
        relay: Option<RelayEnd<'a>>,
    }
}

impl LineBody for Exit<'_> {
    const SUBTYPE: Subtype = Subtype::Exit;
}

impl Exit<'_> {
    /// Whether the agent ended by itself and its last line is cut off: what it
    /// wanted to say is not known. Our own signal may cut a line, too; that says
    /// nothing of the work.
    pub fn has_cut_line(&self) -> bool {
        let is_ours = !matches!(self.reason.known(), Some(Reason::Exit | Reason::Signal));
        self.torn_tail && !is_ours
    }

    /// The end of a run without an agent's output.
    pub fn new(reason: Reason) -> Self {
        Self {
            reason: reason.into(),
            duration_ms: Some(0),
            leaked_total: Some(0),
            recorded: Some(false),
            ..Self::default()
        }
    }
}

object! {
    /// How a relay ended. Its exit code proves nothing about the agent.
    pub struct RelayEnd<'a> {
        /// Its exit code.
        ///
        /// Null: if it was killed, or could not be started.
        /// Example: `0`
        relay_code: Option<i32>,
        /// The signal that it died of.
        ///
        /// Null: if none did.
        /// Example: `9`
        relay_signal: Option<i32>,
        /// When the last line came through it.
        ///
        /// Null: if none came.
        /// Example: `"2026-11-18T03:15:00.000Z"`
        last_line_at: Option<Cow<'a, str>>,
    }
}

object! {
    /// The beginning and the end of the agent's standard error.
    pub struct AgentStderr<'a> {
        /// Its length.
        bytes: u64,
        /// The first 16 KiB.
        head: Cow<'a, str>,
        /// The last 64 KiB, without what is in `head`.
        tail: Cow<'a, str>,
    }
}

object! {
    /// A process that outlived the agent.
    pub struct LeftoverProcess<'a> {
        /// Its number.
        ///
        /// Example: `4711`
        pid: i32,
        /// Its name.
        ///
        /// Example: `"sleep"`
        comm: Cow<'a, str>,
        /// How long it had been alive, in milliseconds.
        ///
        /// Example: `5012`
        age_ms: u64,
    }
}

object! {
    /// The file of `--output-file`.
    pub struct OutputFileState<'a> {
        /// Where it is.
        ///
        /// Example: `"/home/dev/run.ndjson"`
        path: Cow<'a, str>,
        /// Why it is not complete.
        ///
        /// Absent: if it is complete.
        /// Example: `"No space left on device"`
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<Cow<'a, str>>,
    }
}

impl From<OutputFileRecord> for OutputFileState<'_> {
    fn from(record: OutputFileRecord) -> Self {
        Self {
            path: record.path.into(),
            error: record.error.map(Into::into),
        }
    }
}

/// The `cr/exit` line `line` with the state of `--output-file` added: one
/// supervisor wrote the line, and another one the file.
pub fn with_output_file(mut line: Vec<u8>, file: &OutputFileState<'_>) -> Vec<u8> {
    if let (Some(open), Ok(file)) = (line.strip_suffix(b"}\n"), serde_json::to_vec(file)) {
        line.truncate(open.len());
        line.extend(b",\"output_file\":");
        line.extend(file);
        line.extend(b"}\n");
    }
    line
}

object! {
    /// The `cr/exit` line of a run that ended between two attempts, while no
    /// agent was running. Its fields are those of [`Exit`].
    pub struct ExitWithoutAgent<'a> {
        /// Why.
        reason: OpenEnum<'a, Reason>,
        /// The signal that we got.
        interrupted_by: Option<i32>,
        /// The code for an agent that could not be started.
        spawn_code: Option<u8>,
        /// What went wrong.
        error: Option<Cow<'a, str>>,
        /// The stream is in the run's directory.
        recorded: bool,
    }
}

impl LineBody for ExitWithoutAgent<'_> {
    const SUBTYPE: Subtype = Subtype::Exit;
}

impl ExitWithoutAgent<'_> {
    /// The end of a run that is recorded.
    pub fn new(reason: Reason) -> Self {
        Self {
            reason: reason.into(),
            recorded: true,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_file_is_added_to_a_line() {
        let file = OutputFileState {
            path: "/x".into(),
            error: Some("full".into()),
        };
        let line = with_output_file(b"{\"type\":\"cr\",\"subtype\":\"exit\"}\n".to_vec(), &file);
        let event = cr_event::Event::parse(&line).expect("an event");
        let Some(crate::OwnLine::Exit(exit)) = crate::OwnLine::read(&event) else {
            panic!("{event:?}");
        };
        assert_eq!(exit.output_file, Some(file));
    }

    #[test]
    fn a_clock_is_a_reason_by_the_same_name() {
        // One clock only reminds the agent, and ends no run.
        let ending = Clock::ALL.iter().filter(|clock| **clock != Clock::Wake);
        for clock in ending {
            let reason = Reason::from(*clock);
            assert_eq!(reason.as_str(), clock.as_str());
            assert_eq!(reason.clock(), Some(*clock));
        }
        assert_eq!(Reason::Exit.clock(), None);
    }
}
