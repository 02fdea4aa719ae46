//! The limits of an attempt, and its clocks.

use std::time::Duration;

/// The limits of an attempt. A limit that is not set is the supervisor's default:
/// none for money, turns and total time, and its own values for the other clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// Dollars.
    pub budget_usd: Option<f64>,
    /// Turns.
    pub max_turns: Option<u64>,
    /// Time in all.
    pub timeout: Option<Duration>,
    /// Time to the first line.
    pub startup: Option<Duration>,
    /// Silence while the model works.
    pub idle: Option<Duration>,
    /// Time for one call of a tool.
    pub tool: Option<Duration>,
    /// Time for one turn.
    pub turn: Option<Duration>,
}

impl Limits {
    /// How long `clock` gives an attempt.
    pub fn of(&self, clock: Clock) -> Option<Duration> {
        match clock {
            Clock::Timeout => self.timeout,
            Clock::Startup => self.startup,
            Clock::Idle => self.idle,
            Clock::Tool => self.tool,
            Clock::Turn => self.turn,
        }
    }

    /// The same with `time` on `clock`.
    #[must_use]
    pub fn with(mut self, clock: Clock, time: Option<Duration>) -> Self {
        let field = match clock {
            Clock::Timeout => &mut self.timeout,
            Clock::Startup => &mut self.startup,
            Clock::Idle => &mut self.idle,
            Clock::Tool => &mut self.tool,
            Clock::Turn => &mut self.turn,
        };
        *field = time;
        self
    }
}

/// A clock that can end an attempt before its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The whole attempt.
    Timeout,
    /// The time to the first line.
    Startup,
    /// Silence.
    Idle,
    /// One call of a tool.
    Tool,
    /// One turn.
    Turn,
}

impl Clock {
    /// Every clock.
    pub const ALL: [Self; 5] = [
        Self::Timeout,
        Self::Startup,
        Self::Idle,
        Self::Tool,
        Self::Turn,
    ];

    /// The clock that `cr/limit` and `cr/exit` call `word`.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|clock| clock.as_str() == word)
    }

    /// The word in `cr/limit` and `cr/exit`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Startup => "startup",
            Self::Idle => "idle",
            Self::Tool => "tool",
            Self::Turn => "turn",
        }
    }

    /// The option of the supervisor that sets it, without dashes before it.
    pub fn option(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Startup => "startup-timeout",
            Self::Idle => "idle-timeout",
            Self::Tool => "tool-timeout",
            Self::Turn => "turn-timeout",
        }
    }
}

/// The clock that ended an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RanOut {
    /// Which one.
    pub clock: Clock,
    /// Its limit, if that is known.
    pub limit: Option<Duration>,
}
