//! The run that is talked to.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use cr_config::Config;
use cr_control::Client;
use cr_io::{Exit, quote, sanitized};
use cr_rundir::{Run, RunDir, Unsafe, file};

use crate::args::Args;

/// How long a run that is going on may take to make its socket, and one that
/// closes its socket to end.
const STATE_CHANGE_LIMIT: Duration = Duration::from_secs(2);

/// How often the state of a run is looked at meanwhile.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The error of a run that has ended.
#[derive(Debug)]
pub(crate) struct Ended(String);

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Ended {}

/// A run, and its directory, held open.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) run: Run,
    pub(crate) dir: RunDir,
    /// The directory that all runs are in.
    pub(crate) runs: PathBuf,
}

impl Target {
    /// The run that `args` name.
    pub(crate) fn find(args: &Args) -> anyhow::Result<Self> {
        let runs = Config::load()?.state_dir()?.path().join(file::RUNS);
        let run = match args.run() {
            Some(name) => cr_rundir::find_run(&runs, name)?,
            None => cr_rundir::last_run(&runs)?,
        };
        let dir = RunDir::existing(&run.dir).map_err(|err| {
            let is_unsafe = err.is::<Unsafe>();
            err.context(if is_unsafe {
                Exit::Config
            } else {
                Exit::NoInput
            })
        })?;
        Ok(Self { run, dir, runs })
    }

    /// Its id, for messages.
    pub(crate) fn name(&self) -> String {
        sanitized(&self.run.id())
    }

    /// Connects to its socket. A run that has just started may not have one yet;
    /// one that has ended is an error at once.
    pub(crate) fn connect(&self, limit: Duration) -> anyhow::Result<Client> {
        let end = Instant::now() + STATE_CHANGE_LIMIT.min(limit);
        loop {
            if self.run.state().is_over() {
                return Err(self.ended());
            }
            let err = match self.try_connect(limit) {
                Ok(client) => return Ok(client),
                Err(err) => err,
            };
            let (text, exit) = match err.kind() {
                ErrorKind::NotFound => ("it has no control socket", Exit::NoInput),
                ErrorKind::ConnectionRefused => ("nobody listens on its socket", Exit::Retry),
                ErrorKind::WouldBlock => ("it does not take the connection", Exit::Retry),
                ErrorKind::PermissionDenied => {
                    let text = format!("{}: {}: {err}", self.name(), file::CONTROL_SOCKET);
                    return Err(anyhow!(text).context(Exit::Config));
                }
                _ => return Err(anyhow::Error::from(err).context(self.name())),
            };
            if Instant::now() >= end || err.kind() == ErrorKind::WouldBlock {
                return Err(anyhow!("{}: {text}", self.name()).context(exit));
            }
            thread::sleep(POLL_INTERVAL);
        }
    }

    /// Connects to the run, or to the current attempt of a run with --retry.
    fn try_connect(&self, limit: Duration) -> io::Result<Client> {
        if let Some(attempt) = self.run.current_attempt()
            && let Ok(dir) = RunDir::existing(&attempt.dir)
        {
            return Client::connect(&dir, limit);
        }
        Client::connect(&self.dir, limit)
    }

    /// Whether the run is over, or is so within a moment: a run closes its socket
    /// before it gives up its lock.
    pub(crate) fn is_over_soon(&self) -> bool {
        let end = Instant::now() + STATE_CHANGE_LIMIT;
        while !self.run.state().is_over() {
            if Instant::now() >= end {
                return false;
            }
            thread::sleep(POLL_INTERVAL);
        }
        true
    }

    /// The error of a run that has ended.
    pub(crate) fn ended(&self) -> anyhow::Error {
        let text = format!(
            "{}: the run has ended ({}); {} continues it",
            self.name(),
            sanitized(&self.outcome()),
            self.resume_command(),
        );
        anyhow::Error::from(Ended(text)).context(Exit::NoInput)
    }

    fn outcome(&self) -> String {
        let summary = self.run.summary().ok().flatten();
        let outcome = summary.and_then(|summary| summary.outcome);
        outcome
            .map(std::borrow::Cow::into_owned)
            .or_else(|| self.run.ended().reason)
            .unwrap_or_else(|| self.run.state().name().to_owned())
    }

    /// The command that continues the run.
    pub(crate) fn resume_command(&self) -> String {
        let is_kept = self.run.dir.parent() == Some(&self.runs);
        let name = if is_kept {
            self.run.id()
        } else {
            self.run.dir.display().to_string()
        };
        let name = quote(&name).unwrap_or_default();
        format!("claude-runner --resume-run {}", sanitized(&name))
    }
}
