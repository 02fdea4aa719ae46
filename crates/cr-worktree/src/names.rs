//! The names of branches.

use anyhow::{anyhow, ensure};
use cr_io::Exit;

/// Where the branches of tasks are.
pub(crate) const TASK_BRANCHES: &str = "refs/heads/cr-task/";

/// The branch that collects the proven work of `run`.
pub fn run_branch(run: &str) -> anyhow::Result<String> {
    check(run)?;
    Ok(format!("cr/{run}"))
}

/// The branch of attempt `attempt` of `task`. Two tasks or attempts never share
/// one.
pub fn task_branch(run: &str, task: &str, attempt: u32) -> anyhow::Result<String> {
    check(run)?;
    check(task)?;
    // git allows no `..`. No id has a `+`, so this name is not another task's.
    let dot = if task.ends_with('.') { '+' } else { '.' };
    Ok(format!("cr-task/{run}/{task}{dot}{attempt}"))
}

/// The run in the name of a task's branch.
pub(crate) fn run_of(reference: &str) -> Option<&str> {
    let (run, _) = reference.strip_prefix(TASK_BRANCHES)?.split_once('/')?;
    Some(run)
}

/// Refuses an id that could be something else in a path or a ref. Ids are
/// checked where they are read; this is the last door before git.
fn check(id: &str) -> anyhow::Result<()> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let is_plain = id.starts_with(|c: char| c.is_ascii_alphanumeric())
        && id.len() <= 64
        && id.chars().all(is_allowed)
        && !id.contains("..");
    ensure!(
        is_plain,
        anyhow!("`{}`: not an id", id.escape_debug()).context(Exit::Usage)
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_is_named_after_run_task_and_attempt() {
        assert_eq!(task_branch("r", "a", 2).expect("ok"), "cr-task/r/a.2");
        assert_eq!(task_branch("r", "a.", 2).expect("ok"), "cr-task/r/a.+2");
        assert_eq!(run_branch("r").expect("ok"), "cr/r");
        assert_eq!(run_of("refs/heads/cr-task/r/a.2"), Some("r"));
        assert_eq!(run_of("refs/heads/cr/r"), None);
    }

    #[test]
    fn what_is_no_id_is_refused() {
        let long = "a".repeat(65);
        for id in [
            "", ".", "-a", "a/b", "a..b", "../a", "a b", "a\n", "ä", &long,
        ] {
            assert!(task_branch("r", id, 1).is_err(), "{id}");
            assert!(run_branch(id).is_err(), "{id}");
        }
    }
}
