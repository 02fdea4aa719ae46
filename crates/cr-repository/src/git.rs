//! Runs git, and does so only here, so that no repository can make us run code.
//!
//! A repository's configuration and attributes name programs: a monitor, hooks,
//! filters, text converters, helpers, transports. Every call that reads turns all
//! of them off. Filters cannot be turned off by a fixed name: their names are
//! looked up first. A call that [changes](Git::changing) the repository keeps what
//! a checkout needs.

use std::collections::BTreeSet;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::settings;

/// Most output of one call that is held: a million changed files.
const MOST: u64 = 128 << 20;

/// How much of git's own complaint is kept.
const COMPLAINT: usize = 300;

/// Why a question to git has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GitError {
    /// There is no repository here.
    NoRepository,
    /// Anything else, in words.
    Other(String),
}

impl fmt::Display for GitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRepository => f.write_str("not a git repository"),
            Self::Other(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for GitError {}

/// git, in one directory, with everything that could run code turned off.
#[derive(Clone, Debug)]
pub struct Git {
    dir: PathBuf,
    limit: Duration,
    filters: BTreeSet<OsString>,
    purpose: Purpose,
    /// A lock that each call holds, too.
    lock: Option<Arc<File>>,
}

/// What a call is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Read,
    /// It changes the repository, and the kernel kills it when its caller dies.
    Change,
    /// As `Change`, but it goes on when its caller dies.
    Complete,
}

/// What a call wrote, and whether it ended with 0.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Whether it ended with 0.
    pub yes: bool,
    /// Its exit code, `None` if a signal ended it.
    pub code: Option<i32>,
    /// Its standard output.
    pub text: Vec<u8>,
    /// The line of its standard error that says what is wrong.
    pub complaint: String,
}

impl Git {
    /// git in `dir`; a call that takes longer than `limit` is given up. Before
    /// it may look at files, it has to know the [filters](Self::filters).
    pub fn at(dir: &Path, limit: Duration) -> Result<Self, GitError> {
        let git = Self {
            dir: dir.to_owned(),
            limit,
            filters: BTreeSet::new(),
            purpose: Purpose::Read,
            lock: None,
        };
        if !dir.is_dir() {
            let text = format!("{}: no such directory", dir.display());
            return Err(GitError::Other(text));
        }
        Ok(git)
    }

    /// The filters that the configuration names.
    pub fn filters(&self) -> Result<BTreeSet<OsString>, GitError> {
        let names = ["config", "-z", "--name-only", "--get-regexp", r"^filter\."];
        let found = self.answer(&names, b"")?;
        let names = found.text.split(|&b| b == 0);
        // `filter.NAME.clean`: the name may hold dots, its last part may not.
        Ok(names
            .filter_map(|key| key.iter().rposition(|&b| b == b'.').map(|dot| &key[..dot]))
            .filter(|section| section.len() > "filter.".len())
            .map(|section| OsString::from_vec(section.to_vec()))
            .collect())
    }

    /// The same git in another directory of the same repository, with `filters`
    /// turned off.
    #[must_use]
    pub fn moved(&self, dir: &Path, filters: BTreeSet<OsString>) -> Self {
        Self {
            dir: dir.to_owned(),
            limit: self.limit,
            filters,
            purpose: self.purpose,
            lock: None,
        }
    }

    /// The same git for calls that change the repository: with the filters, the
    /// merge drivers, the identity and the credentials that the user has set up,
    /// still without hooks, monitors, signatures and housekeeping.
    ///
    /// The kernel kills such a git when the thread dies that called it, so that
    /// nothing changes after the death of this process.
    #[must_use]
    pub fn changing(&self, dir: &Path, limit: Duration) -> Self {
        Self {
            dir: dir.to_owned(),
            limit,
            filters: BTreeSet::new(),
            purpose: Purpose::Change,
            lock: None,
        }
    }

    /// The same git, which completes its work when its caller dies.
    #[must_use]
    pub fn completing(&self) -> Self {
        Self {
            purpose: Purpose::Complete,
            ..self.clone()
        }
    }

    /// As [`completing`](Self::completing). If the caller dies, its lock `file` is
    /// released when git has ended, and no one sees its work half done. Git gets the
    /// lock as its standard input, so it gets no other input.
    ///
    /// [`take_lock`](crate::take_lock) returns such a file.
    #[must_use]
    pub fn completing_under(&self, file: Option<File>) -> Self {
        Self {
            lock: file.map(Arc::new),
            ..self.completing()
        }
    }

    /// How long one call may take.
    pub fn limit(&self) -> Duration {
        self.limit
    }

    /// What git prints for `args`, which must succeed.
    pub fn ask<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<Vec<u8>, GitError> {
        self.ask_with(args, b"")
    }

    /// As [`Git::ask`], with `input` on standard input.
    pub fn ask_with<S: AsRef<OsStr>>(&self, args: &[S], input: &[u8]) -> Result<Vec<u8>, GitError> {
        let answer = self.answer(args, input)?;
        if answer.yes {
            return Ok(answer.text);
        }
        if answer.complaint.contains("not a git repository") {
            return Err(GitError::NoRepository);
        }
        let name = args.first().map(AsRef::as_ref).unwrap_or_default();
        let text = format!("git {}: {}", name.display(), answer.complaint);
        Err(GitError::Other(text))
    }

    /// What git prints for `args`, and how it ends.
    pub fn answer<S: AsRef<OsStr>>(&self, args: &[S], input: &[u8]) -> Result<Answer, GitError> {
        let child = self.command(args).spawn().map_err(|err| {
            let missing = err.kind() == io::ErrorKind::NotFound;
            GitError::Other(if missing {
                "git: not found".to_owned()
            } else {
                format!("git: {err}")
            })
        })?;
        collect(child, input, self.limit)
    }

    fn command<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let mut command = Command::new("git");
        let is_read = self.purpose == Purpose::Read;
        for (name, _) in env::vars_os() {
            let is_kept = !is_read && settings::is_of_the_user(name.as_bytes());
            if name.as_bytes().starts_with(b"GIT_") && !is_kept {
                command.env_remove(name);
            }
        }
        let (environment, arguments) = if is_read {
            (settings::READ_ENVIRONMENT, settings::READ)
        } else {
            (settings::CHANGE_ENVIRONMENT, settings::CHANGE)
        };
        command.envs(settings::ENVIRONMENT.iter().copied());
        command.envs(environment.iter().copied());
        command.args(settings::FIXED).args(arguments);
        if is_read {
            self.without_filters(&mut command);
        }
        command
            .args(args)
            .current_dir(&self.dir)
            .stdin(self.stdin())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if self.purpose == Purpose::Change {
            cr_sys::in_own_session(&mut command, Some(Signal::KILL));
        } else {
            // Ctrl-C on a terminal is for the agent; what it leaves is still
            // to be written down.
            command.process_group(0);
        }
        command
    }

    /// A file that two processes have open stays locked until both have ended.
    fn stdin(&self) -> Stdio {
        let lock = self.lock.as_ref().and_then(|lock| lock.try_clone().ok());
        lock.map_or_else(Stdio::piped, Stdio::from)
    }

    /// Turns every configured filter off.
    ///
    /// `-c` ends a key at the first `=`, so a filter called `a=b` would slip
    /// through; such names go by the environment, which older versions of git
    /// do not read.
    fn without_filters(&self, command: &mut Command) {
        let values = [
            ("clean", ""),
            ("smudge", ""),
            ("process", ""),
            ("required", "false"),
        ];
        let mut count = 0;
        for filter in &self.filters {
            for (key, value) in values {
                let mut name = filter.clone();
                name.push(".");
                name.push(key);
                if filter.as_bytes().contains(&b'=') {
                    command.env(format!("GIT_CONFIG_KEY_{count}"), name);
                    command.env(format!("GIT_CONFIG_VALUE_{count}"), value);
                    count += 1;
                } else {
                    name.push("=");
                    name.push(value);
                    command.arg("-c").arg(name);
                }
            }
        }
        command.env("GIT_CONFIG_COUNT", count.to_string());
    }
}

/// Feeds and drains `child` until it ends, or kills it after `limit`.
fn collect(mut child: Child, input: &[u8], limit: Duration) -> Result<Answer, GitError> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let input = input.to_vec();
    let started = thread::Builder::new().spawn(move || {
        // A git that does not read all of it has its own reason.
        let _ = stdin.map(|mut stdin| stdin.write_all(&input));
    });
    let started = started.and_then(|_| Ok((drain(stderr, 64 << 10)?, drain(stdout, MOST + 1)?)));
    let (complaint, text) = match started {
        Ok(channels) => channels,
        Err(err) => {
            stop(child, limit);
            return Err(GitError::Other(format!("git: start a thread: {err}")));
        }
    };
    let read = text
        .recv_timeout(limit)
        .and_then(|text| Ok((text, complaint.recv_timeout(limit)?)));
    let Ok((text, complaint)) = read else {
        return Err(GitError::Other(stop(child, limit)));
    };
    if text.len() as u64 > MOST {
        stop(child, limit);
        return Err(GitError::Other(format!("git wrote more than {MOST} bytes")));
    }
    let status = child
        .wait()
        .map_err(|err| GitError::Other(format!("git: {err}")))?;
    Ok(Answer {
        yes: status.success(),
        code: status.code(),
        text,
        complaint: first_line(&complaint),
    })
}

/// Reads `from` to its end, at most `most` bytes, on a thread of its own.
fn drain(
    from: Option<impl Read + Send + 'static>,
    most: u64,
) -> io::Result<mpsc::Receiver<Vec<u8>>> {
    let (send, receive) = mpsc::channel();
    thread::Builder::new().spawn(move || {
        let mut text = Vec::new();
        if let Some(from) = from {
            let _ = from.take(most).read_to_end(&mut text);
        }
        let _ = send.send(text);
    })?;
    Ok(receive)
}

/// Asks both questions at the same time; one after the other where no thread can
/// be started.
pub fn both<A: Send, B>(one: impl Fn() -> A + Sync, other: impl FnOnce() -> B) -> (A, B) {
    let one = &one;
    thread::scope(|scope| {
        let started = thread::Builder::new().spawn_scoped(scope, one);
        let other = other();
        let joined = started.ok().and_then(|thread| thread.join().ok());
        (joined.unwrap_or_else(one), other)
    })
}

/// Kills git and what it started; says why.
fn stop(mut child: Child, limit: Duration) -> String {
    let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
    let _ = child.wait();
    format!("git: no answer within {} s", limit.as_secs_f64())
}

/// The line of git's complaint that says what is wrong, else its first one,
/// without `fatal: `.
fn first_line(complaint: &[u8]) -> String {
    let text = String::from_utf8_lossy(complaint);
    let wrong = |line: &&str| line.starts_with("fatal: ") || line.starts_with("error: ");
    let line = text.lines().find(wrong).or(text.lines().next());
    let line = line.unwrap_or_default();
    let line = line
        .strip_prefix("fatal: ")
        .or_else(|| line.strip_prefix("error: "))
        .unwrap_or(line);
    line.chars().take(COMPLAINT).collect()
}
