//! Why a run ends, and the exit code that follows.

use std::env;
use std::path::Path;

use cr_io::Exit;
use cr_signal::{SIGPIPE, SIGTERM};
use cr_stream::{Clock, Reason};
use rustix::io::Errno;

use crate::guardian_protocol::End;
use crate::output::Fate;

/// What ended the agent, if it was not the agent itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// A clock.
    Clock(Clock),
    /// A signal to us.
    Signal(i32),
    /// The process that started us is gone.
    Orphaned,
    /// The reader of standard output has left.
    ReaderGone,
    /// Standard output cannot be written.
    OutputFailed(String),
    /// The guardian died or does not answer.
    GuardianDied(&'static str),
    /// The agent could not be started: our exit code, and why.
    NotStarted(Exit, String),
}

impl Cause {
    /// Its name in `cr/exit`.
    pub(crate) fn reason(cause: Option<&Self>, end: Option<End>) -> Reason {
        match cause {
            Some(Self::Clock(clock)) => (*clock).into(),
            Some(Self::Signal(_) | Self::Orphaned) => Reason::Interrupted,
            Some(Self::ReaderGone) => Reason::StdoutClosed,
            Some(Self::OutputFailed(_)) => Reason::Internal,
            Some(Self::GuardianDied(_)) => Reason::GuardianDied,
            Some(Self::NotStarted(..)) => Reason::SpawnFailed,
            None if end.is_some_and(|end| end.signal.is_some()) => Reason::Signal,
            None => Reason::Exit,
        }
    }

    /// The message for the user, if there is one.
    pub(crate) fn error(&self) -> Option<String> {
        match self {
            Self::OutputFailed(text) => Some(format!("write standard output: {text}")),
            Self::GuardianDied(text) => Some((*text).to_owned()),
            Self::NotStarted(_, text) => Some(text.clone()),
            _ => None,
        }
    }

    /// The signal to us, or the one that the end of our starter counts as.
    pub(crate) fn interrupted_by(&self) -> Option<i32> {
        match self {
            Self::Signal(number) => Some(*number),
            Self::Orphaned => Some(SIGTERM),
            _ => None,
        }
    }

    /// The code of a run whose agent could not be started.
    pub(crate) fn spawn_code(&self) -> Option<u8> {
        match self {
            Self::NotStarted(exit, _) => Some(exit.code()),
            _ => None,
        }
    }

    /// Why a program that is there does not run.
    pub(crate) fn cannot_run(errno: i32, what: &str, name: Option<&Path>) -> Self {
        let name = name.map_or_else(
            || env::var("CR_CLAUDE").unwrap_or_else(|_| "claude".to_owned()),
            |name| name.display().to_string(),
        );
        let exit = match Errno::from_raw_os_error(errno) {
            // Also of a script whose interpreter is missing.
            Errno::NOENT | Errno::ACCESS | Errno::NOEXEC | Errno::TOOBIG => Exit::CannotExec,
            _ => Exit::Tool,
        };
        Self::NotStarted(exit, format!("{name}: {what}"))
    }

    /// The signal that the agent gets.
    pub(crate) fn signal(&self) -> i32 {
        match self {
            Self::Signal(number) => *number,
            _ => SIGTERM,
        }
    }
}

/// Our exit code: the agent's own, unless something else ended it. After a result
/// it is the result's, also if a clock ended the agent.
pub(crate) fn code(
    cause: Option<&Cause>,
    end: Option<End>,
    is_error: Option<bool>,
    fate: &Fate,
) -> Exit {
    let of_signal = |number: i32| Exit::Code(u8::try_from(128 + number).unwrap_or(255));
    match (cause, fate) {
        (Some(Cause::Clock(_)), _) => match is_error {
            None => Exit::Timeout,
            Some(is_error) => Exit::Code(is_error.into()),
        },
        (Some(Cause::Signal(number)), _) => of_signal(*number),
        (Some(Cause::Orphaned), _) => of_signal(SIGTERM),
        (Some(Cause::OutputFailed(_)), _) | (_, Fate::Failed(_)) => Exit::Io,
        (Some(Cause::ReaderGone), _) | (None, Fate::Gone) => of_signal(SIGPIPE),
        (Some(Cause::GuardianDied(_)), _) => Exit::Tool,
        (Some(Cause::NotStarted(exit, _)), _) => *exit,
        (None, Fate::Open) => match end {
            Some(End {
                signal: Some(number),
                ..
            }) => of_signal(number),
            Some(End {
                code: Some(code), ..
            }) => Exit::Code(u8::try_from(code).unwrap_or(255)),
            _ => Exit::Tool,
        },
    }
}
