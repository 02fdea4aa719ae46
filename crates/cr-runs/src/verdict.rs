//! The summary of a run that has ended: the recorded one, or one made now.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use cr_rundir::{Run, file};

/// How long the later stages of a pipeline may take to write the summary.
const SUMMARY_TIMEOUT: Duration = Duration::from_secs(5);

/// A summary, and the verdict in it.
#[derive(Debug)]
pub(crate) struct Verdict {
    pub(crate) line: Vec<u8>,
    pub(crate) code: u8,
}

/// The summary that the run left; `None` if it may still come.
pub(crate) fn of(run: &Run) -> anyhow::Result<Option<Verdict>> {
    if let Some(verdict) = left(run)? {
        return Ok(Some(verdict));
    }
    let ended = fs::metadata(run.file(file::EXIT)).and_then(|meta| meta.modified());
    let is_recent = ended.is_ok_and(|ended| {
        let age = SystemTime::now().duration_since(ended);
        age.is_ok_and(|age| age < SUMMARY_TIMEOUT)
    });
    if is_recent {
        return Ok(None);
    }
    let made = cr_pipeline::summarize_record(&run.dir, &[], Stdio::piped())?;
    Ok(Some(Verdict {
        line: made.text,
        code: made.code,
    }))
}

fn left(run: &Run) -> anyhow::Result<Option<Verdict>> {
    let Some(code) = run.summary()?.and_then(|summary| summary.code) else {
        return Ok(None);
    };
    let line = fs::read(run.file(file::SUMMARY)).ok();
    Ok(line.map(|line| Verdict {
        line: line.trim_ascii_end().to_vec(),
        code,
    }))
}
