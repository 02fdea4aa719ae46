//! Finds the run that the user names.

use std::path::Path;

use anyhow::anyhow;
use cr_io::{Exit, sanitized};

use crate::{Run, file, runs_in};

/// The latest run in `runs`.
pub fn last_run(runs: &Path) -> anyhow::Result<Run> {
    let first = runs_in(runs).into_iter().next();
    let first = first.ok_or_else(|| anyhow!("there is no run yet").context(Exit::NoInput));
    readable(first?)
}

/// The run in `runs` called `name`: a directory, an id, a name, a session's id,
/// or the beginning of an id that no other has.
pub fn find_run(runs: &Path, name: &str) -> anyhow::Result<Run> {
    if name.contains('/') && is_run(Path::new(name)) {
        return readable(Run::new(std::path::absolute(name)?));
    }
    if !name.contains('/') && !name.is_empty() && is_run(&runs.join(name)) {
        return readable(Run::new(runs.join(name)));
    }
    let all = runs_in(runs);
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

/// `run`, unless a later version made it.
fn readable(run: Run) -> anyhow::Result<Run> {
    run.refuse_newer()?;
    Ok(run)
}

fn is_run(dir: &Path) -> bool {
    let marks = [file::LOCK, file::STARTED, file::EXIT];
    marks.iter().any(|mark| dir.join(mark).exists())
}
