//! How many turns a task deserves.
//!
//! [`estimate`] reads the fields of a task, [`from_history`] the turns of finished
//! tasks, and [`with_history`] prefers the second. All are functions without state
//! or clock. The result names its evidence.

mod analysis;
mod history;
mod settings;

pub use analysis::{Task, estimate};
pub use history::{HISTORY_NEEDED, from_history, with_history};
pub use settings::{Bounds, HIGHEST, LOWEST, Settings, TurnsByType};

/// A number of turns, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// The limit of turns, within the bounds.
    pub max_turns: u64,
    /// The evidence, as a part of a sentence.
    pub reason: String,
}

impl Estimate {
    /// `turns` within `bounds`. The reason says so if a bound changes the number.
    fn within(bounds: Bounds, turns: u64, mut reason: String) -> Self {
        let max_turns = bounds.bound(turns);
        if max_turns < turns {
            reason += &format!("; {turns} is above the maximum of {max_turns}");
        } else if max_turns > turns {
            reason += &format!("; {turns} is below the minimum of {max_turns}");
        }
        Self { max_turns, reason }
    }
}
