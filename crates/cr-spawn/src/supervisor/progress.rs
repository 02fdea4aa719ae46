//! How far a run has come, and what is known of its end.

use std::time::{Duration, Instant};

use cr_agent::AgentOptions;

use crate::guardian_protocol::LeftoverReport;
use crate::phases::{Action, State};

/// The phase of a run, until when it lasts, and the leftover processes.
#[derive(Debug)]
pub(crate) struct Progress {
    pub(crate) state: State,
    /// When the phase ends by itself.
    pub(super) deadline: Option<Instant>,
    pub(crate) leftovers: LeftoverReport,
}

impl Progress {
    pub(super) fn new(options: &AgentOptions) -> Self {
        let (state, actions) = State::new(options.clocks.grace, options.keep_children);
        let mut progress = Self {
            state,
            deadline: None,
            leftovers: LeftoverReport::default(),
        };
        for action in actions {
            if let Action::SetDeadline(limit) = action {
                progress.set_deadline(limit);
            }
        }
        progress
    }

    pub(super) fn set_deadline(&mut self, limit: Option<Duration>) {
        self.deadline = limit.map(|limit| Instant::now() + limit);
    }

    pub(super) fn is_late(&self) -> bool {
        self.deadline
            .is_some_and(|deadline| deadline <= Instant::now())
    }

    /// Leaves `gap` out of the phase's time.
    pub(super) fn exclude(&mut self, gap: Duration) {
        self.deadline = self.deadline.map(|deadline| deadline + gap);
    }
}
