//! Resume or refresh: the rule, which `next` and `backtest` share.

use crate::thresholds::{Level, Thresholds};

/// What is known of a session when its next task is about to begin.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Situation {
    /// Tokens in the context.
    pub(crate) used: Option<u64>,
    pub(crate) window: Option<u64>,
    /// The last run ended because the context was full.
    pub(crate) is_exhausted: bool,
    /// The context was compacted after the last message.
    pub(crate) is_compacted: bool,
    /// The agent has the session open.
    pub(crate) is_running: bool,
    /// The cache still has the context; unknown without a time.
    pub(crate) is_warm: Option<bool>,
    /// What the context of the next task costs, if the session is resumed.
    pub(crate) resume_usd: Option<f64>,
    /// The same with a new session.
    pub(crate) refresh_usd: Option<f64>,
}

/// Why it is one or the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The last run ended because the context was full.
    Exhausted,
    /// A mark for a refresh is reached.
    Full,
    /// How full the context is cannot be said.
    UnknownContext,
    /// Its size cannot be said.
    UnknownWindow,
    /// The agent has just made room.
    Compacted,
    /// The agent has the session open; a message costs least.
    Running,
    /// The cache still has the context.
    Warm,
    /// The cache has expired, and a new session is cheaper.
    RefreshCheaper,
    /// The cache has expired, and a new session is not cheaper.
    ResumeCheaper,
    /// The cache has expired, and a price is not known.
    NoPrice,
}

impl Reason {
    /// Whether it is one for a new session.
    pub(crate) fn is_refresh(self) -> bool {
        matches!(self, Self::Exhausted | Self::Full | Self::RefreshCheaper)
    }
}

impl Situation {
    /// How full the context is.
    pub(crate) fn level(&self, marks: &Thresholds) -> Option<Level> {
        if self.is_exhausted {
            return Some(Level::Emergency);
        }
        let window = self.window.filter(|window| *window > 0)?;
        Some(marks.level(self.used?, window))
    }

    /// The rule.
    pub(crate) fn reason(&self, marks: &Thresholds) -> Reason {
        let level = self.level(marks);
        if self.is_exhausted {
            return Reason::Exhausted;
        }
        if self.used.is_none() {
            return Reason::UnknownContext;
        }
        let Some(level) = level else {
            return Reason::UnknownWindow;
        };
        if level >= Level::Refresh {
            return Reason::Full;
        }
        if self.is_running {
            return Reason::Running;
        }
        if self.is_compacted {
            return Reason::Compacted;
        }
        match (self.is_warm, self.resume_usd, self.refresh_usd) {
            (Some(true), ..) => Reason::Warm,
            (_, Some(resume), Some(refresh)) if refresh < resume => Reason::RefreshCheaper,
            (_, Some(_), Some(_)) => Reason::ResumeCheaper,
            _ => Reason::NoPrice,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARKS: Thresholds = Thresholds {
        warn: 0.70,
        refresh: 0.80,
        emergency: 0.95,
    };

    fn situation(used: u64) -> Situation {
        Situation {
            used: Some(used),
            window: Some(10_000),
            is_warm: Some(false),
            resume_usd: Some(2.0),
            refresh_usd: Some(1.0),
            ..Situation::default()
        }
    }

    #[test]
    fn the_cache_and_the_prices_decide_below_the_mark_and_never_above() {
        let warm = |used| Situation {
            is_warm: Some(true),
            ..situation(used)
        };
        let dear = |used| Situation {
            refresh_usd: Some(3.0),
            ..situation(used)
        };
        let unpriced = |used| Situation {
            refresh_usd: None,
            ..situation(used)
        };
        let cases = [
            (warm(5000), Reason::Warm),
            (warm(7500), Reason::Warm),
            (warm(8000), Reason::Full),
            (situation(5000), Reason::RefreshCheaper),
            (situation(7500), Reason::RefreshCheaper),
            (situation(9500), Reason::Full),
            (dear(5000), Reason::ResumeCheaper),
            (dear(8000), Reason::Full),
            (unpriced(7500), Reason::NoPrice),
            (unpriced(8000), Reason::Full),
        ];
        for (situation, reason) in cases {
            assert_eq!(situation.reason(&MARKS), reason, "{situation:?}");
        }
    }

    #[test]
    fn what_is_not_known_is_no_reason_for_a_new_session() {
        let cases = [
            (
                Situation {
                    window: None,
                    ..situation(9999)
                },
                Reason::UnknownWindow,
            ),
            (
                Situation {
                    used: None,
                    ..situation(0)
                },
                Reason::UnknownContext,
            ),
            (
                Situation {
                    is_compacted: true,
                    ..situation(100)
                },
                Reason::Compacted,
            ),
            (
                Situation {
                    is_exhausted: true,
                    window: None,
                    ..situation(100)
                },
                Reason::Exhausted,
            ),
        ];
        for (situation, reason) in cases {
            assert_eq!(situation.reason(&MARKS), reason, "{situation:?}");
        }
    }
}
