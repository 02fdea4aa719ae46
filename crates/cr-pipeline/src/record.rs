//! A summary from the record of a run.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context;
use cr_io::{Exit, find_tool};
use cr_rundir::{Run, file};

/// A summary, and the verdict in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The JSON object, if standard output was a pipe.
    pub text: Vec<u8>,
    /// The verdict.
    pub code: u8,
}

/// Makes the summary of a run that has none, from what it recorded: runs
/// cr-summarize with `options`, which leaves it in the run directory, too.
pub fn summarize_record(
    run_dir: &Path,
    options: &[&str],
    stdout: Stdio,
) -> anyhow::Result<Summary> {
    let run = Run::new(run_dir);
    let git = [file::GIT, file::GIT_START]
        .into_iter()
        .find(|name| run.has(name));
    let parts = git.into_iter().chain([file::STREAM]);
    let parts: Vec<PathBuf> = parts.map(|name| run.file(name)).collect();
    let mut command = Command::new(find_tool("cr-summarize"));
    command
        .args(options)
        .arg("--run-dir")
        .arg(run_dir)
        .stdout(stdout);
    feed(command, &parts, &[])
}

/// Runs `command` with the `files`, and then `last`, as standard input.
pub(crate) fn feed(
    mut command: Command,
    files: &[PathBuf],
    last: &[u8],
) -> anyhow::Result<Summary> {
    let shown = Path::new(command.get_program()).display().to_string();
    let mut child = command
        .stdin(Stdio::piped())
        .spawn()
        .with_context(|| shown.clone())
        .context(Exit::Tool)?;
    let stdin = child.stdin.take();
    let output = std::thread::scope(|scope| {
        let fed = std::thread::Builder::new()
            .spawn_scoped(scope, move || stdin.map(|stdin| write(stdin, files, last)));
        let output = child.wait_with_output();
        fed.and(output)
    });
    let output = output.context(shown)?;
    let code = output.status.code();
    let code = code.and_then(|code| u8::try_from(code).ok());
    Ok(Summary {
        text: output.stdout.trim_ascii_end().to_vec(),
        code: code.unwrap_or(Exit::Tool.code()),
    })
}

/// A file that is missing is left out; the summary says what it means.
fn write(mut to: impl Write, files: &[PathBuf], last: &[u8]) {
    for file in files {
        let _ = File::open(file).and_then(|mut file| io::copy(&mut file, &mut to));
    }
    let _ = to.write_all(last);
}
