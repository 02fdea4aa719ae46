//! `session.log`: a line for every change of a task or of the run.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::Context;
use serde::Serialize;

use crate::attempt::End;

/// The log of a run.
#[derive(Debug)]
pub(crate) struct Log {
    file: File,
    run_id: String,
}

/// A change of a task.
#[derive(Debug, Default, Serialize)]
pub(crate) struct TaskLine<'a> {
    pub(crate) id: &'a str,
    pub(crate) attempt: u32,
    pub(crate) state: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) outcome: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost_usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) commits: Option<&'a [String]>,
    pub(crate) reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) num_turns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) started_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) run_dir: Option<&'a Path>,
}

impl<'a> TaskLine<'a> {
    /// What is known of an attempt that has ended.
    pub(crate) fn ended(end: &'a End) -> Self {
        Self {
            outcome: Some(&end.outcome),
            cost_usd: end.cost_usd,
            commits: Some(&end.commits),
            why: Some(&end.why),
            num_turns: end.num_turns,
            started_at: end.started_at.map(cr_rundir::shown),
            ended_at: Some(cr_rundir::shown(end.ended_at)),
            ..Self::default()
        }
    }
}

/// A change of the whole run.
#[derive(Debug, Default, Serialize)]
pub(crate) struct RunLine<'a> {
    pub(crate) state: &'a str,
    pub(crate) reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) run_dir: Option<&'a Path>,
    /// The command that goes on with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct Line<'a, T> {
    r#type: &'static str,
    subtype: &'a str,
    at: String,
    run_id: &'a str,
    #[serde(flatten)]
    body: T,
}

impl Log {
    pub(crate) fn open(dir: &Path, run_id: &str) -> anyhow::Result<Self> {
        let path = dir.join("session.log");
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

    /// A change of a task; returns its line.
    pub(crate) fn task(&mut self, line: &TaskLine<'_>) -> anyhow::Result<Vec<u8>> {
        self.write("task", line)
    }

    /// A change of the whole run; returns its line.
    pub(crate) fn run(&mut self, line: &RunLine<'_>) -> anyhow::Result<Vec<u8>> {
        self.write("run", line)
    }

    /// A line of ours.
    pub(crate) fn line(&self, subtype: &str, body: &impl Serialize) -> anyhow::Result<Vec<u8>> {
        let line = Line {
            r#type: "cr",
            subtype,
            at: cr_rundir::now(),
            run_id: &self.run_id,
            body,
        };
        let mut bytes = serde_json::to_vec(&line)?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    fn write(&mut self, subtype: &str, body: &impl Serialize) -> anyhow::Result<Vec<u8>> {
        let bytes = self.line(subtype, body)?;
        self.file.write_all(&bytes).context("session.log")?;
        Ok(bytes)
    }
}
