//! The turns of a session: which one runs, and what began it.

use std::time::Instant;

use cr_event::{Text, TurnEnd};
use cr_stream::TurnCause;

/// The turn that runs, or the last one.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    /// Turns begun.
    pub(crate) number: u64,
    pub(crate) is_running: bool,
    /// The model has said something in it.
    pub(crate) has_spoken: bool,
    /// What began it.
    pub(crate) cause: Option<TurnCause>,
    /// The agent says that it has nothing to do; `None`: it has not said anything
    /// about that yet.
    pub(crate) is_idle: Option<bool>,
    /// A background task has ended since when, and no turn has reported it.
    pub(crate) unreported_since: Option<Instant>,
}

impl Turns {
    /// A turn begins. Some versions announce one twice.
    pub(crate) fn begin(&mut self, cause: Option<TurnCause>) {
        self.unreported_since = None;
        self.busy();
        if self.is_running && !self.has_spoken {
            return;
        }
        self.number += 1;
        self.is_running = true;
        self.has_spoken = false;
        self.cause = cause;
    }

    /// The main thread speaks; a turn may begin without being announced.
    pub(crate) fn spoke(&mut self) {
        if !self.is_running {
            self.begin(None);
        }
        self.has_spoken = true;
    }

    /// A result came. Returns whether it is that of a turn: an empty one may stand
    /// before the real one.
    pub(crate) fn has_result(&mut self, end: &TurnEnd<'_>) -> bool {
        // A version that does not tell its state gives no other sign of the end.
        if end.is_empty() && !self.has_spoken && self.is_idle.is_some() {
            return false;
        }
        self.cause = cause_of(end).or(self.cause);
        true
    }

    /// The turn has ended.
    pub(crate) fn end(&mut self) {
        self.is_running = false;
    }

    /// The agent is at work. Versions that do not tell their state are not taken
    /// to be.
    fn busy(&mut self) {
        self.is_idle = self.is_idle.map(|_| false);
    }

    /// The agent says whether it is at work.
    pub(crate) fn told_busy(&mut self) {
        self.is_idle = Some(false);
    }

    /// The agent has nothing to do.
    pub(crate) fn idle(&mut self) {
        self.is_running = false;
        self.is_idle = Some(true);
    }

    /// Whether no turn runs and none is about to begin.
    pub(crate) fn is_quiet(&self) -> bool {
        !self.is_running && self.is_idle != Some(false) && self.unreported_since.is_none()
    }
}

/// What began the turn of this result, where the result says so.
fn cause_of(end: &TurnEnd<'_>) -> Option<TurnCause> {
    TurnCause::of_origin(&end.origin().map(Text::decode)?)
}

#[cfg(test)]
mod tests {
    use cr_event::Raw;

    use super::*;

    fn result(text: &str) -> bool {
        let mut turns = Turns::default();
        turns.told_busy();
        turns.begin(None);
        turns.has_result(&TurnEnd::new(Raw::of(text.as_bytes()).expect("JSON")))
    }

    #[test]
    fn an_empty_result_does_not_end_a_turn() {
        assert!(!result(
            r#"{"type":"result","subtype":"success","num_turns":0,"result":""}"#
        ));
        assert!(result(
            r#"{"type":"result","subtype":"success","num_turns":1,"result":""}"#
        ));
        assert!(result(
            r#"{"type":"result","subtype":"error_during_execution","num_turns":0,"is_error":true}"#
        ));
        assert!(result(
            r#"{"type":"result","subtype":"success","num_turns":0,"result":"Blank prompt"}"#
        ));
    }

    #[test]
    fn a_turn_that_is_announced_twice_is_one_turn() {
        let mut turns = Turns::default();
        turns.begin(Some(TurnCause::Message));
        turns.begin(None);
        assert_eq!((turns.number, turns.cause), (1, Some(TurnCause::Message)));
        turns.spoke();
        turns.begin(None);
        assert_eq!(turns.number, 2);
    }
}
