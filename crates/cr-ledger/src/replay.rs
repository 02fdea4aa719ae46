//! A session of the past, played again with another rule.

use cr_usage::{CacheTtl, Prices};

use crate::choice::Situation;
use crate::price::{HANDOFF_TOKENS, Quote, ttl_ms};
use crate::task::{self, Task};
use crate::thresholds::Thresholds;

/// The session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Replay<'a> {
    pub(crate) prices: &'a Prices,
    pub(crate) window: Option<u64>,
    pub(crate) marks: &'a Thresholds,
    /// Two or more.
    pub(crate) tasks: &'a [Task],
}

/// What decides before each task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    /// The rule of `next`.
    Next,
    /// Always the same session.
    Resume,
    /// Always a new one.
    Refresh,
}

/// What a rule costs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Played {
    pub(crate) cost_usd: f64,
    pub(crate) refreshes: u64,
}

/// Why a session cannot be played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unknown {
    Price,
    Context,
}

impl Replay<'_> {
    /// Plays the session.
    pub(crate) fn play(&self, policy: Policy) -> Result<Played, Unknown> {
        let first = self.tasks.first().ok_or(Unknown::Context)?;
        let first_context = first.first_context.ok_or(Unknown::Context)?;
        // The first task is the same whatever the rule.
        let start = self.quote(0, first.calls).written(first_context);
        let mut played = Played {
            cost_usd: start.ok_or(Unknown::Price)?,
            refreshes: 0,
        };
        let mut context = self.after(first_context, first);
        for at in 1..self.tasks.len() {
            let task = &self.tasks[at];
            if played.refreshes == 0 {
                // Still the session of the past, with its compactions.
                let last = self.tasks[at - 1].last_context.ok_or(Unknown::Context)?;
                context = task.first_context.map_or(last, |first| first.min(last));
            }
            let is_refresh = match policy {
                Policy::Resume => false,
                Policy::Refresh => true,
                Policy::Next => self.chooses_refresh(at, context)?,
            };
            let quote = self.quote(at, task.calls);
            let cost = if is_refresh {
                played.refreshes += 1;
                context = self.new_context(at, first_context);
                quote.written(context)
            } else if self.is_warm(at) {
                quote.cached(context)
            } else {
                quote.written(context)
            };
            played.cost_usd += cost.ok_or(Unknown::Price)?;
            context = self.after(context, task);
        }
        Ok(played)
    }

    /// What `next` says before the task `at`: it knows the tasks before it.
    fn chooses_refresh(&self, at: usize, context: u64) -> Result<bool, Unknown> {
        let first_context = self.tasks[0].first_context.ok_or(Unknown::Context)?;
        let calls = self.tasks[..at].iter().map(|task| task.calls).collect();
        let quote = self.quote(at, task::median(calls).unwrap_or(1));
        let is_warm = self.is_warm(at);
        let situation = Situation {
            used: Some(context),
            window: self.window,
            is_warm: Some(is_warm),
            resume_usd: if is_warm {
                quote.cached(context)
            } else {
                quote.written(context)
            },
            refresh_usd: quote.written(self.new_context(at, first_context)),
            ..Situation::default()
        };
        Ok(situation.reason(self.marks).is_refresh())
    }

    /// What a new session before the task `at` begins with.
    fn new_context(&self, at: usize, first_context: u64) -> u64 {
        first_context + HANDOFF_TOKENS + task::reading_in(&self.tasks[..at])
    }

    /// Whether the cache still has the context when the task `at` begins.
    fn is_warm(&self, at: usize) -> bool {
        let pause = self.tasks[at].started_at - self.tasks[at - 1].ended_at;
        pause < ttl_ms(self.ttl(at))
    }

    /// How long the cache keeps what was written before the task `at`.
    fn ttl(&self, at: usize) -> CacheTtl {
        let before = &self.tasks[..at.max(1)];
        let known = before.iter().rev().find_map(|task| task.ttl);
        known.unwrap_or(CacheTtl::Minutes)
    }

    /// The context after a task; the agent keeps it within the window.
    fn after(&self, context: u64, task: &Task) -> u64 {
        let context = context + task.growth;
        self.window.map_or(context, |window| context.min(window))
    }

    fn quote(&self, at: usize, calls: u64) -> Quote<'_> {
        Quote {
            prices: self.prices,
            model: &self.tasks[at].model,
            ttl: self.ttl(at),
            calls,
        }
    }
}
