//! Why a run ends, and what the shell is told.

use cr_io::Exit;
use cr_stream::{Clock, Reason};

use crate::guardian_protocol::End;
use crate::output::Fate;

/// What ended the agent, if it was not the agent itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// A clock.
    Clock(Clock),
    /// A signal to us.
    Signal(i32),
    /// Whoever started us is gone.
    Orphaned,
    /// Nobody reads standard output.
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

    /// What to say of it in words.
    pub(crate) fn error(&self) -> Option<String> {
        match self {
            Self::OutputFailed(text) => Some(format!("write standard output: {text}")),
            Self::GuardianDied(text) => Some((*text).to_owned()),
            Self::NotStarted(_, text) => Some(text.clone()),
            _ => None,
        }
    }

    /// The signal that the agent gets.
    pub(crate) fn signal(&self) -> i32 {
        match self {
            Self::Signal(number) => *number,
            _ => signal_hook::consts::SIGTERM,
        }
    }
}

/// Our exit code. The agent's own, unless something else came first; a result
/// that was seen outlives the clock that ended its agent.
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
        (Some(Cause::Orphaned), _) => of_signal(signal_hook::consts::SIGTERM),
        (Some(Cause::OutputFailed(_)), _) | (_, Fate::Failed(_)) => Exit::Io,
        (Some(Cause::ReaderGone), _) | (None, Fate::Gone) => {
            of_signal(signal_hook::consts::SIGPIPE)
        }
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
