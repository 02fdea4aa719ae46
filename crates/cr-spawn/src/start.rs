//! Starts a run: prepares everything that it needs, in order.

use std::env;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use cr_agent::{AgentCommand, AgentOptions, Missing, Settings, Version};
use cr_io::{Exit, Out, OutputFile, Redactor, exit_of, message};
use cr_rundir::{Lock, Recording, RunDir, RunId, StateDir, file};
use cr_stream::{AgentProgram, Start, compose, compose_line};

use crate::cause::{self, Cause};
use crate::context::Context;
use crate::guardian_link::GuardianLink;
use crate::guardian_protocol::{Order, RunSpec};
use crate::input_queue::InputQueue;
use crate::output::{Fate, Output};
use crate::pipes::Pipes;
use crate::prepare::{limits, no_isolation, note, prompt, refused, run_dir, run_id};
use crate::record;
use crate::requests::Requests;
use crate::session::{self, Session};
use crate::stderr::Stderr;
use crate::stdout::Stdout;
use crate::supervisor::{Streams, Supervisor};

/// A run that has an id and a run directory, and no agent yet.
struct Run<'a> {
    options: &'a AgentOptions,
    command: AgentCommand,
    id: RunId,
    redactor: Redactor,
    dir: Option<RunDir>,
    lock: Option<Lock>,
    /// Whether `settings.json` is in the run directory.
    has_settings: bool,
    /// The user's own file.
    output_file: Option<OutputFile>,
    cwd: PathBuf,
    prompt: Vec<u8>,
    prompt_bytes: usize,
    /// Until the agent is started.
    session: Option<Session>,
}

/// Runs the agent that `options` ask for, to the end.
pub(crate) fn run(options: &AgentOptions) -> anyhow::Result<Exit> {
    let options = &session::prepare(options)?;
    let command = AgentCommand::new(options)?;
    cr_sys::keep_descriptors().context(Exit::Tool)?;
    let prompt = prompt(options)?;
    let output_file = options.output_file.as_deref();
    let output_file = output_file.map(OutputFile::create).transpose()?;
    let state = StateDir::from_env();
    let id = run_id()?;
    let dir = run_dir(options, state.as_ref(), &id)?;
    let lock = dir.as_ref().map(RunDir::lock);
    let lock = lock.transpose().map_err(refused)?;
    let (session, refusal) = session_or_refusal(options, dir.as_ref())?;
    let mut run = Run {
        options,
        command,
        id,
        redactor: Redactor::from_env(),
        dir,
        lock,
        has_settings: false,
        output_file,
        cwd: cr_agent::working_directory(options),
        prompt_bytes: prompt.len(),
        prompt,
        session,
    };
    if let Some(text) = refusal {
        let path = PathBuf::from(&run.command.name);
        return run.fail(&path, &Cause::NotStarted(Exit::Retry, text));
    }
    let found = run.find(state.as_ref());
    let (path, version) = match found {
        Ok(found) => found,
        Err((path, cause)) => return run.fail(&path, &cause),
    };
    run.command.complete(options, &version, run.dir.as_ref())?;
    let done = run.start(&path, &version);
    let Err(err) = done else {
        return done;
    };
    match exit_of(&err) {
        // Our own failures: no descriptors, memory or processes.
        exit @ (Exit::Tool | Exit::CannotExec) => {
            run.fail(&path, &Cause::NotStarted(exit, message(&err)))
        }
        _ => Err(err),
    }
}

/// The session, or why it must wait: another run has just begun to resume it.
fn session_or_refusal(
    options: &AgentOptions,
    dir: Option<&RunDir>,
) -> anyhow::Result<(Option<Session>, Option<String>)> {
    match Session::new(options, dir) {
        Err(err) if exit_of(&err) == Exit::Retry => Ok((None, Some(message(&err)))),
        session => Ok((Some(session?), None)),
    }
}

impl Run<'_> {
    /// Finds the program, or the cause why there is none to run.
    fn find(&self, state: Option<&StateDir>) -> Result<(PathBuf, Version), (PathBuf, Cause)> {
        let name = Path::new(&self.command.name);
        let not = |exit, text: &str| {
            let text = format!("{}: {text}", name.display());
            Err((name.to_owned(), Cause::NotStarted(exit, text)))
        };
        if !self.cwd.is_dir() {
            let text = if self.cwd.as_os_str().is_empty() {
                "the current directory was removed".to_owned()
            } else {
                format!("{}: no such directory", self.cwd.display())
            };
            return Err((name.to_owned(), Cause::NotStarted(Exit::Tool, text)));
        }
        match cr_agent::find_program(name) {
            Ok(path) => {
                let version =
                    cr_agent::program_version(&path, state.filter(|_| !self.options.no_record));
                Ok((path, version))
            }
            Err(Missing::NotFound) => not(Exit::NotFound, "not found"),
            Err(Missing::CannotRun(why)) => not(Exit::CannotExec, why),
        }
    }

    /// Writes the stream of a run that could not begin. Without a thread: that
    /// none can be started may be the cause.
    fn fail(&mut self, path: &Path, cause: &Cause) -> anyhow::Result<Exit> {
        let text = cause.error();
        let text = text.map(|text| self.redactor.redact(&text).into_owned());
        let exit = cr_stream::Exit {
            error: text.as_deref().map(Into::into),
            spawn_code: cause.spawn_code(),
            interrupted_by: cause.interrupted_by(),
            result_seen: Some(false),
            recorded: Some(self.dir.is_some()),
            ..cr_stream::Exit::new(Cause::reason(Some(cause), None))
        };
        let last = compose_line(Some(self.id.as_str()), &exit);
        // Before the end is written: a run that ended can be found by name.
        let _ = self.write_settings(path);
        let mut lines = self.start_line(path, &Version::default(), None, None);
        lines.push(b'\n');
        let first = lines.len();
        lines.extend(&last);
        if let Some(dir) = &self.dir {
            let _ = dir.write(file::STARTED, &lines[..first]);
            let stream = dir.create_file(file::STREAM);
            let _ = stream.map(|mut stream| stream.write_all(&lines));
            let _ = dir.write_once(file::EXIT, &last);
        }
        if let Some(path) = &self.options.output_file
            && let Err(err) = cr_io::write_output_file(path, &lines)
        {
            note(&message(&err));
        }
        let mut out = Out::new(io::stdout());
        out.part(&lines)?;
        out.flush()?;
        let code = cause::code(Some(cause), None, None, &Fate::Open);
        match text {
            Some(text) => Err(anyhow!(text).context(code)),
            None => Ok(code),
        }
    }

    fn output(&mut self) -> anyhow::Result<Output> {
        let record = self
            .dir
            .as_ref()
            .and_then(|dir| dir.create_file(file::STREAM).ok())
            .map(|file| Recording::new(file, self.id.as_str(), self.options.max_record));
        Output::start(record, self.output_file.take())
            .context("start a thread")
            .context(Exit::Tool)
    }

    /// Starts the guardian and the agent, and supervises them to the end.
    fn start(&mut self, path: &Path, version: &Version) -> anyhow::Result<Exit> {
        let own = |err: io::Error| anyhow::Error::from(err).context(Exit::Tool);
        // Before anything exists that a signal could leave behind.
        let mut requests = Requests::install(self.options).map_err(own)?;
        if let Some(cause) = requests.stop_before_start() {
            return self.fail(path, &cause);
        }
        cr_proc::adopt_orphans().map_err(own)?;
        if self.options.isolate {
            crate::isolate::user().map_err(no_isolation)?;
        }
        let output = self.output()?;
        if self.options.isolate {
            cr_sys::unshare_processes().map_err(no_isolation)?;
        }
        let pipes = Pipes::new().map_err(own)?;
        let guardian = self.start_guardian()?;
        self.instruct(&guardian, path, version, &pipes.agents);
        drop(pipes.agents);
        let (stdin, stdout, stderr) = pipes.ours;
        let session = self
            .session
            .take()
            .ok_or_else(|| own(io::ErrorKind::Other.into()))?;
        let prompt = std::mem::take(&mut self.prompt);
        let (input, first_message) = if session.is_interactive() {
            (InputQueue::new(stdin), prompt)
        } else {
            (InputQueue::with_prompt(stdin, prompt), Vec::new())
        };
        let streams = Streams::new(
            output,
            input,
            Stdout::new(stdout, self.options.max_line).map_err(own)?,
            Stderr::new(stderr).map_err(own)?,
        );
        let context = Context {
            options: self.options,
            run_id: self.id.as_str(),
            redactor: &self.redactor,
            run_dir: self.dir.as_ref(),
            cwd: &self.cwd,
        };
        let supervisor = Supervisor::new(context, requests, guardian, streams, session);
        Ok(self.supervise(supervisor, path, version, &first_message))
    }

    fn start_guardian(&self) -> anyhow::Result<GuardianLink> {
        let run_dir = self.dir.as_ref().map(RunDir::path);
        let environment = self
            .command
            .environment(self.options, self.id.as_str(), run_dir);
        let (name, argv) = (&self.command.name, &self.command.argv);
        let isolate = self.options.isolate;
        GuardianLink::start(name, argv, &environment, isolate).map_err(|err| {
            if isolate {
                return no_isolation(err);
            }
            let errno = err.raw_os_error().unwrap_or(0);
            let cause = Cause::cannot_run(errno, &err.to_string(), None);
            let exit = cause::code(Some(&cause), None, None, &Fate::Open);
            anyhow!(cause.error().unwrap_or_default()).context(exit)
        })
    }

    /// Gives the guardian what it needs, and has it start the agent.
    ///
    /// The description of the run comes first: whatever happens to us from here
    /// on, a run that is marked as started gets its record.
    fn instruct(
        &mut self,
        guardian: &GuardianLink,
        path: &Path,
        version: &Version,
        streams: &[OwnedFd; 3],
    ) {
        let mut fds: Vec<BorrowedFd<'_>> = Vec::new();
        fds.extend(self.dir.as_ref().map(AsFd::as_fd));
        fds.extend(self.lock.as_ref().map(AsFd::as_fd));
        guardian.order(&Order::Prepare(self.spec(path)), &fds);
        self.write_first_records(path, version);
        let fds: Vec<BorrowedFd<'_>> = streams.iter().map(AsFd::as_fd).collect();
        guardian.order(&Order::Start, &fds);
    }

    fn supervise(
        &self,
        mut supervisor: Supervisor<'_>,
        path: &Path,
        version: &Version,
        first_message: &[u8],
    ) -> Exit {
        supervisor.start();
        let (guardian, agent) = (supervisor.guardian.pid(), supervisor.guardian.agent);
        let line = self.start_line(path, version, Some(guardian), agent);
        supervisor.streams.output.line(&line);
        let context = supervisor.context;
        supervisor.session.set_guardian(guardian);
        supervisor.session.begin(first_message, &context);
        supervisor.write_session_lines();
        supervisor.run();
        supervisor.streams.output.finish_output_file();
        let exit = crate::ending::exit_line(&supervisor);
        let line = compose_line(Some(self.id.as_str()), &exit);
        crate::ending::finish(supervisor, &line)
    }

    /// Writes what the run directory holds before the agent runs; `started` is
    /// the last.
    fn write_first_records(&mut self, path: &Path, version: &Version) {
        let settings = self.write_settings(path);
        let Some(dir) = &self.dir else {
            return;
        };
        let mut line = self.start_line(path, version, None, None);
        line.push(b'\n');
        let prompt = dir.create_file(file::PROMPT);
        let prompt = prompt.and_then(|mut file| Ok(file.write_all(&self.prompt)?));
        // Whole or not at all: its presence says that the run can be found by
        // its name.
        let started = dir.write(file::STARTED, &line);
        if let Err(err) = prompt.and(settings).and(started) {
            note(&format!("not recorded: {}", message(&err)));
        }
    }

    fn settings(&self, program: &Path) -> Settings {
        Settings::in_force(self.options, &self.command, &self.cwd, program)
    }

    fn write_settings(&mut self, program: &Path) -> anyhow::Result<()> {
        if let Some(dir) = &self.dir {
            self.settings(program).write(dir)?;
            self.has_settings = true;
        }
        Ok(())
    }

    /// The options that mean the settings, if no file holds them. `None` also if a
    /// secret in them is masked: with the mask they would be other settings.
    fn resume_options(&self, program: &Path) -> Option<Vec<String>> {
        if self.has_settings {
            return None;
        }
        let settings = self.settings(program);
        let options = settings.resume_options(self.options.no_record)?;
        let is_plain = |text: &String| self.redactor.redact(text) == *text;
        options.iter().all(is_plain).then_some(options)
    }

    fn spec(&self, path: &Path) -> RunSpec {
        RunSpec {
            cwd: self.cwd.as_path().into(),
            program: path.into(),
            run_id: self.id.to_string(),
            run_dir: self.dir.as_ref().map(|dir| dir.path().into()),
            keep_children: self.options.keep_children,
        }
    }

    fn start_line(
        &self,
        path: &Path,
        version: &Version,
        guardian: Option<u32>,
        agent: Option<i32>,
    ) -> Vec<u8> {
        let parent = env::var("CR_PARENT_RUN_ID").ok();
        let argv = record::shown(&self.command.argv, &self.redactor);
        let run_dir = self.dir.as_ref();
        let options = self.resume_options(path);
        let start = Start {
            pid: Some(std::process::id()),
            guardian_pid: guardian,
            agent_pid: agent,
            parent_run_id: parent.map(Into::into),
            name: self.options.name.as_deref().map(Into::into),
            argv: argv.into_iter().map(Into::into).collect(),
            claude: AgentProgram {
                path: path.to_string_lossy(),
                version: version.number.as_deref().map(Into::into),
            },
            cwd: Some(self.cwd.to_string_lossy()),
            run_dir: run_dir.map(|dir| dir.path().to_string_lossy()),
            model: self.command.model.as_deref().map(Into::into),
            resume: self.options.resume.as_deref().map(Into::into),
            resumed_run: self.options.resumed_run.as_deref().map(Into::into),
            prompt_bytes: self.prompt_bytes as u64,
            permission_mode: self.command.permission_mode.as_deref().map(Into::into),
            background: self.options.background,
            keep_children: self.options.keep_children,
            isolate: self.options.isolate,
            limits: limits(self.options),
            options: options.map(|all| all.into_iter().map(Into::into).collect()),
            ..Start::new()
        };
        compose(Some(self.id.as_str()), &start)
    }
}
