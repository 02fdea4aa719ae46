//! An estimate from the turns of finished tasks.

use cr_io::counted;

use crate::{Bounds, Estimate, Settings, Task, estimate};

/// Fewer finished tasks than this give no estimate.
pub const HISTORY_NEEDED: usize = 20;

/// The 90th percentile of the turns of finished tasks, by nearest rank, within
/// `bounds`; or why there is none.
pub fn from_history(turns: &[u64], bounds: Bounds) -> Result<Estimate, String> {
    let count = u64::try_from(turns.len()).unwrap_or(u64::MAX);
    let tasks = counted(count, "finished task");
    let mut sorted = turns.to_vec();
    sorted.sort_unstable();
    // Nine of ten tasks need no more turns than this one.
    let rank = (sorted.len() * 9).div_ceil(10);
    let ninth = rank.checked_sub(1).and_then(|at| sorted.get(at));
    match ninth.filter(|_| sorted.len() >= HISTORY_NEEDED) {
        Some(&p90) => {
            let reason = format!("90% of {tasks} took at most {}", counted(p90, "turn"));
            Ok(Estimate::within(bounds, p90, reason))
        }
        None => Err(format!("{tasks}, at least {HISTORY_NEEDED} needed")),
    }
}

/// The estimate from the turns of finished tasks, if there are enough; otherwise
/// that of the task's fields, with the reason for it.
pub fn with_history(
    task: &Task<'_>,
    settings: &Settings,
    history: Result<Vec<u64>, String>,
) -> Estimate {
    match history.and_then(|turns| from_history(&turns, settings.bounds)) {
        Ok(by_history) => by_history,
        Err(why) => {
            let mut by_fields = estimate(task, settings);
            by_fields.reason += &format!("; no estimate from history: {why}");
            by_fields
        }
    }
}
