//! Lines of a run of several attempts: `cr/task`, `cr/run` and `cr/wave`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use cr_event::Event;

use crate::field::object;
use crate::{LineBody, Subtype};

object! {
    /// `cr/task`: a change of a task.
    pub struct Task<'a> {
        /// The task.
        id: Cow<'a, str>,
        /// The number of the attempt, from 1; 0 before the first.
        attempt: u32,
        /// Its state now.
        state: Cow<'a, str>,
        /// The verdict on an attempt that ended; only then is it there.
        #[serde(skip_serializing_if = "Option::is_none")]
        outcome: Option<Cow<'a, str>>,
        /// What the attempt cost.
        #[serde(skip_serializing_if = "Option::is_none")]
        cost_usd: Option<f64>,
        /// The commits of the attempt.
        #[serde(skip_serializing_if = "Option::is_none")]
        commits: Option<Vec<Cow<'a, str>>>,
        /// Why its state changed.
        reason: Cow<'a, str>,
        /// One sentence on the outcome.
        #[serde(skip_serializing_if = "Option::is_none")]
        why: Option<Cow<'a, str>>,
        /// The turns of the model.
        #[serde(skip_serializing_if = "Option::is_none")]
        num_turns: Option<u64>,
        /// When the attempt began.
        #[serde(skip_serializing_if = "Option::is_none")]
        started_at: Option<Cow<'a, str>>,
        /// When it ended.
        #[serde(skip_serializing_if = "Option::is_none")]
        ended_at: Option<Cow<'a, str>>,
        /// The run directory of the attempt.
        #[serde(skip_serializing_if = "Option::is_none")]
        run_dir: Option<Cow<'a, str>>,
    }
}

impl LineBody for Task<'_> {
    const SUBTYPE: Subtype = Subtype::Task;
}

/// Whether `event` says that an attempt begins: it is a `cr/task` line, and only
/// an attempt that ended has an outcome.
pub fn begins_attempt(event: &Event<'_>) -> bool {
    Subtype::of(event) == Some(Subtype::Task) && event.line.get("outcome").is_none()
}

object! {
    /// `cr/run`: a change of the whole run.
    pub struct Run<'a> {
        /// Its state now.
        state: Cow<'a, str>,
        /// Why its state changed.
        reason: Cow<'a, str>,
        /// Its directory.
        #[serde(skip_serializing_if = "Option::is_none")]
        run_dir: Option<Cow<'a, str>>,
        /// The command that continues it.
        #[serde(skip_serializing_if = "Option::is_none")]
        next: Option<Cow<'a, str>>,
    }
}

impl LineBody for Run<'_> {
    const SUBTYPE: Subtype = Subtype::Run;
}

object! {
    /// `cr/wave`: a change of a wave of tasks. Written by a later version.
    pub struct Wave<'a> {
        /// Its number, from 1.
        n: u64,
        /// Its state now.
        state: Cow<'a, str>,
        /// How many tasks are in each state.
        counts: BTreeMap<Cow<'a, str>, u64>,
        /// What it cost so far, in US dollars.
        spent: Option<f64>,
    }
}

impl LineBody for Wave<'_> {
    const SUBTYPE: Subtype = Subtype::Wave;
}
