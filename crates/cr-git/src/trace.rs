//! The git commands of the agent that make commits, from the trace that git
//! writes about itself.
//!
//! `GIT_TRACE2_EVENT` in the agent's environment makes every git that it starts,
//! directly or not, add its events to a file of the run directory. Nothing else
//! in the environment marks a commit as the agent's without a change to what the
//! user sees: `GIT_REFLOG_ACTION` replaces the text of the reflog, and
//! `git checkout -` no longer works with it.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use jiff::Timestamp;
use rustix::fs::{Mode, OFlags};
use serde::Deserialize;

/// Most of a trace that is read; the rest is no evidence.
const MOST: u64 = 256 << 20;

/// The events that are needed; a status command alone has twenty others.
const NEEDED: [&str; 5] = ["version", "start", "def_repo", "cmd_name", "atexit"];

/// A git command that makes commits, from its start to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommitCommand {
    pub(crate) name: String,
    pub(crate) worktree: String,
    /// The subject that it was given for its commit.
    pub(crate) subject: Option<String>,
    pub(crate) start: Timestamp,
    pub(crate) end: Timestamp,
}

impl CommitCommand {
    /// Whether it makes one commit, not a series.
    pub(crate) fn makes_one(&self) -> bool {
        is_single(&self.name)
    }

    /// Whether it can be what wrote `message` into the reflog for a new commit.
    pub(crate) fn writes(&self, message: &str) -> bool {
        let (action, detail) = message.split_once(": ").unwrap_or((message, ""));
        // The commit was there before.
        if detail.ends_with("ast-forward") {
            return false;
        }
        let first = action.split(' ').next().unwrap_or_default();
        match &*self.name {
            // It also ends a merge, a pick or a step of a rebase.
            "commit" => ["commit", "merge", "cherry-pick", "revert", "rebase"].contains(&first),
            "merge" => ["merge", "pull"].contains(&first),
            "rebase" => {
                let moves = ["(start)", "(finish)", "(abort)"];
                ["rebase", "pull"].contains(&first) && !moves.iter().any(|m| action.ends_with(m))
            }
            name => name == first,
        }
    }
}

fn is_single(name: &str) -> bool {
    ["commit", "merge"].contains(&name)
}

fn makes_commits(name: &str) -> bool {
    is_single(name) || ["rebase", "cherry-pick", "revert", "am"].contains(&name)
}

/// Options with which `git commit` only shows what it would do.
fn only_shows(arg: &str) -> bool {
    ["--dry-run", "--short", "--porcelain", "--long"].contains(&arg)
}

/// The first line of the message in `args`: `-m TEXT`, `-qm TEXT`, `--message=TEXT`.
fn subject(args: &[String]) -> Option<String> {
    let mut args = args.iter();
    let text = loop {
        let arg = args.next()?;
        let is_short = arg.starts_with('-') && !arg.starts_with("--") && arg.ends_with('m');
        if is_short || arg == "--message" {
            break args.next()?.as_str();
        }
        if let Some(text) = arg.strip_prefix("--message=") {
            break text;
        }
    };
    let line = text.trim().lines().next()?;
    Some(line.trim_end().to_owned())
}

#[derive(Deserialize)]
struct TraceEvent {
    event: String,
    sid: String,
    time: Option<Timestamp>,
    name: Option<String>,
    worktree: Option<String>,
    code: Option<i32>,
    #[serde(default)]
    argv: Vec<String>,
}

/// What is known of one process.
#[derive(Default)]
struct Process {
    name: Option<String>,
    worktree: Option<String>,
    start: Option<Timestamp>,
    end: Option<Timestamp>,
    code: Option<i32>,
    only_shows: bool,
    subject: Option<String>,
    lines: Vec<u8>,
}

impl Process {
    fn add(&mut self, event: TraceEvent) {
        match &*event.event {
            "version" => self.start = self.start.or(event.time),
            "start" => {
                self.only_shows = event.argv.iter().any(|arg| only_shows(arg));
                self.subject = subject(&event.argv);
            }
            // The first is the repository of the command, others its submodules.
            "def_repo" => self.worktree = self.worktree.take().or(event.worktree),
            // An alias has two names.
            "cmd_name" => self.name = event.name.filter(|n| makes_commits(n)).or(self.name.take()),
            _ => (self.end, self.code) = (event.time, event.code),
        }
    }

    /// A command that was killed has no end, and is no evidence.
    fn command(&self) -> Option<CommitCommand> {
        let name = self.name.clone()?;
        if self.only_shows || (is_single(&name) && self.code != Some(0)) {
            return None;
        }
        Some(CommitCommand {
            name,
            worktree: self.worktree.clone()?,
            subject: self.subject.clone(),
            start: self.start?,
            end: self.end?,
        })
    }
}

/// A trace, as far as it is about commits.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    /// In the order of their starts.
    pub(crate) commands: Vec<CommitCommand>,
    /// The lines about them: a small trace with the same meaning.
    pub(crate) lines: Vec<u8>,
    /// Whether it had other lines too.
    pub(crate) has_other_lines: bool,
}

impl Trace {
    /// The trace in `file`; an unreadable one is empty.
    pub(crate) fn read(file: &Path) -> Self {
        // The agent can put anything there; a FIFO would never end.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::open(file, flags, Mode::empty()).map(File::from);
        match file {
            Ok(file) if file.metadata().is_ok_and(|meta| meta.is_file()) => {
                Self::parse(BufReader::new(file).take(MOST))
            }
            _ => Self::default(),
        }
    }

    fn parse(mut input: impl BufRead) -> Self {
        let mut processes: HashMap<String, Process> = HashMap::new();
        let mut trace = Self::default();
        let mut line = Vec::new();
        let mut bytes = 0;
        while input.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
            if is_needed(&line)
                && let Ok(event) = serde_json::from_slice::<TraceEvent>(&line)
            {
                let is_last = event.event == "atexit";
                let process = processes.entry(event.sid.clone()).or_default();
                process.lines.extend(&line);
                let sid = event.sid.clone();
                process.add(event);
                if is_last && let Some(process) = processes.remove(&sid) {
                    trace.add(&process);
                }
            }
            bytes += line.len();
            line.clear();
        }
        trace.has_other_lines = trace.lines.len() < bytes;
        trace.commands.sort_by_key(|command| command.start);
        trace
    }

    fn add(&mut self, process: &Process) {
        if let Some(command) = process.command() {
            self.commands.push(command);
            self.lines.extend(&process.lines);
        }
    }
}

/// git writes the kind of an event first.
fn is_needed(line: &[u8]) -> bool {
    let kind = line.strip_prefix(br#"{"event":""#).unwrap_or_default();
    let kind = kind.split(|&b| b == b'"').next().unwrap_or_default();
    NEEDED.iter().any(|needed| needed.as_bytes() == kind)
}

#[cfg(test)]
#[path = "trace_tests.rs"]
mod tests;
