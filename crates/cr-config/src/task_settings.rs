//! Settings for tasks: their turns, their time, their context.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::anyhow;
use cr_estimate::{Bounds, HIGHEST, TurnsByType};
use cr_io::{parse_duration, sanitized};
use serde::Deserialize;
use toml::{Spanned, Value};

use crate::config::{Config, Source, line_of};
use crate::settings::TURNS_BY_TYPE;
use crate::value;

/// Settings of which each must be higher than the one before.
const CONTEXT: [&str; 3] = ["context_warn", "context_refresh", "context_emergency"];

/// Where something is done about a context window that fills up, as parts of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContextThresholds {
    /// A warning.
    pub warn: f64,
    /// A new session with a summary.
    pub refresh: f64,
    /// A new session at once.
    pub emergency: f64,
}

/// The turns of a type, and where they come from.
pub(crate) type TypeTurns = (u64, Source);

/// The table `turns_by_type` of a file. The values have lines of their own.
#[derive(Deserialize)]
struct Table {
    turns_by_type: BTreeMap<Spanned<String>, Spanned<Value>>,
}

/// Reads the table, which begins at `line` of `text`.
pub(crate) fn read_types(
    file: &Path,
    text: &str,
    line: usize,
) -> anyhow::Result<BTreeMap<String, TypeTurns>> {
    let place = |line, key: &str| format!("{}:{line}: {}", file.display(), sanitized(key));
    let table: Table = toml::from_str(text).map_err(|_| {
        let text = "expected a table such as { debugging = 20 }";
        anyhow!(text).context(place(line, TURNS_BY_TYPE))
    })?;
    let mut types = BTreeMap::new();
    for (key, given) in table.turns_by_type {
        let line = line_of(text, key.span().start);
        let name = TurnsByType::name(key.get_ref());
        let location = || place(line, &format!("{TURNS_BY_TYPE}.{}", key.get_ref()));
        if name.is_empty() || name.chars().any(char::is_control) {
            let text = "expected a name of one line, not empty";
            return Err(anyhow!(text).context(location()));
        }
        // `check_order` compares it with the bounds, when they are known.
        let turns = value::turns(given.get_ref(), 1, HIGHEST)
            .map_err(|why| anyhow!(why).context(location()))?;
        let source = Source::File(file.to_owned(), line);
        if types.insert(name, (turns, source)).is_some() {
            let text = "the same type twice; upper and lower case do not matter";
            return Err(anyhow!(text).context(location()));
        }
    }
    Ok(types)
}

impl Config {
    /// The bounds and the table for an estimate of turns.
    pub fn turns(&self) -> cr_estimate::Settings {
        let turns = |key| self.get(key).parse().unwrap_or_default();
        // Values from the file are checked when it is read.
        let bounds = Bounds::new(turns("turns_min"), turns("turns_max")).unwrap_or_default();
        let mut by_type = TurnsByType::default();
        for (name, (turns, _)) in &self.turns_by_type {
            by_type.set(name, *turns);
        }
        cr_estimate::Settings { bounds, by_type }
    }

    /// The time limit of a task without a limit and an estimate of its own.
    pub fn task_timeout(&self) -> Duration {
        parse_duration(self.get("task_timeout")).unwrap_or(Duration::from_hours(2))
    }

    /// Where something is done about a context window that fills up.
    pub fn context_thresholds(&self) -> ContextThresholds {
        let [warn, refresh, emergency] = CONTEXT.map(|key| self.number(key));
        ContextThresholds {
            warn,
            refresh,
            emergency,
        }
    }

    /// The file of prices, if one is set.
    pub fn prices(&self) -> Option<PathBuf> {
        self.set("prices").map(PathBuf::from)
    }

    fn number(&self, key: &str) -> f64 {
        self.get(key).parse().unwrap_or_default()
    }

    /// Refuses values that do not fit together.
    pub(crate) fn check_order(&self) -> anyhow::Result<()> {
        for (low, high) in [(CONTEXT[0], CONTEXT[1]), (CONTEXT[1], CONTEXT[2])] {
            if self.number(low) >= self.number(high) {
                return Err(self.out_of_order(low, "a number below", high, "a number above"));
            }
        }
        let (low, high) = ("turns_min", "turns_max");
        if self.number(low) > self.number(high) {
            return Err(self.out_of_order(
                low,
                "a whole number of at most",
                high,
                "a whole number of at least",
            ));
        }
        let bounds = self.turns().bounds;
        for (name, (turns, source)) in &self.turns_by_type {
            if bounds.bound(*turns) != *turns {
                let range = format!(
                    "expected a whole number from {} (turns_min) to {} (turns_max)",
                    bounds.min(),
                    bounds.max()
                );
                let place = format!("{source}: {TURNS_BY_TYPE}.{}", sanitized(name));
                return Err(anyhow!(range).context(place));
            }
        }
        Ok(())
    }

    /// The error about `low`, which is too high for `high`, at a line that sets
    /// one of them.
    fn out_of_order(&self, low: &str, below: &str, high: &str, above: &str) -> anyhow::Error {
        let (key, relation, other) = match self.source(high) {
            Source::File(..) => (high, above, low),
            _ => (low, below, high),
        };
        let text = format!("expected {relation} {} ({other})", self.get(other));
        anyhow!(text).context(format!("{}: {key}", self.source(key)))
    }

    /// The table `turns_by_type` as lines of a configuration, each with its source.
    pub(crate) fn type_lines(&self) -> Vec<String> {
        let settings = self.turns();
        let line = |(name, turns): (&str, u64)| {
            let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            let key = if name.chars().all(is_bare) {
                name.to_owned()
            } else {
                value::quoted(name)
            };
            let turns = settings.bounds.bound(turns);
            let entry = self.turns_by_type.get(name);
            let source = entry.map_or(Source::Default, |(_, source)| source.clone());
            format!("{TURNS_BY_TYPE}.{key} = {turns}  # {source}")
        };
        settings.by_type.iter().map(line).collect()
    }
}
