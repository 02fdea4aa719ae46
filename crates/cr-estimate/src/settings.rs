//! The bounds of an estimate, and the turns of each type of task.

use std::collections::BTreeMap;

/// The lowest value of a bound.
pub const LOWEST: u64 = 3;

/// The highest value of a bound.
pub const HIGHEST: u64 = 1000;

/// The lowest and the highest number of turns of an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    min: u64,
    max: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            min: LOWEST,
            max: 30,
        }
    }
}

impl Bounds {
    /// Bounds from `min` to `max`; an error if one is outside [`LOWEST`] to
    /// [`HIGHEST`], or `min` is above `max`.
    pub fn new(min: u64, max: u64) -> Result<Self, String> {
        let allowed = LOWEST..=HIGHEST;
        if !allowed.contains(&min) {
            return Err(format!(
                "the minimum of turns is {min}, not {LOWEST} to {HIGHEST}"
            ));
        }
        if !allowed.contains(&max) {
            return Err(format!(
                "the maximum of turns is {max}, not {LOWEST} to {HIGHEST}"
            ));
        }
        if min > max {
            return Err(format!(
                "the minimum of turns, {min}, is above the maximum, {max}"
            ));
        }
        Ok(Self { min, max })
    }

    /// The lowest number of turns.
    pub fn min(self) -> u64 {
        self.min
    }

    /// The highest number of turns.
    pub fn max(self) -> u64 {
        self.max
    }

    /// The number within the bounds that is nearest to `turns`.
    pub fn bound(self, turns: u64) -> u64 {
        turns.clamp(self.min, self.max)
    }
}

/// The turns of each type of task. Upper and lower case do not matter in names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnsByType(BTreeMap<String, u64>);

impl Default for TurnsByType {
    fn default() -> Self {
        let types = [
            ("validation", 5),
            ("code_generation", 12),
            ("refactoring", 15),
            ("debugging", 20),
            ("error_analysis", 8),
            ("planning", 5),
            ("documentation", 3),
            ("testing", 8),
        ];
        Self(types.map(|(name, turns)| (name.to_owned(), turns)).into())
    }
}

impl TurnsByType {
    /// The name of a type as the table has it.
    pub fn name(task_type: &str) -> String {
        task_type.trim().to_lowercase()
    }

    /// Sets the turns of `task_type`; the other types keep theirs.
    pub fn set(&mut self, task_type: &str, turns: u64) {
        self.0.insert(Self::name(task_type), turns);
    }

    /// The turns of `task_type`, if the table has it.
    pub fn get(&self, task_type: &str) -> Option<u64> {
        self.0.get(&Self::name(task_type)).copied()
    }

    /// Every type and its turns, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().map(|(name, &turns)| (name.as_str(), turns))
    }
}

/// What an estimate depends on, apart from the task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The bounds of every estimate.
    pub bounds: Bounds,
    /// The types that have a number of turns of their own.
    pub by_type: TurnsByType,
}
