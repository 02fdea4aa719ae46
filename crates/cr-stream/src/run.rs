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
        ///
        /// Example: `"api"`
        id: Cow<'a, str>,
        /// The number of the attempt, from 1; 0 before the first.
        ///
        /// Example: `1`
        attempt: u32,
        /// Its state now: `running`, `adopted` (a process before this one started it),
        /// `completed`, `retrying`, `failed`, `timed_out`, `needs-human`, `lost`,
        /// `waiting` or `stopped`.
        ///
        /// Example: `"completed"`
        state: Cow<'a, str>,
        /// The verdict on an attempt that ended, as `outcome` of cr-summarize(1).
        ///
        /// Absent: while it is running.
        /// Example: `"success"`
        #[serde(skip_serializing_if = "Option::is_none")]
        outcome: Option<Cow<'a, str>>,
        /// The agent's session in the attempt.
        ///
        /// Absent: if it has not ended, or had none.
        /// Example: `"80f8ae6e-b027-4253-8e9c-1ffd717366a1"`
        #[serde(skip_serializing_if = "Option::is_none")]
        session_id: Option<Cow<'a, str>>,
        /// What the attempt cost, in US dollars.
        ///
        /// Absent: if it has not ended, or without evidence.
        /// Example: `0.023604`
        #[serde(skip_serializing_if = "Option::is_none")]
        cost_usd: Option<f64>,
        /// The commits of the attempt, `sha subject`.
        ///
        /// Absent: if it has not ended.
        /// Example: `["9ab41de fix the parser"]`
        #[serde(skip_serializing_if = "Option::is_none")]
        commits: Option<Vec<Cow<'a, str>>>,
        /// The merge commit of its work on the branch of the run.
        ///
        /// Absent: if it has not ended, or nothing was merged.
        /// Example: `"4c1a0b8d2f6e93a7c5b1d0e8f4a2963b7c5d1e0f"`
        #[serde(skip_serializing_if = "Option::is_none")]
        merged: Option<Cow<'a, str>>,
        /// Why its state changed.
        ///
        /// Example: `"the work is done"`
        reason: Cow<'a, str>,
        /// One sentence on the outcome.
        ///
        /// Absent: as `outcome`.
        /// Example: `"The run ended with a good result."`
        #[serde(skip_serializing_if = "Option::is_none")]
        why: Option<Cow<'a, str>>,
        /// The turns of the model.
        ///
        /// Absent: if it has not ended, or had no result.
        /// Example: `14`
        #[serde(skip_serializing_if = "Option::is_none")]
        num_turns: Option<u64>,
        /// When the attempt began.
        ///
        /// Absent: if it has not ended, or never began.
        /// Example: `"2026-11-18T03:15:00.000Z"`
        #[serde(skip_serializing_if = "Option::is_none")]
        started_at: Option<Cow<'a, str>>,
        /// When it ended.
        ///
        /// Absent: as `outcome`.
        /// Example: `"2026-11-18T03:16:14.201Z"`
        #[serde(skip_serializing_if = "Option::is_none")]
        ended_at: Option<Cow<'a, str>>,
        /// The run directory of the attempt.
        ///
        /// Absent: if it has none.
        /// Example: `"/home/dev/.local/state/claude-runner/orchestrate/20261118T031500Z-1f0c22ab/attempts/api/1"`
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
        /// Its state now: `started`, `resumed`, `ended`, `stopped`, `paused`, `breakpoint`
        /// or `later`.
        ///
        /// Example: `"started"`
        state: Cow<'a, str>,
        /// Why its state changed.
        ///
        /// Example: `"1 done, 0 failed, 0 need a person, 0 not started"`
        reason: Cow<'a, str>,
        /// Its directory.
        ///
        /// Absent: except on its first line.
        /// Example: `"/home/dev/.local/state/claude-runner/orchestrate/20261118T031500Z-1f0c22ab"`
        #[serde(skip_serializing_if = "Option::is_none")]
        run_dir: Option<Cow<'a, str>>,
        /// The command that continues it.
        ///
        /// Absent: if there is nothing to continue.
        /// Example: `"cr-orchestrate --resume-run 20261118T031500Z-1f0c22ab"`
        #[serde(skip_serializing_if = "Option::is_none")]
        next: Option<Cow<'a, str>>,
        /// The command that brings the merged work to the user's branch.
        ///
        /// Absent: except on its last line, and if there is nothing to bring.
        /// Example: `"git merge cr/20261118T031500Z-1f0c22ab"`
        #[serde(skip_serializing_if = "Option::is_none")]
        merge: Option<Cow<'a, str>>,
    }
}

impl LineBody for Run<'_> {
    const SUBTYPE: Subtype = Subtype::Run;
}

object! {
    /// `cr/wave`: a change of a wave of tasks.
    pub struct Wave<'a> {
        /// Its number: the `wave` of its tasks.
        ///
        /// Example: `0`
        n: u64,
        /// Its state now: `running` from its first attempt on, `completed` if all its
        /// tasks are done, `incomplete` if some are not and none of them can go on.
        ///
        /// Example: `"completed"`
        state: Cow<'a, str>,
        /// How many of its tasks are in each state, by the names of `cr/task`, and
        /// `pending` before the first attempt.
        ///
        /// Example: `{"completed": 3, "failed": 1}`
        counts: BTreeMap<Cow<'a, str>, u64>,
        /// What its tasks cost so far, in US dollars, as far as that is known.
        ///
        /// Null: without evidence.
        /// Example: `1.25`
        spent: Option<f64>,
    }
}

impl LineBody for Wave<'_> {
    const SUBTYPE: Subtype = Subtype::Wave;
}
