//! The time of a run, and the agent's activity, which the clocks depend on.

use std::time::{Duration, Instant};

use cr_agent::Clocks;

use crate::activity::Activity;
use crate::clocks::{self, Running};

/// Silence after which a sign of life is written, and the longest time between
/// two: only a write shows that the reader of our reader has left.
const FIRST_HEARTBEAT: Duration = Duration::from_secs(1);
const LONGEST_HEARTBEAT: Duration = Duration::from_mins(1);

/// If a round takes this much longer than its wait, this process was stopped.
pub(super) const STOPPED_GAP: Duration = Duration::from_secs(2);

/// What the clocks need to know.
#[derive(Debug)]
pub(crate) struct Timing {
    /// When the agent was started, later by the time that does not count.
    pub(crate) started: Instant,
    /// How long this process was stopped.
    pub(crate) stopped: Duration,
    /// When the last wait ended.
    pub(super) last_round: Instant,
    pub(crate) activity: Activity,
    /// When the agent last wrote, in whatever state.
    pub(super) last_heard: Instant,
    /// From the last line to the next sign of life.
    pub(super) heartbeat: Duration,
}

impl Timing {
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self {
            started: now,
            stopped: Duration::ZERO,
            last_round: now,
            activity: Activity::new(now),
            last_heard: now,
            heartbeat: FIRST_HEARTBEAT,
        }
    }

    /// Starts the clocks anew: the agent runs.
    pub(super) fn agent_started(&mut self, is_resumed: bool) {
        self.started = Instant::now();
        self.activity = Activity::new(self.started);
        self.last_heard = self.started;
        self.activity.is_resumed = is_resumed;
    }

    /// The agent wrote lines, and they are read: our own time to read them is not
    /// the agent's silence.
    pub(super) fn agent_wrote(&mut self) {
        self.heartbeat = FIRST_HEARTBEAT;
        self.last_heard = Instant::now();
        self.activity.sign_of_life(self.last_heard);
    }

    pub(super) fn heartbeat_written(&mut self) {
        self.heartbeat = (self.heartbeat * 2).min(LONGEST_HEARTBEAT);
    }

    /// The clock that runs out next.
    pub(super) fn clock(&self, clocks: &Clocks, expects_turn: bool) -> Option<Running> {
        clocks::next(clocks, &self.activity, self.started, expects_turn)
    }

    /// Ends a wait of at most `limit`. Returns the time in which this process was
    /// stopped, if it was.
    pub(super) fn waited(&mut self, limit: Duration, is_held: bool) -> Option<Duration> {
        // Since the last round, not since the poll: a stop may come anywhere.
        let took = self.last_round.elapsed();
        self.last_round = Instant::now();
        if took > limit + STOPPED_GAP {
            return Some(took.saturating_sub(limit));
        }
        if is_held {
            // The agent may be waiting for our reader, or for a person: its silence is
            // not its own.
            self.activity.shift(took);
        }
        None
    }

    /// Leaves `gap` out of every clock.
    pub(super) fn exclude(&mut self, gap: Duration) {
        self.stopped += gap;
        self.started += gap;
        self.last_heard += gap;
        self.activity.shift(gap);
    }
}
