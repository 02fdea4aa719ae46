//! The marks at which something is done about a context that fills up.

use anyhow::anyhow;
use clap::Args;
use cr_config::Config;
use cr_io::Exit;

use crate::price::amount;

/// Marks of the command line, which replace those of the configuration.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct ThresholdArgs {
    /// Warn from this part of the context window on, 0 to 1 [default: `context_warn` of
    /// the configuration, else 0.70]
    #[arg(long, value_name = "PART", value_parser = part)]
    warn: Option<f64>,
    /// Refresh from this part on [default: `context_refresh`, else 0.80]
    #[arg(long, value_name = "PART", value_parser = part)]
    refresh: Option<f64>,
    /// Call the refresh an emergency from this part on [default: `context_emergency`,
    /// else 0.95]
    #[arg(long, value_name = "PART", value_parser = part)]
    emergency: Option<f64>,
}

/// The marks, as parts of the context window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Thresholds {
    pub(crate) warn: f64,
    pub(crate) refresh: f64,
    pub(crate) emergency: f64,
}

/// How full a context is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Ok,
    Warning,
    Refresh,
    Emergency,
}

impl Level {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Refresh => "refresh",
            Self::Emergency => "emergency",
        }
    }
}

impl ThresholdArgs {
    /// The marks, in order: each is higher than the one before.
    pub(crate) fn thresholds(self, config: &Config) -> anyhow::Result<Thresholds> {
        let set = |key, default| {
            let value = config.set(key).and_then(|text| text.parse().ok());
            value.unwrap_or(default)
        };
        let given = [
            ("--warn", self.warn, set("context_warn", 0.70)),
            ("--refresh", self.refresh, set("context_refresh", 0.80)),
            (
                "--emergency",
                self.emergency,
                set("context_emergency", 0.95),
            ),
        ];
        let value = |at: usize| given[at].1.unwrap_or(given[at].2);
        for low in [0, 1] {
            if value(low) >= value(low + 1) {
                let text = format!(
                    "{} {} must be below {} {}",
                    given[low].0,
                    value(low),
                    given[low + 1].0,
                    value(low + 1)
                );
                // Values of the file alone were checked when it was read.
                let is_flag = given[low].1.is_some() || given[low + 1].1.is_some();
                let exit = if is_flag { Exit::Usage } else { Exit::Config };
                return Err(anyhow!(text).context(exit));
            }
        }
        Ok(Thresholds {
            warn: value(0),
            refresh: value(1),
            emergency: value(2),
        })
    }
}

impl Thresholds {
    /// How full a window is: a mark that is reached counts.
    pub(crate) fn level(&self, used: u64, window: u64) -> Level {
        let share = amount(used) / amount(window.max(1));
        match share {
            share if share >= self.emergency => Level::Emergency,
            share if share >= self.refresh => Level::Refresh,
            share if share >= self.warn => Level::Warning,
            _ => Level::Ok,
        }
    }
}

fn part(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok();
    number
        .filter(|number| (0.0..=1.0).contains(number))
        .ok_or_else(|| "expected a number from 0 to 1".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_that_is_reached_counts() {
        let marks = Thresholds {
            warn: 0.70,
            refresh: 0.80,
            emergency: 0.95,
        };
        let cases = [
            (5000, 10_000, Level::Ok),
            (6999, 10_000, Level::Ok),
            (7000, 10_000, Level::Warning),
            (7999, 10_000, Level::Warning),
            (8000, 10_000, Level::Refresh),
            (9500, 10_000, Level::Emergency),
            (12_000, 10_000, Level::Emergency),
            (2000, 5000, Level::Ok),
            (3500, 5000, Level::Warning),
            (4100, 5000, Level::Refresh),
            (0, 5000, Level::Ok),
        ];
        for (used, window, level) in cases {
            assert_eq!(marks.level(used, window), level, "{used} of {window}");
        }
    }
}
