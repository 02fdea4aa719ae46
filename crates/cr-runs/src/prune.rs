//! `cr-runs prune`: old runs go, the oldest first.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, SystemTime};

use anyhow::Context;
use cr_io::{Exit, Out};
use jiff::Timestamp;

use crate::run::{self, Run};

/// How often a run that begins looks after the old ones.
const OFTEN: Duration = Duration::from_hours(24);

/// What may stay.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keep {
    pub(crate) younger_than: Duration,
    pub(crate) bytes: u64,
}

/// Removes what is too old, and then the oldest until the rest fits; prints what
/// goes. A run that goes on, or that has a file `keep`, stays.
pub(crate) fn prune(
    runs: &Path,
    keep: Keep,
    is_dry: bool,
    out: impl Write,
) -> anyhow::Result<Exit> {
    let mut out = Out::new(out);
    let now = Timestamp::now();
    let mut room = keep.bytes;
    for run in run::all(runs) {
        let size = size_of(&run.dir);
        let is_old = run.began().is_some_and(|began| {
            let age = Duration::try_from(now.duration_since(began));
            age.is_ok_and(|age| age > keep.younger_than)
        });
        let fits = size <= room;
        if (!is_old && fits) || is_kept(&run) {
            room = room.saturating_sub(size);
            continue;
        }
        if !is_dry {
            fs::remove_dir_all(&run.dir)
                .with_context(|| run.dir.display().to_string())
                .context(Exit::Io)?;
        }
        out.line(run.dir.as_os_str().as_encoded_bytes())?;
    }
    out.flush()?;
    Ok(Exit::Ok)
}

/// Prunes if nobody has done so for a day. What goes wrong is for the next one
/// to find: the run that begins has other business.
pub(crate) fn now_and_then(runs: &Path, keep: Keep) {
    let mark = runs.join(".pruned");
    let age = fs::metadata(&mark)
        .and_then(|meta| meta.modified())
        .ok()
        .and_then(|then| SystemTime::now().duration_since(then).ok());
    if age.is_some_and(|age| age < OFTEN) || fs::write(&mark, "").is_err() {
        return;
    }
    let _ = prune(runs, keep, false, std::io::sink());
}

fn is_kept(run: &Run) -> bool {
    run.has("keep") || !run.state().is_over()
}

/// The bytes of the files in `dir`; there are no directories in it.
fn size_of(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let sizes = entries
        .filter_map(|entry| entry.metadata().ok())
        .map(|meta| meta.len());
    sizes.sum()
}
