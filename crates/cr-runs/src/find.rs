//! Finds the run that the user names.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use cr_io::{Exit, sanitized};

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

/// `run`, unless a later version made it.
fn readable(run: Run) -> anyhow::Result<Run> {
    run.refuse_newer()?;
    Ok(run)
}

/// The run that was started last.
pub(crate) fn last() -> anyhow::Result<Run> {
    let all = cr_rundir::runs_in(&runs()?);
    let first = all.into_iter().next();
    let first = first.ok_or_else(|| anyhow!("there is no run yet").context(Exit::NoInput));
    readable(first?)
}

/// The run called `name`: a directory, an id, a name, a session's id, or the
/// beginning of an id that no other has.
pub(crate) fn named(name: &str) -> anyhow::Result<Run> {
    let runs = runs()?;
    if name.contains('/') && is_run(Path::new(name)) {
        return readable(Run::new(std::path::absolute(name)?));
    }
    if !name.contains('/') && !name.is_empty() && is_run(&runs.join(name)) {
        return readable(Run::new(runs.join(name)));
    }
    let all = cr_rundir::runs_in(&runs);
    let called = all
        .iter()
        .find(|run| run.started().name.as_deref() == Some(name));
    let of_session = || {
        all.iter()
            .find(|run| run.session().as_deref() == Some(name))
    };
    if let Some(run) = called.or_else(of_session) {
        return readable(run.clone());
    }
    let mut begin = all.iter().filter(|run| run.id().starts_with(name));
    match (begin.next(), begin.next()) {
        (Some(run), None) if name.len() >= 4 => readable(run.clone()),
        (Some(_), Some(_)) if name.len() >= 4 => Err(anyhow!(
            "{}: several run ids begin with this",
            sanitized(name)
        )
        .context(Exit::NoInput)),
        _ => Err(anyhow!("{}: no such run", sanitized(name)).context(Exit::NoInput)),
    }
}

/// Whether `name` is the id of an orchestrated run, or the start of one.
pub(crate) fn is_orchestrated(name: &str, config: &Config) -> anyhow::Result<bool> {
    let all = config.state_dir()?.path().join(file::ORCHESTRATED);
    let entries = std::fs::read_dir(all).into_iter().flatten().flatten();
    let mut ids = entries.filter_map(|entry| entry.file_name().into_string().ok());
    Ok(name.len() >= 4 && ids.any(|id| id.starts_with(name)))
}

fn is_run(dir: &Path) -> bool {
    let marks = [file::LOCK, file::STARTED, file::EXIT];
    marks.iter().any(|mark| dir.join(mark).exists())
}
