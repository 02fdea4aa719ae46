//! The far end's record of one attempt: a directory by the id of the run.
//!
//! * `lock`: held while a far end works on it
//! * `hello.json`: what it is about
//! * `run/`: the run directory of cr-spawn
//! * `work/`: the work directory
//! * `finished.json`: how it ended; the work is in `work.bundle`
//!
//! An attempt whose `run/` has been started is never started again.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use cr_io::{Exit, Line, Lines};
use cr_rundir::{Lock, Run, RunDir, RunId, StateDir, file};
use serde::{Deserialize, Serialize};

use super::agent::Outlet;
use super::link::{Link, Taken};
use super::work;
use crate::frame::Kind;
use crate::git::{Hash, digest};
use crate::message::{Digest, Hello, Start, Work, decode, encode};

const HELLO: &str = "hello.json";
const FINISHED: &str = "finished.json";
const BUNDLE_IN: &str = "base.bundle";
const BUNDLE_OUT: &str = "work.bundle";
const PROMPT_IN: &str = "prompt";
const LARGEST_RECORD: u64 = 16 << 20;

/// How much of a bundle is sent at once.
pub(crate) const PART: usize = 64 << 10;

/// How long an earlier far end may take to end, beyond the lease.
const TAKE_OVER_EXTRA: Duration = Duration::from_secs(30);

/// What an earlier far end has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// Nothing: the agent was not started.
    No,
    /// The agent has ended.
    Ended,
    /// The agent was started, and no record says how it ended.
    Lost,
}

/// How an attempt ended.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Finished {
    pub(crate) work: Work,
    /// The `cr/exit` line.
    pub(crate) exit: String,
}

/// One attempt, locked.
#[derive(Debug)]
pub(crate) struct Attempt {
    state: PathBuf,
    dir: RunDir,
    /// Held until this process ends.
    _lock: Lock,
}

impl Attempt {
    /// Takes the attempt over. One that another far end still works on is waited
    /// for: its lease runs out, unless two near ends ask for the same.
    pub(crate) fn open(hello: &Hello, link: &Link) -> anyhow::Result<Self> {
        let id = RunId::parse(&hello.run_id).context("the id of the run is no name")?;
        let state = StateDir::from_env().context("no state directory, because HOME is not set")?;
        state.open_part("relay")?;
        let state = state.path().join("relay");
        let attempts = RunDir::at(&state.join("attempts"))?;
        let dir = RunDir::at(&attempts.path().join(id.as_str()))?;
        let limit = Duration::from_millis(hello.lease_ms) + TAKE_OVER_EXTRA;
        let began = Instant::now();
        let lock = loop {
            match dir.lock() {
                Ok(lock) => break lock,
                Err(err) if began.elapsed() > limit || link.is_lost() => {
                    return Err(err.context(Exit::Retry));
                }
                Err(_) => std::thread::sleep(Duration::from_millis(50)),
            }
        };
        let attempt = Self {
            state,
            dir,
            _lock: lock,
        };
        attempt.check(hello)?;
        Ok(attempt)
    }

    /// Fails if the directory is about something else.
    fn check(&self, hello: &Hello) -> anyhow::Result<()> {
        if let Some(bytes) = self.dir.read(HELLO, LARGEST_RECORD)? {
            let before: Hello = decode(&bytes)?;
            let is_same = before.digest == hello.digest && before.base == hello.base;
            if !is_same && self.known()? != Known::No {
                let id = &hello.run_id;
                let text = format!("the far end knows {id} as another attempt");
                return Err(anyhow!(text).context(Exit::Tool));
            }
        }
        self.dir.write(HELLO, &encode(hello))
    }

    /// The directory of all relays.
    pub(crate) fn state(&self) -> &Path {
        &self.state
    }

    pub(crate) fn run_dir(&self) -> PathBuf {
        self.dir.path().join("run")
    }

    pub(crate) fn work_dir(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    pub(crate) fn prompt(&self) -> PathBuf {
        self.dir.path().join(PROMPT_IN)
    }

    pub(crate) fn system_prompt(&self) -> PathBuf {
        self.dir.path().join(file::SYSTEM_PROMPT)
    }

    /// What an earlier far end has left. The half of its cr-spawn that outlives
    /// the other is waited for: it ends the agent.
    pub(crate) fn known(&self) -> anyhow::Result<Known> {
        let run = Run::new(self.run_dir());
        if let Ok(lock) = File::open(run.file(file::LOCK)) {
            lock.lock()?;
        }
        Ok(match (run.has(file::STARTED), run.has(file::EXIT)) {
            _ if self.dir.has(FINISHED) => Known::Ended,
            (_, true) => Known::Ended,
            (true, false) => Known::Lost,
            (false, false) => Known::No,
        })
    }

    /// Receives the bundle and the prompt; `None` if the near end is gone.
    pub(crate) fn receive(&self, link: &Link) -> anyhow::Result<Option<Start>> {
        let mut bundle = Incoming::new(&self.dir, BUNDLE_IN)?;
        let mut prompt = Incoming::new(&self.dir, PROMPT_IN)?;
        loop {
            match link.take(Duration::from_millis(200)) {
                Taken::Frame(frame) => match frame.kind {
                    Kind::Pack => bundle.add(&frame.bytes)?,
                    Kind::Prompt => prompt.add(&frame.bytes)?,
                    Kind::Start => {
                        let start: Start = decode(&frame.bytes)?;
                        if let Some(expected) = &start.bundle {
                            bundle.check(expected)?;
                        }
                        prompt.check(&start.prompt)?;
                        return Ok(Some(start));
                    }
                    // A stop before there is anything to stop.
                    Kind::Stop => return Ok(None),
                    _ => {}
                },
                Taken::Nothing if link.is_lost() => return Ok(None),
                Taken::Nothing => {}
                Taken::Ended => return Ok(None),
            }
        }
    }

    /// Makes the work directory.
    pub(crate) fn prepare(&self, hello: &Hello, start: &Start) -> anyhow::Result<()> {
        let dir = self.work_dir();
        // One that was made before its agent could begin.
        work::remove(&dir)?;
        let bundle = self.dir.path().join(BUNDLE_IN);
        work::check_out(&self.state, hello, start, &bundle, &dir)?;
        let _ = std::fs::remove_file(bundle);
        if let Some(text) = &start.system_prompt {
            self.dir.write(file::SYSTEM_PROMPT, text.as_bytes())?;
        }
        Ok(())
    }

    /// Sends the stream of an agent that has ended, as it was recorded.
    pub(crate) fn send_record(&self, to: &Link) -> anyhow::Result<()> {
        let path = self.run_dir().join(file::STREAM);
        let Ok(stream) = File::open(&path) else {
            return Ok(());
        };
        let mut outlet = Outlet::new(to.sender());
        let mut lines = Lines::new(stream).limit(usize::MAX >> 1);
        while let Some(line) = lines.next()? {
            let line = match line {
                Line::Long(_) => lines.whole()?,
                line => Some(line),
            };
            if let Some(Line::Whole(line) | Line::Torn(line)) = line {
                outlet.line(line);
            }
        }
        outlet.flush();
        Ok(())
    }

    /// How the attempt ended; the work is collected if that was not done.
    pub(crate) fn finish(&self, hello: &Hello) -> anyhow::Result<Finished> {
        if let Some(bytes) = self.dir.read(FINISHED, LARGEST_RECORD)? {
            return decode(&bytes);
        }
        let exit = std::fs::read(self.run_dir().join(file::EXIT));
        let exit = exit
            .context("cr-spawn left no cr/exit")
            .context(Exit::Tool)?;
        let bundle = self.dir.path().join(BUNDLE_OUT);
        let code = self.dir.read("code", 16)?.unwrap_or_default();
        let code = String::from_utf8_lossy(&code).trim().parse();
        let finished = Finished {
            work: Work {
                code: code.unwrap_or(Exit::Tool.code()),
                ..work::collect(&self.work_dir(), &hello.base, &bundle)?
            },
            exit: String::from_utf8_lossy(&exit).trim_end().to_owned(),
        };
        self.dir.write_once(FINISHED, &encode(&finished))?;
        Ok(finished)
    }

    /// Notes the exit code of cr-spawn.
    pub(crate) fn note_code(&self, code: u8) -> anyhow::Result<()> {
        self.dir.write("code", code.to_string().as_bytes())
    }

    /// Sends the work, and then `cr/exit`.
    pub(crate) fn send_work(&self, finished: &Finished, link: &Link) -> anyhow::Result<()> {
        link.send(Kind::Work, encode(&finished.work));
        if let Some(expected) = &finished.work.bundle {
            let path = self.dir.path().join(BUNDLE_OUT);
            if digest(&path)? != *expected {
                return Err(anyhow!("the bundle of the work has changed").context(Exit::Tool));
            }
            let mut bundle = File::open(path)?;
            loop {
                let mut part = vec![0; PART];
                match bundle.read(&mut part)? {
                    0 => break,
                    count => part.truncate(count),
                }
                link.send(Kind::Pack, part);
            }
        }
        link.send(Kind::Exit, finished.exit.clone().into_bytes());
        Ok(())
    }

    /// Removes what the near end has. The record stays: it says that the attempt
    /// has been made. So does a work directory with files that are nowhere else.
    pub(crate) fn clean_up(&self, finished: &Finished) {
        if finished.work.uncommitted_total == 0 {
            let _ = work::remove(&self.work_dir());
            let _ = std::fs::remove_file(self.prompt());
        }
    }

    /// Removes an attempt whose agent was not started.
    pub(crate) fn forget(&self) {
        let _ = work::remove(self.dir.path());
    }
}

/// A file that comes in parts.
struct Incoming {
    file: File,
    hash: Hash,
    name: &'static str,
}

impl Incoming {
    fn new(dir: &RunDir, name: &'static str) -> anyhow::Result<Self> {
        let file = dir.create_file(name)?;
        Ok(Self {
            file,
            hash: Hash::default(),
            name,
        })
    }

    fn add(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.hash.add(bytes);
        self.file.write_all(bytes).context(self.name)
    }

    fn check(&self, expected: &Digest) -> anyhow::Result<()> {
        if self.hash.clone().end() == *expected {
            return Ok(());
        }
        let text = format!("{} did not arrive as it was sent", self.name);
        Err(anyhow!(text).context(Exit::Retry))
    }
}
