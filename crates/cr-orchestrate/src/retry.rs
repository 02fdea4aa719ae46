//! One task that came as a command line: `claude-runner --retry`.
//!
//! The run directory is the one that `claude-runner` made. It has the files that
//! cr-spawn writes for one agent, for all attempts together.

use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Parser;
use cr_agent::{AgentCommand, AgentOptions};
use cr_io::Exit;
use cr_rundir::{Lock, RunDir, file};
use cr_stream::{ExitWithoutAgent, Reason, RetryStart, compose_line};
use cr_verdict::Outcome;

use crate::args::RetryArgs;
use crate::engine::{Engine, Parts};
use crate::layout::{Run, RunLayout, Settings};
use crate::log::{Log, ended_task};
use crate::relay::Relay;
use crate::schedule::{RunOptions, TaskRecord};
use crate::stop_requests::StopRequests;
use crate::task::Task;

/// The id of the task.
const ID: &str = "run";

/// Runs the task, or continues it.
pub(crate) fn run(args: &RetryArgs) -> anyhow::Result<Exit> {
    let (mut engine, _lock) = prepare(args).inspect_err(refuse)?;
    let done = engine.replay_ended().and_then(|()| engine.run());
    done.inspect_err(|err| {
        let id = engine.run.id.clone();
        let exit = ExitWithoutAgent {
            error: Some(cr_io::message(err).into()),
            ..ExitWithoutAgent::new(Reason::Internal)
        };
        engine.break_off(&compose_line(Some(&id), &exit));
    })
}

/// Writes the only line of a stream: why there is no other.
fn refuse(err: &anyhow::Error) {
    use io::Write;
    let id = std::env::var("CR_RUN_ID").unwrap_or_default();
    let exit = ExitWithoutAgent {
        recorded: false,
        ..not_started(cr_io::message(err))
    };
    // A reader that left needs no reason.
    let _ = io::stdout().write_all(&compose_line(Some(&id), &exit));
}

fn prepare(args: &RetryArgs) -> anyhow::Result<(Engine, Lock)> {
    let stop_requests = match args.control_fd {
        Some(number) => StopRequests::listen_to_starter(number)
            .context("--control-fd")
            .context(Exit::Usage)?,
        None => StopRequests::listen()?,
    };
    let layout = RunLayout {
        dir: RunDir::at(&args.dir)?,
    };
    let lock = layout.dir.lock_patiently().context(Exit::Retry)?;
    // A new run may have no options either.
    let mut run = if args.options.is_empty() && layout.dir.has(file::RUN) {
        layout.run()?
    } else {
        begin(args, &layout)?
    };
    let settings = &mut run.settings;
    settings.retries = args.retries.unwrap_or(settings.retries);
    let seconds = args.max_wait.map(|time| time.as_secs_f64());
    settings.max_wait = seconds.or(settings.max_wait);
    layout.dir.write(file::RUN, &serde_json::to_vec(&run)?)?;
    let options = RunOptions {
        slots: 1,
        range: 1,
        // A person who resumes the run knows what became of it, and there is no
        // other task.
        rerun_lost: true,
        restart_failed: true,
        attempts_die_with_engine: true,
        ..RunOptions::default()
    };
    let mut engine = Engine::new(Parts {
        log: Log::open(layout.dir.path(), &run.id)?,
        observer: Box::new(Relay::new(&layout.dir, output_file(&run).as_deref())?),
        layout,
        run,
        stop_requests,
        options,
    })?;
    let path = engine.layout.dir.path().to_owned();
    engine.log_run(&cr_stream::Run {
        state: "started".into(),
        reason: "with attempts of its own".into(),
        run_dir: Some(path.to_string_lossy()),
        ..cr_stream::Run::default()
    })?;
    Ok((engine, lock))
}

/// Records a new run.
fn begin(args: &RetryArgs, layout: &RunLayout) -> anyhow::Result<Run> {
    let name = std::iter::once(OsString::from("cr-spawn"));
    let options = AgentOptions::try_parse_from(name.chain(args.options.iter().cloned()));
    let mut options = options.unwrap_or_else(|err| err.exit());
    options.make_absolute();
    let command = AgentCommand::new(&options)?;
    // All attempts have the mode of today, also those of a resumed run.
    if !options.dangerously_skip_permissions {
        options.permission_mode.clone_from(&command.permission_mode);
    }
    let cwd = options.cwd.as_deref().unwrap_or(Path::new("."));
    let cwd = std::fs::canonicalize(cwd)
        .with_context(|| cwd.display().to_string())
        .context(Exit::NoInput)?;
    let id = std::env::var("CR_RUN_ID").unwrap_or_default();
    let id = cr_rundir::RunId::parse(&id).unwrap_or_default();
    let task = task(&options, cwd)?;
    layout.dir.write(file::PROMPT, task.prompt.as_bytes())?;
    let started = RetryStart {
        pid: Some(std::process::id()),
        name: options.name.as_deref().map(Into::into),
        cwd: Some(task.cwd.to_string_lossy()),
        model: options.model.as_deref().map(Into::into),
        resume: options.resume.as_deref().map(Into::into),
        run_dir: Some(layout.dir.path().to_string_lossy()),
    };
    let started = compose_line(Some(id.as_str()), &started);
    layout.dir.write(file::STARTED, &started)?;
    // As cr-spawn does for a single agent.
    let program = Path::new(&command.name);
    cr_agent::Settings::in_force(&options, &command, &task.cwd, program).write(&layout.dir)?;
    Ok(Run {
        schema: cr_rundir::SCHEMA,
        id: id.to_string(),
        plan: args.dir.clone(),
        settings: Settings {
            agent: Some(cr_agent::Settings::of_options(&options)),
            ..Settings::configured()?
        },
        tasks: vec![task],
    })
}

/// The task of `options`; its prompt is standard input.
fn task(options: &AgentOptions, cwd: PathBuf) -> anyhow::Result<Task> {
    let mut prompt = Vec::new();
    io::stdin()
        .read_to_end(&mut prompt)
        .context("the prompt")
        .context(Exit::NoInput)?;
    // The agent reads what is not UTF-8 in the same way.
    let prompt = String::from_utf8_lossy(&prompt).into_owned();
    Ok(Task {
        id: ID.to_owned(),
        prompt,
        max_turns: options.max_turns,
        budget_usd: Some(options.max_budget).filter(|&usd| usd > 0.0),
        timeout: options.clocks.timeout.as_secs_f64(),
        cwd,
        ..Task::default()
    })
}

/// The file that the stream of all attempts is kept in, too.
fn output_file(run: &Run) -> Option<PathBuf> {
    run.settings.agent.as_ref()?.options().output_file
}

impl Engine {
    /// Relays once more the attempts that ended before this start of the run.
    fn replay_ended(&mut self) -> anyhow::Result<()> {
        let attempts = self.layout.attempts(ID)?;
        for (number, ended) in (1..).zip(&attempts.ended) {
            let path = self.layout.attempt_path(ID, number);
            self.replay_line(&cr_stream::Task {
                id: ID.into(),
                attempt: number,
                state: "running".into(),
                reason: "it was started before".into(),
                run_dir: Some(path.to_string_lossy()),
                ..cr_stream::Task::default()
            });
            self.observer.attempt_began(&path, number)?;
            while !self.observer.attempt_ended(&path)? {
                self.wait(None)?;
            }
            self.replay_line(&cr_stream::Task {
                run_dir: Some(path.to_string_lossy()),
                id: ID.into(),
                attempt: number,
                state: "retrying".into(),
                reason: ended.end.why.as_str().into(),
                ..ended_task(&ended.end)
            });
        }
        Ok(())
    }

    /// A line that the session log has already.
    fn replay_line(&mut self, line: &cr_stream::Task<'_>) {
        let bytes = self.log.line(line);
        self.observer.task_changed(line, &bytes);
    }
}

/// The last line of the stream: that of the last attempt, unless a signal ended
/// the run when no attempt was running.
pub(crate) fn exit(
    layout: &RunLayout,
    run_id: &str,
    tasks: &[TaskRecord],
    signal: Option<i32>,
) -> Option<Vec<u8>> {
    let ended = &tasks.first()?.attempts.ended;
    let last = ended.last();
    let number = u32::try_from(ended.len()).unwrap_or(u32::MAX);
    let outcome = last.map(|last| last.end.outcome());
    let is_stopped = outcome == Some(Outcome::Interrupted);
    let left = std::fs::read(layout.attempt_path(ID, number).join(file::EXIT)).ok();
    let exit = match (left, signal) {
        (Some(left), None) => return Some(left),
        (Some(left), Some(_)) if is_stopped => return Some(left),
        (_, Some(signal)) => ExitWithoutAgent {
            interrupted_by: Some(signal),
            ..ExitWithoutAgent::new(Reason::Interrupted)
        },
        (None, None) if outcome == Some(Outcome::SpawnFailed) => {
            let why = last.map(|last| last.end.why.clone());
            not_started(why.unwrap_or_default())
        }
        (None, None) => return None,
    };
    Some(compose_line(Some(run_id), &exit))
}

/// The end of a run that could not start an agent.
fn not_started(why: String) -> ExitWithoutAgent<'static> {
    ExitWithoutAgent {
        spawn_code: Some(125),
        error: Some(why.into()),
        ..ExitWithoutAgent::new(Reason::SpawnFailed)
    }
}
