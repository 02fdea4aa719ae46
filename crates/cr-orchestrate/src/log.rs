//! `session.log`: a line for every change of a task or of the run.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::Context;
use cr_rundir::file;
use cr_stream::{LineBody, Task, compose_line, timestamp};

use crate::attempt::End;

/// The log of a run.
#[derive(Debug)]
pub(crate) struct Log {
    file: File,
    run_id: String,
}

/// What is known of an attempt that has ended.
pub(crate) fn ended_task(end: &End) -> Task<'_> {
    let commits = end.commits.iter().map(|commit| commit.as_str().into());
    Task {
        outcome: Some(end.outcome.as_str().into()),
        session_id: end.session_id.as_deref().map(Into::into),
        cost_usd: end.cost_usd,
        commits: Some(commits.collect()),
        why: Some(end.why.as_str().into()),
        num_turns: end.num_turns,
        merged: end.merged.as_deref().map(Into::into),
        started_at: end.started_at.map(|at| timestamp(at).into()),
        ended_at: Some(timestamp(end.ended_at).into()),
        ..Task::default()
    }
}

impl Log {
    pub(crate) fn open(dir: &Path, run_id: &str) -> anyhow::Result<Self> {
        let path = dir.join(file::SESSION_LOG);
        let shown = || path.display().to_string();
        let mut file = OpenOptions::new()
            .create(true)
            .read(true)
            .append(true)
            .mode(0o600)
            .open(&path)
            .with_context(shown)?;
        // A writer before us may have been killed in the middle of a line.
        let mut last = [b'\n'];
        if file.seek(SeekFrom::End(-1)).is_ok() {
            file.read_exact(&mut last)?;
        }
        if last != [b'\n'] {
            file.write_all(b"\n").with_context(shown)?;
        }
        Ok(Self {
            file,
            run_id: run_id.to_owned(),
        })
    }

    /// Adds the line of `body`; returns it.
    pub(crate) fn write(&mut self, body: &impl LineBody) -> anyhow::Result<Vec<u8>> {
        let line = self.line(body);
        self.file.write_all(&line).context(file::SESSION_LOG)?;
        Ok(line)
    }

    /// The line of `body`, which is not added.
    pub(crate) fn line(&self, body: &impl LineBody) -> Vec<u8> {
        compose_line(Some(&self.run_id), body)
    }
}
