//! Finds the run that the user names.

use std::path::PathBuf;

use crate::args::Which;
use cr_config::Config;
use cr_rundir::{Run, file};

/// The directory that all runs are in.
pub(crate) fn runs() -> anyhow::Result<PathBuf> {
    Ok(Config::load()?.state_dir()?.path().join(file::RUNS))
}

/// The run that `which` names.
pub(crate) fn one(which: &Which) -> anyhow::Result<Run> {
    match &which.run {
        Some(name) => named(name),
        None => last(),
    }
}

/// The run that was started last.
pub(crate) fn last() -> anyhow::Result<Run> {
    cr_rundir::last_run(&runs()?)
}

/// The run called `name`.
pub(crate) fn named(name: &str) -> anyhow::Result<Run> {
    cr_rundir::find_run(&runs()?, name)
}

/// Whether `name` is the id of an orchestrated run, or the start of one.
pub(crate) fn is_orchestrated(name: &str, config: &Config) -> anyhow::Result<bool> {
    let all = config.state_dir()?.path().join(file::ORCHESTRATED);
    let entries = std::fs::read_dir(all).into_iter().flatten().flatten();
    let mut ids = entries.filter_map(|entry| entry.file_name().into_string().ok());
    Ok(name.len() >= 4 && ids.any(|id| id.starts_with(name)))
}
