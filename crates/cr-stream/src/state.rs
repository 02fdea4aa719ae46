//! `cr/state`: how the run is doing.

use crate::field::object;
use crate::open_enum::named;
use crate::{Doing, LineBody, OpenEnum, Subtype};

named! {
    /// The states of a run. A run with a single prompt has only `running`.
    pub enum StateName {
        /// The agent has not written a line yet.
        Starting = "starting",
        /// A turn is in progress.
        Running = "running",
        /// No turn is in progress, and the input is open.
        WaitingForInput = "waiting_for_input",
        /// A question of the agent is open.
        Asking = "asking",
        /// The run is being ended.
        Stopping = "stopping",
    }
}

named! {
    /// What began a turn.
    pub enum TurnCause {
        /// A message of the user.
        Message = "message",
        /// A background task that finished.
        Task = "task",
        /// Another session.
        Peer = "peer",
        /// A schedule.
        Schedule = "schedule",
    }
}

impl TurnCause {
    /// What began a turn whose result has this `origin.kind`, if it is known.
    pub fn of_origin(kind: &str) -> Option<Self> {
        match kind {
            "task-notification" => Some(Self::Task),
            "peer" => Some(Self::Peer),
            kind if kind.contains("schedule") || kind.contains("cron") => Some(Self::Schedule),
            _ => None,
        }
    }
}

object! {
    /// How the run is doing.
    pub struct State<'a> {
        /// The state.
        state: OpenEnum<'a, StateName>,
        /// The number of the turn.
        turn: u64,
        /// What began it.
        #[serde(skip_serializing_if = "Option::is_none")]
        cause: Option<OpenEnum<'a, TurnCause>>,
        /// How long the agent has written nothing.
        #[serde(skip_serializing_if = "Option::is_none")]
        silent_ms: Option<u64>,
        /// What it is doing.
        #[serde(skip_serializing_if = "Option::is_none")]
        doing: Option<Doing<'a>>,
    }
}

impl LineBody for State<'_> {
    const SUBTYPE: Subtype = Subtype::State;
}
