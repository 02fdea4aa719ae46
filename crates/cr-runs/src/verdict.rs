//! The summary of a run that is over: the one it left, else one made now.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use anyhow::Context;
use cr_io::Exit;

use cr_rundir::Run;

/// The later stages of a pipeline get this long to write the summary.
const PATIENCE: Duration = Duration::from_secs(5);

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
    let ended = fs::metadata(run.file("exit.json")).and_then(|meta| meta.modified());
    let is_recent = ended.is_ok_and(|ended| {
        let age = SystemTime::now().duration_since(ended);
        age.is_ok_and(|age| age < PATIENCE)
    });
    if is_recent {
        return Ok(None);
    }
    made(run).map(Some)
}

fn left(run: &Run) -> anyhow::Result<Option<Verdict>> {
    let Some(code) = run.summary()?.and_then(|summary| summary.code) else {
        return Ok(None);
    };
    let line = fs::read(run.file("summary.json")).ok();
    Ok(line.map(|line| Verdict {
        line: line.trim_ascii_end().to_vec(),
        code,
    }))
}

/// Has the recording summed up.
fn made(run: &Run) -> anyhow::Result<Verdict> {
    let program = beside("cr-summarize");
    let name = || program.display().to_string();
    let mut command = Command::new(&program);
    command.arg("--run-dir").arg(&run.dir);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(name)
        .context(Exit::Tool)?;
    let (stdin, parts) = (child.stdin.take(), ["git.json", "stream.ndjson"]);
    let files: Vec<PathBuf> = parts.iter().map(|part| run.file(part)).collect();
    let feeder = std::thread::spawn(move || stdin.map(|stdin| feed(stdin, &files)));
    let output = child.wait_with_output().with_context(name)?;
    let _ = feeder.join();
    let code = output
        .status
        .code()
        .and_then(|code| u8::try_from(code).ok());
    Ok(Verdict {
        line: output.stdout.trim_ascii_end().to_vec(),
        code: code.unwrap_or(Exit::Tool.code()),
    })
}

/// Whatever is missing is missing: the summary will say so.
fn feed(mut to: impl Write, files: &[PathBuf]) {
    for file in files {
        let copied = File::open(file).and_then(|file| io::copy(&mut file.take(u64::MAX), &mut to));
        let _ = copied;
    }
}

/// The tool `name` beside this one, else by the PATH.
pub(crate) fn beside(name: &str) -> PathBuf {
    let here = std::env::current_exe().ok();
    let found = here
        .as_deref()
        .and_then(Path::parent)
        .map(|dir| dir.join(name));
    found
        .filter(|path| path.exists())
        .unwrap_or_else(|| name.into())
}
