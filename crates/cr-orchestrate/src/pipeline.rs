//! The pipeline of one attempt: the second half of `scripts/claude-runner`, with
//! its output in files.

use std::ffi::OsString;
use std::fs::File;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, anyhow};
use cr_pipeline::{Output, Pipeline, Script, Source, Streams};
use cr_rundir::{RunDir, file};

use crate::attempt::Spec;
use crate::sandbox;
use crate::stop::Stop;

/// Runs the agent. Afterwards there is a summary in `dir`.
pub(crate) fn run(dir: &RunDir, spec: &Spec, notes: &File, stop: &mut Stop) -> anyhow::Result<()> {
    let pipeline = pipeline(dir, spec)?;
    let streams = Streams {
        stdin: open(dir, file::ATTEMPT_PROMPT)?.into(),
        stdout: Some(File::options().write(true).open("/dev/null")?),
        stderr: Some(notes.try_clone()?),
    };
    pipeline.run(streams, &mut stop.signals)?;
    wait_for_agent(dir)?;
    if !dir.has(file::EXIT) && !stop.is_asked() {
        // cr-spawn refused to begin, and its message is the only record.
        return Err(anyhow!(last_message(dir)));
    }
    complete(dir)
}

fn open(dir: &RunDir, name: &str) -> anyhow::Result<File> {
    let path = dir.path().join(name);
    File::open(&path).with_context(|| path.display().to_string())
}

fn pipeline(dir: &RunDir, spec: &Spec) -> anyhow::Result<Pipeline> {
    let mut options = spec.agent_options()?;
    options.run_dir = Some(dir.path().to_owned());
    let sandbox = sandbox::of_attempt(dir.path(), spec)?;
    if let Some(sandbox) = &sandbox {
        sandbox::enter(dir, spec, sandbox, &mut options)?;
    }
    let variables = spec.env();
    let env = variables.iter();
    // The stages around the agent keep the PATH by which they find their tools.
    let env = env.map(|(name, value)| match name.as_str() {
        "PATH" => (cr_agent::AGENT_PATH, value.as_str()),
        name => (name, value.as_str()),
    });
    let task = ledger_task(dir, &spec.task.id);
    let kind = spec.task.kind.as_deref().unwrap_or_default();
    let env = env.chain([
        ("CR_RUN_ID", spec.run_id.as_str()),
        (cr_pipeline::TASK, &task),
        (cr_pipeline::TASK_TYPE, kind),
    ]);
    let milestone = spec.milestone.as_deref();
    let env = env.chain(milestone.map(|id| (cr_milestone::VARIABLE, id)));
    // Without it the agent does not skip permissions as root.
    let env = env.chain(sandbox.map(|_| ("IS_SANDBOX", "1")));
    let env = env.map(|(name, value)| (OsString::from(name), OsString::from(value)));
    Ok(Pipeline {
        script: Script::BuiltIn,
        output: Output::Attempt,
        cwd: spec.cwd().to_owned(),
        run_dir: Some(dir.path().to_owned()),
        limit: 0,
        quiet: true,
        source: Source::Spawn,
        options: options.to_argv(),
        env: env.collect(),
        is_part: spec.is_part,
    })
}

/// The task as the ledger names it: with the run of the plan, for other plans have
/// tasks of the same id. `dir` is `RUN/attempts/ID/NUMBER`.
fn ledger_task(dir: &RunDir, id: &str) -> String {
    let run = dir.path().ancestors().nth(3).and_then(Path::file_name);
    let run = run.map(|name| name.to_string_lossy());
    format!("{}/{id}", run.unwrap_or_default())
}

/// Waits until the agent's supervisor is gone, also the half of it that outlives
/// the other: it holds the lock until the exit is recorded.
pub(crate) fn wait_for_agent(dir: &RunDir) -> anyhow::Result<()> {
    if let Ok(lock) = File::open(dir.path().join(file::LOCK)) {
        lock.lock()?;
    }
    Ok(())
}

/// Makes the summary of an agent that has ended, if it is missing.
pub(crate) fn complete(dir: &RunDir) -> anyhow::Result<()> {
    if dir.has(file::EXIT) && !dir.has(file::SUMMARY) {
        cr_pipeline::summarize_record(dir.path(), &["--full"], Stdio::null())?;
    }
    Ok(())
}

/// The last line that a stage wrote to its standard error.
fn last_message(dir: &RunDir) -> String {
    let bytes = std::fs::read(dir.path().join(file::ATTEMPT_STDERR)).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let last = text.lines().rfind(|line| !line.trim().is_empty());
    last.unwrap_or("cr-spawn did not begin").to_owned()
}
