//! `cr/input`: a message of a run of many turns.

use std::borrow::Cow;

use crate::field::object;
use crate::open_enum::named;
use crate::{LineBody, OpenEnum, Subtype};

named! {
    /// The states of a message.
    pub enum InputState {
        /// Accepted, and not yet given to the agent.
        Queued = "queued",
        /// The agent works on it.
        Started = "started",
        /// Its turn ended.
        Done = "done",
        /// The sender withdrew it.
        Cancelled = "cancelled",
        /// Refused; `reason` says why.
        Rejected = "rejected",
        /// Its turn was cut off, and a message of our own continues it.
        Continued = "continued",
    }
}

object! {
    /// A change of a message.
    pub struct Input<'a> {
        /// Its id, which is also the `uuid` of the agent's line.
        id: Cow<'a, str>,
        /// The sender.
        from: Option<Cow<'a, str>>,
        /// Its state.
        state: OpenEnum<'a, InputState>,
        /// It was added to a turn in progress and did not begin one.
        #[serde(skip_serializing_if = "Option::is_none")]
        folded: Option<bool>,
        /// The number of its turn.
        #[serde(skip_serializing_if = "Option::is_none")]
        turn: Option<u64>,
        /// Why it was refused or cancelled.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<Cow<'a, str>>,
    }
}

impl LineBody for Input<'_> {
    const SUBTYPE: Subtype = Subtype::Input;
}
