//! The turns of one task, as they are printed.

use cr_estimate::Estimate;
use serde::Serialize;

/// The JSON Schema of [`Turns`].
pub(crate) const SCHEMA: &str = include_str!("../schema.json");

/// The turns of one task of the command line.
#[derive(Debug, Serialize)]
pub(crate) struct Turns {
    /// The limit of turns.
    ///
    /// Example: `20`
    pub(crate) max_turns: u64,
    /// The evidence for it.
    ///
    /// Example: `"2 scope phrases: across, entire codebase"`
    pub(crate) max_turns_reason: String,
}

impl From<Estimate> for Turns {
    fn from(estimate: Estimate) -> Self {
        Self {
            max_turns: estimate.max_turns,
            max_turns_reason: estimate.reason,
        }
    }
}
