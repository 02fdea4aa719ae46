//! From arguments to a run: everything that is put in place, in order.

use std::env;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use cr_io::{Exit, Out, Redactor, exit_of, message};
use cr_rundir::{Lock, RunDir, RunId, StateDir};
use rustix::pipe::{PipeFlags, pipe_with};

use crate::cause::{self, Cause};
use crate::guardian_link::GuardianLink;
use crate::guardian_protocol::{Order, Spec};
use crate::input_queue::InputQueue;
use crate::output::{Fate, Output};
use crate::prepare::{limits, no_isolation, note, place, prompt, refused, run_id};
use crate::record;
use crate::recording::Recording;
use crate::signals::Signals;
use crate::starter::Starter;
use crate::stderr::Stderr;
use crate::stdout::Stdout;
use crate::supervisor::{Parts, Supervisor};
use cr_agent::AgentCommand;
use cr_agent::AgentOptions;
use cr_agent::{Missing, Version};
use cr_io::OutputFile;
use cr_stream::{AgentProgram, Start, compose, compose_line};

/// A run that has a name and a place, and no agent yet.
struct Run<'a> {
    args: &'a AgentOptions,
    plan: AgentCommand,
    id: RunId,
    redactor: Redactor,
    dir: Option<RunDir>,
    lock: Option<Lock>,
    /// The user's own file.
    copy: Option<OutputFile>,
    cwd: PathBuf,
    prompt: Vec<u8>,
    prompt_bytes: usize,
}

/// Runs the agent that `args` ask for, to the end.
pub(crate) fn run(args: &AgentOptions) -> anyhow::Result<Exit> {
    let plan = AgentCommand::new(args)?;
    cr_sys::keep_descriptors().context(Exit::Tool)?;
    let prompt = prompt(args)?;
    let copy = args
        .output_file
        .as_deref()
        .map(OutputFile::create)
        .transpose()?;
    let state = StateDir::from_env();
    let id = run_id()?;
    let dir = place(args, state.as_ref(), &id)?;
    let lock = dir
        .as_ref()
        .map(RunDir::lock)
        .transpose()
        .map_err(refused)?;
    let mut run = Run {
        args,
        plan,
        id,
        redactor: Redactor::from_env(),
        dir,
        lock,
        copy,
        cwd: cr_agent::working_directory(args),
        prompt_bytes: prompt.len(),
        prompt,
    };
    let found = run.find(state.as_ref());
    let (path, version) = match found {
        Ok(found) => found,
        Err((path, cause)) => return run.fail(&path, &cause),
    };
    run.plan.complete(args, &version, run.dir.as_ref())?;
    let done = run.go(&path, &version);
    let Err(err) = done else {
        return done;
    };
    match exit_of(&err) {
        // What we lack ourselves: descriptors, memory, processes.
        exit @ (Exit::Tool | Exit::CannotExec) => {
            run.fail(&path, &Cause::NotStarted(exit, message(&err)))
        }
        _ => Err(err),
    }
}

impl Run<'_> {
    /// Finds the program, or says why there is none to run.
    fn find(&self, state: Option<&StateDir>) -> Result<(PathBuf, Version), (PathBuf, Cause)> {
        let name = Path::new(&self.plan.name);
        let not = |exit, text: &str| {
            let text = format!("{}: {text}", name.display());
            Err((name.to_owned(), Cause::NotStarted(exit, text)))
        };
        if !self.cwd.is_dir() {
            let text = format!("{}: no such directory", self.cwd.display());
            return Err((name.to_owned(), Cause::NotStarted(Exit::Tool, text)));
        }
        match cr_agent::find_program(name) {
            Ok(path) => {
                let version =
                    cr_agent::program_version(&path, state.filter(|_| !self.args.no_record));
                Ok((path, version))
            }
            Err(Missing::NotFound) => not(Exit::NotFound, "not found"),
            Err(Missing::CannotRun(why)) => not(Exit::CannotExec, why),
        }
    }

    /// Writes the stream of a run that could not begin. Without a thread: that
    /// there is none to be had may be why.
    fn fail(&self, path: &Path, cause: &Cause) -> anyhow::Result<Exit> {
        let text = cause.error().unwrap_or_default();
        let text = self.redactor.redact(&text).into_owned();
        let exit = cr_stream::Exit {
            error: Some(text.as_str().into()),
            spawn_code: spawn_code(cause),
            result_seen: Some(false),
            recorded: Some(self.dir.is_some()),
            ..cr_stream::Exit::new(Cause::reason(Some(cause), None))
        };
        let last = compose_line(Some(self.id.as_str()), &exit);
        let mut lines = self.start_line(path, &Version::default(), None, None);
        lines.push(b'\n');
        lines.extend(&last);
        if let Some(dir) = &self.dir {
            let stream = dir.create_file("stream.ndjson");
            let _ = stream.map(|mut stream| stream.write_all(&lines));
            let _ = dir.write_once("exit.json", &last);
        }
        if let Some(path) = &self.args.output_file
            && let Err(err) = cr_io::write_output_file(path, &lines)
        {
            note(&message(&err));
        }
        let mut out = Out::new(io::stdout());
        out.part(&lines)?;
        out.flush()?;
        let code = cause::code(Some(cause), None, None, &Fate::Open);
        Err(anyhow!(text).context(code))
    }

    fn output(&mut self) -> anyhow::Result<Output> {
        let record = self
            .dir
            .as_ref()
            .and_then(|dir| dir.create_file("stream.ndjson").ok())
            .map(|file| Recording::new(file, self.id.as_str(), self.args.max_record));
        Output::start(record, self.copy.take())
            .context("start a thread")
            .context(Exit::Tool)
    }

    /// Starts both processes and stays until nobody is left.
    fn go(&mut self, path: &Path, version: &Version) -> anyhow::Result<Exit> {
        let own = |err: io::Error| anyhow::Error::from(err).context(Exit::Tool);
        // Before anything exists that a signal could leave behind.
        let signals = Signals::install(self.args.watch_pid.is_some()).map_err(own)?;
        let starter = Starter::find(self.args.watch_pid, signals.ignores_hangup);
        cr_proc::adopt_orphans().map_err(own)?;
        if self.args.isolate {
            crate::isolate::user().map_err(no_isolation)?;
        }
        let out = self.output()?;
        if self.args.isolate {
            cr_sys::unshare_processes().map_err(no_isolation)?;
        }
        let streams = Streams::new().map_err(own)?;
        let environment = self.plan.environment(self.args, self.id.as_str());
        let argv = &self.plan.argv;
        let guard = GuardianLink::start(&self.plan.name, argv, &environment, self.args.isolate);
        let guard = match guard {
            Ok(guard) => guard,
            Err(err) if self.args.isolate => return Err(no_isolation(err)),
            Err(err) => {
                let errno = err.raw_os_error().unwrap_or(0);
                let cause = cannot_run(errno, &err.to_string(), None);
                let exit = cause::code(Some(&cause), None, None, &Fate::Open);
                return Err(anyhow!(cause.error().unwrap_or_default()).context(exit));
            }
        };
        self.brief(&guard, path, version, &streams.theirs);
        drop(streams.theirs);
        let parts = Parts {
            guard,
            signals,
            starter,
            out,
            stdout: Stdout::new(streams.ours.1, self.args.max_line).map_err(own)?,
            stderr: Stderr::new(streams.ours.2).map_err(own)?,
            feed: InputQueue::new(streams.ours.0, std::mem::take(&mut self.prompt)),
        };
        let front = Supervisor::new(
            self.args,
            self.id.as_str(),
            &self.redactor,
            self.dir.as_ref(),
            parts,
        );
        Ok(self.see_through(front, path, version))
    }

    /// Tells the guardian what there is to know, and to begin.
    ///
    /// What the run is comes first: whatever becomes of us from here on, a run
    /// that is marked as started gets its record.
    fn brief(&self, guard: &GuardianLink, path: &Path, version: &Version, streams: &[OwnedFd; 3]) {
        let mut fds: Vec<BorrowedFd<'_>> = Vec::new();
        fds.extend(self.dir.as_ref().map(AsFd::as_fd));
        fds.extend(self.lock.as_ref().map(AsFd::as_fd));
        guard.order(&Order::Know(self.spec(path)), &fds);
        self.leave_marks(path, version);
        let fds: Vec<BorrowedFd<'_>> = streams.iter().map(AsFd::as_fd).collect();
        guard.order(&Order::Start, &fds);
    }

    fn see_through(&self, mut front: Supervisor<'_>, path: &Path, version: &Version) -> Exit {
        front.start();
        let (guardian, agent) = (front.guard.pid(), front.agent);
        let line = self.start_line(path, version, Some(guardian), agent);
        front.out.line(&line);
        front.run();
        front.out.settle();
        let exit = crate::ending::facts(&front);
        let line = compose_line(Some(self.id.as_str()), &exit);
        crate::ending::finish(front, &line)
    }

    /// What is written before the agent runs.
    fn leave_marks(&self, path: &Path, version: &Version) {
        let Some(dir) = &self.dir else {
            return;
        };
        let line = self.start_line(path, version, None, None);
        let prompt = dir.create_file("prompt");
        let written =
            prompt.and_then(|mut file| Ok(io::Write::write_all(&mut file, &self.prompt)?));
        // Whole or not at all: its presence says that the run can be found by
        // its name.
        let marked = dir.write("started", &[&line[..], b"\n"].concat());
        if let Err(err) = written.and(marked) {
            note(&format!("not recorded: {}", message(&err)));
        }
    }

    fn spec(&self, path: &Path) -> Spec {
        Spec {
            cwd: Some(self.cwd.clone()),
            program: path.to_owned(),
            run_id: self.id.to_string(),
            run_dir: self.dir.as_ref().map(|dir| dir.path().to_owned()),
            isolate: self.args.isolate,
            keep_children: self.args.keep_children,
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
        let argv = record::shown(&self.plan.argv, &self.redactor);
        let run_dir = self.dir.as_ref();
        let start = Start {
            pid: Some(std::process::id()),
            guardian_pid: guardian,
            agent_pid: agent,
            parent_run_id: parent.map(Into::into),
            name: self.args.name.as_deref().map(Into::into),
            argv: argv.into_iter().map(Into::into).collect(),
            claude: AgentProgram {
                path: path.to_string_lossy(),
                version: version.number.as_deref().map(Into::into),
            },
            cwd: Some(self.cwd.to_string_lossy()),
            run_dir: run_dir.map(|dir| dir.path().to_string_lossy()),
            model: self.plan.model.as_deref().map(Into::into),
            resume: self.args.resume.as_deref().map(Into::into),
            prompt_bytes: self.prompt_bytes as u64,
            permission_mode: self.plan.permission_mode.as_deref().map(Into::into),
            background: self.args.background,
            keep_children: self.args.keep_children,
            isolate: self.args.isolate,
            limits: limits(self.args),
            ..Start::new()
        };
        compose(Some(self.id.as_str()), &start)
    }
}

/// The three pipes: our ends, which do not block, and the agent's.
struct Streams {
    ours: (OwnedFd, OwnedFd, OwnedFd),
    theirs: [OwnedFd; 3],
}

impl Streams {
    fn new() -> io::Result<Self> {
        let pipe = || pipe_with(PipeFlags::CLOEXEC);
        let (stdin, stdout, stderr) = (pipe()?, pipe()?, pipe()?);
        // A larger pipe halves the number of times both sides must wake.
        let _ = rustix::pipe::fcntl_setpipe_size(&stdout.0, 1 << 20);
        for fd in [&stdin.1, &stdout.0, &stderr.0] {
            rustix::io::ioctl_fionbio(fd, true)?;
        }
        Ok(Self {
            ours: (stdin.1, stdout.0, stderr.0),
            theirs: [stdin.0, stdout.1, stderr.1],
        })
    }
}

/// Why a program that is there does not run.
pub(crate) fn cannot_run(errno: i32, what: &str, name: Option<&Path>) -> Cause {
    let name = name.map_or_else(
        || env::var("CR_CLAUDE").unwrap_or_else(|_| "claude".to_owned()),
        |name| name.display().to_string(),
    );
    let exit = match rustix::io::Errno::from_raw_os_error(errno) {
        // A script whose interpreter is missing: it is there, and cannot run.
        rustix::io::Errno::NOENT | rustix::io::Errno::ACCESS | rustix::io::Errno::NOEXEC => {
            Exit::CannotExec
        }
        rustix::io::Errno::TOOBIG => Exit::CannotExec,
        _ => Exit::Tool,
    };
    Cause::NotStarted(exit, format!("{name}: {what}"))
}

pub(crate) fn spawn_code(cause: &Cause) -> Option<u8> {
    match cause {
        Cause::NotStarted(exit, _) => Some(exit.code()),
        _ => None,
    }
}
