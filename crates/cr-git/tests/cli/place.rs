//! A repository in a directory of its own, with git's environment pinned: no
//! user's or system's configuration, and a clock that ticks with each call.

use std::cell::Cell;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::thread;
use std::time::Duration;

use cr_test::{Command, World, bin};
use serde_json::Value;

pub(crate) struct Place {
    pub(crate) world: World,
    clock: Cell<u64>,
    /// Whether commands are the agent's, whose git is traced.
    is_agent: Cell<bool>,
}

impl Place {
    /// A directory that is in no repository.
    pub(crate) fn bare() -> Self {
        let world = World::new();
        fs::create_dir(world.path("work")).expect("made");
        fs::DirBuilder::new()
            .mode(0o700)
            .create(world.path("agent-run"))
            .expect("made");
        let clock = Cell::new(1_700_000_000);
        let is_agent = Cell::new(false);
        Self {
            world,
            clock,
            is_agent,
        }
    }

    /// A repository without a commit.
    pub(crate) fn unborn() -> Self {
        let place = Self::bare();
        place.git(&["init", "-q", "-b", "main"]);
        place
    }

    /// A repository with one commit, of `a.txt`.
    pub(crate) fn new() -> Self {
        let place = Self::unborn();
        place.write("a.txt", "a\n");
        place.commit("base");
        place
    }

    /// Where the work tree is.
    pub(crate) fn path(&self) -> PathBuf {
        self.world.path("work")
    }

    /// A directory beside the work tree.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.world.path(name)
    }

    pub(crate) fn write(&self, path: impl AsRef<Path>, text: impl AsRef<[u8]>) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().expect("below the top")).expect("made");
        fs::write(path, text).expect("written");
    }

    /// `program` with the environment pinned, in the work tree.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let now = self.clock.get() + 1;
        self.clock.set(now);
        let mut command = self.world.command(program);
        command
            .env("GIT_AUTHOR_DATE", format!("@{now} +0000"))
            .env("GIT_COMMITTER_DATE", format!("@{now} +0000"))
            .current_dir(self.path());
        if self.is_agent.get() {
            command
                .env("GIT_TRACE2_EVENT", self.trace())
                .env("GIT_TRACE2_EVENT_BRIEF", "1");
        }
        command
    }

    pub(crate) fn git<S: AsRef<OsStr>>(&self, args: &[S]) -> String {
        let output = self.command("git").args(args).output().expect("git runs");
        let shown = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "git: {shown}");
        String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned()
    }

    /// Commits everything; returns the id.
    pub(crate) fn commit(&self, subject: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", subject]);
        self.head()
    }

    pub(crate) fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"])
    }

    pub(crate) fn cr(&self, args: &[&str]) -> Command {
        let mut command = self.command(bin("cr-git"));
        command.args(args);
        command
    }

    /// The line of `cr-git start`.
    pub(crate) fn start(&self) -> String {
        let output = self.cr(&["start"]).output().expect("runs");
        line_of(output)
    }

    /// The line that `cr-git end` adds to a stream of `start` alone.
    pub(crate) fn end(&self, start: &str) -> Value {
        let run_dir = self.beside("agent-run");
        let mut command = self.cr(&["end", "--run-dir"]);
        let output = feed(command.arg(run_dir), start.as_bytes());
        let line = line_of(output);
        let added = line.strip_prefix(start).expect("the stream comes first");
        json(added)
    }

    /// What `cr-git end` says of a run that does `deeds`.
    pub(crate) fn run(&self, deeds: impl FnOnce(&Self)) -> Value {
        let start = self.start();
        self.as_agent(|| deeds(self));
        self.end(&start)
    }

    /// Does `deeds` with the environment of an agent.
    pub(crate) fn as_agent<T>(&self, deeds: impl FnOnce() -> T) -> T {
        // Commits of two people within one tick of the kernel's clock cannot be
        // told apart.
        thread::sleep(Duration::from_millis(20));
        self.is_agent.set(true);
        let result = deeds();
        self.is_agent.set(false);
        result
    }

    /// What the agent's git commands wrote about themselves.
    pub(crate) fn trace(&self) -> PathBuf {
        self.beside("agent-run").join("git-trace.ndjson")
    }
}

/// What a command that must succeed in silence wrote.
pub(crate) fn line_of(output: Output) -> String {
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert_eq!(complaint, "");
    assert!(output.status.success(), "{:?}", output.status);
    String::from_utf8(output.stdout).expect("UTF-8")
}

pub(crate) fn json(line: &str) -> Value {
    assert_eq!(line.matches('\n').count(), 1, "one line: {line}");
    serde_json::from_str(line).expect("JSON")
}

/// Runs `command` with `input` on its standard input.
pub(crate) fn feed(command: &mut Command, input: &[u8]) -> Output {
    command.write_stdin(input).output().expect("runs")
}

/// The subjects of `commits`, without their ids.
pub(crate) fn subjects(commits: &Value) -> Vec<&str> {
    let commits = commits.as_array().expect("a list");
    commits
        .iter()
        .map(|c| c.as_str().expect("text").split_once(' ').expect("id").1)
        .collect()
}

/// Files, insertions, deletions, uncommitted.
pub(crate) fn numbers(end: &Value) -> [Option<u64>; 4] {
    let names = [
        "changed_files",
        "insertions",
        "deletions",
        "uncommitted_changes",
    ];
    names.map(|name| end[name].as_u64())
}

/// The paths of `files`.
pub(crate) fn paths(end: &Value) -> Vec<&str> {
    let files = end["files"].as_array().expect("a list");
    files
        .iter()
        .map(|f| f["path"].as_str().expect("text"))
        .collect()
}

pub(crate) fn os(bytes: &[u8]) -> &OsStr {
    OsStr::from_bytes(bytes)
}
