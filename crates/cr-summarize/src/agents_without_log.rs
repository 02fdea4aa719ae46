//! Subagents whose own log is missing.
//!
//! The `progress` lines of a session's log carry the messages of a subagent, but
//! not the last one, which is in the result of its call.

use std::collections::HashSet;

use cr_event::{Event, Text};
use cr_usage::key;

/// Subagents that are remembered; a log has a few.
const MOST: usize = 10_000;

/// The subagents with messages in `progress` lines and no log of their own.
#[derive(Debug, Default)]
pub(crate) struct AgentsWithoutLog(HashSet<u64>);

impl AgentsWithoutLog {
    /// Takes the subagent of a message in a `progress` line.
    pub(crate) fn carried(&mut self, agent: Option<Text<'_>>) {
        if self.0.len() < MOST {
            self.0.insert(key(&[agent.unwrap_or_default().bytes()]));
        }
    }

    /// Takes a line of a subagent's own log.
    pub(crate) fn own_line(&mut self, event: &Event<'_>) {
        if !self.0.is_empty()
            && let Some(agent) = event.agent_of_log()
        {
            self.0.remove(&key(&[agent.bytes()]));
        }
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
