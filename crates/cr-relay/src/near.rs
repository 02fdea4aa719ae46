//! The near end: it takes the place of cr-spawn in a pipeline.

mod command;
mod ending;
mod parcel;
mod repository;
mod requests;
mod session;
mod sink;

use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, anyhow};
use cr_agent::AgentOptions;
use cr_io::{Exit, Redactor};
use cr_rundir::{Lock, Recording, RunDir, RunId, StateDir, Unsafe, file};
use cr_stream::{Limits, compose_line};

use crate::NearArgs;
use crate::git::Hash;
use crate::message::Start;
use repository::Repository;
use session::Session;
use sink::Sink;

/// The prompt when a session is resumed without one.
const RESUME_PROMPT: &str = "Continue from where you left off";

/// A run that has an id and a run directory, and no agent yet.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) args: &'a NearArgs,
    pub(crate) id: RunId,
    pub(crate) repository: Repository,
    pub(crate) prompt: Vec<u8>,
    pub(crate) start: Start,
    pub(crate) dir: Option<RunDir>,
    /// Held until this process ends.
    _lock: Option<Lock>,
    pub(crate) redactor: Redactor,
}

/// Runs the agent at the far end, to its end.
pub(crate) fn run(args: &NearArgs) -> anyhow::Result<Exit> {
    cr_sys::keep_descriptors().context(Exit::Tool)?;
    let plan = plan(args)?;
    let record = plan.dir.as_ref();
    let record = record.and_then(|dir| dir.create_file(file::STREAM).ok());
    let limit = args.agent.max_record;
    let record = record.map(|file| Recording::new(file, plan.id.as_str(), limit));
    if let Some(dir) = &plan.dir {
        let prompt = dir.write(file::PROMPT, &plan.prompt);
        prompt.and_then(|()| dir.write(file::STARTED, &plan.start_line()))?;
    }
    Session::open(&plan, Sink::new(record))?.run()
}

fn plan(args: &NearArgs) -> anyhow::Result<Plan<'_>> {
    let options = &args.agent;
    refuse(options)?;
    let repository = Repository::find(&cr_agent::working_directory(options))?;
    let prompt = prompt(options)?;
    let id = RunId::given().context("CR_RUN_ID").context(Exit::Config)?;
    let id = id.unwrap_or_default();
    let dir = run_dir(options, &id)?;
    let lock = dir.as_ref().map(RunDir::lock).transpose();
    let start = start(args, &repository, &prompt)?;
    Ok(Plan {
        args,
        id,
        repository,
        prompt,
        start,
        dir,
        _lock: lock.map_err(refused)?,
        redactor: Redactor::from_env(),
    })
}

/// Refuses options that need a supervisor on this machine.
fn refuse(options: &AgentOptions) -> anyhow::Result<()> {
    let usage = |text: &str| Err(anyhow!(text.to_owned()).context(Exit::Usage));
    if options.session.is_interactive() {
        return usage("--input stream and --ask do not work through a relay");
    }
    if options.output_file.is_some() {
        return usage("--output-file does not work through a relay: use tee");
    }
    if options.continue_last {
        return usage("--continue does not work through a relay: each run has a new directory");
    }
    Ok(())
}

fn prompt(options: &AgentOptions) -> anyhow::Result<Vec<u8>> {
    let text = match (&options.prompt, &options.prompt_file) {
        (Some(text), _) => text.clone().into_bytes(),
        (None, Some(path)) => read(path)?,
        (None, None) => {
            let mut text = Vec::new();
            let read = io::stdin().lock().read_to_end(&mut text);
            read.context("standard input").context(Exit::NoInput)?;
            text
        }
    };
    if !text.trim_ascii().is_empty() {
        return Ok(text);
    }
    if options.resumes_session() {
        return Ok(RESUME_PROMPT.into());
    }
    Err(anyhow!("the prompt is empty").context(Exit::Usage))
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    let shown = || path.display().to_string();
    std::fs::read(path)
        .with_context(shown)
        .context(Exit::NoInput)
}

fn run_dir(options: &AgentOptions, id: &RunId) -> anyhow::Result<Option<RunDir>> {
    if options.no_record {
        return Ok(None);
    }
    if let Some(path) = &options.run_dir {
        return RunDir::at(path).map(Some).map_err(refused);
    }
    let state = StateDir::from_env();
    let dir = state.map(|state| RunDir::create(&state, id));
    dir.transpose().map_err(refused)
}

fn refused(err: anyhow::Error) -> anyhow::Error {
    let exit = match err.downcast_ref::<Unsafe>() {
        Some(_) => Exit::Config,
        None => Exit::Io,
    };
    err.context(exit)
}

/// What the far end needs. Files that options name are read here; what names a
/// place or a process of this machine is left out.
fn start(args: &NearArgs, repository: &Repository, prompt: &[u8]) -> anyhow::Result<Start> {
    let mut options = args.agent.clone();
    options.prompt = None;
    options.prompt_file = None;
    options.cwd = None;
    options.run_dir = None;
    options.no_record = false;
    options.control_fd = None;
    options.watch_pid = None;
    options.resumed_run = None;
    let text = |bytes| {
        String::from_utf8(bytes)
            .context("not UTF-8")
            .context(Exit::Data)
    };
    let mut system_prompt = options.system_prompt.take();
    if let Some(path) = options.system_prompt_file.take() {
        system_prompt = Some(text(read(&path)?)?);
    }
    if let Some(schema) = options.json_schema.take() {
        let is_text = schema.trim_start().starts_with('{');
        options.json_schema = Some(if is_text {
            schema
        } else {
            text(read(Path::new(&schema))?)?
        });
    }
    let mut words = Vec::new();
    for word in options.to_argv() {
        let word = word.into_string();
        words.push(word.map_err(|_| anyhow!("an option is not UTF-8").context(Exit::Usage))?);
    }
    let set = |name: &String| Some((name.clone(), std::env::var(name).ok()?));
    let mut hash = Hash::default();
    hash.add(prompt);
    Ok(Start {
        bundle: None,
        prompt: hash.end(),
        branch: repository.branch.clone(),
        prefix: repository.prefix.clone(),
        options: words,
        grace_ms: u64::try_from(args.agent.clocks.grace.as_millis()).unwrap_or(u64::MAX),
        system_prompt,
        env: args.pass_env.iter().filter_map(set).collect(),
        identity: repository.identity.clone(),
    })
}

impl Plan<'_> {
    /// The `cr/start` line of this end. It stands in the run directory, and in
    /// the stream if the far end wrote none.
    pub(crate) fn start_line(&self) -> Vec<u8> {
        let options = &self.args.agent;
        let command = self.redactor.redact(&self.args.executor_cmd);
        let start = cr_stream::Start {
            pid: Some(std::process::id()),
            name: options.name.as_deref().map(Into::into),
            argv: vec![command],
            cwd: Some(self.repository.cwd.to_string_lossy()),
            run_dir: self.dir.as_ref().map(|dir| dir.path().to_string_lossy()),
            model: options.model.as_deref().map(Into::into),
            resume: options.resume.as_deref().map(Into::into),
            prompt_bytes: self.prompt.len() as u64,
            limits: Limits {
                grace_ms: Some(self.start.grace_ms),
                ..Limits::default()
            },
            ..cr_stream::Start::new()
        };
        compose_line(Some(self.id.as_str()), &start)
    }
}
