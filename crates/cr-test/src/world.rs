//! The surroundings of one test.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tempfile::TempDir;

use crate::process::{Found, kill, with_variable};
use crate::{Command, bin, bin_dir, names, program, wait};

/// What a test keeps of its caller's environment: where programs are, and what
/// cargo needs to run.
const KEPT: [&str; 9] = [
    "PATH",
    "TMPDIR",
    "CARGO_HOME",
    "CARGO_TARGET_DIR",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "LD_LIBRARY_PATH",
    "LLVM_PROFILE_FILE",
    "CR_TEST_RUNNING",
];

/// What is fixed for every test.
const FIXED: [(&str, &str); 9] = [
    ("LC_ALL", "C"),
    ("TZ", "UTC"),
    ("NO_COLOR", "1"),
    ("IS_SANDBOX", "1"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_AUTHOR_NAME", "A"),
    ("GIT_AUTHOR_EMAIL", "a@example.org"),
    ("GIT_COMMITTER_NAME", "C"),
    ("GIT_COMMITTER_EMAIL", "c@example.org"),
];

/// git's housekeeping would outlive the test.
const GIT_CONFIG: &str =
    "[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[init]\n\tdefaultBranch = main\n";

/// After the end of a test its processes have this long to go by themselves.
const LEFTOVER_LIMIT: Duration = Duration::from_secs(10);

/// A directory of its own, with a HOME, a state and an environment for the
/// processes of one test. All clones are the same world.
#[derive(Clone, Debug)]
pub struct World {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    dir: TempDir,
    tag: String,
    /// The process that was started first; the greatest number if none was.
    first: AtomicU32,
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

impl World {
    /// A new world, with an empty HOME.
    pub fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        names::note();
        let dir = tempfile::Builder::new().prefix("cr-").tempdir();
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let inner = Inner {
            dir: dir.expect("a directory"),
            tag: format!("{}-{number}", std::process::id()),
            first: AtomicU32::new(u32::MAX),
        };
        let world = Self {
            inner: Arc::new(inner),
        };
        fs::create_dir(world.home()).expect("made");
        fs::write(world.home().join(".gitconfig"), GIT_CONFIG).expect("written");
        world
    }

    /// The world's directory.
    pub fn dir(&self) -> &Path {
        self.inner.dir.path()
    }

    /// A path below the world's directory.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.dir().join(name)
    }

    /// HOME.
    pub fn home(&self) -> PathBuf {
        self.path("home")
    }

    /// `CR_STATE_DIR`. Nobody has made it yet.
    pub fn state(&self) -> PathBuf {
        self.path("state")
    }

    /// Writes `text` to a file below the world's directory.
    pub fn write(&self, name: impl AsRef<Path>, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("below the top")).expect("made");
        fs::write(&path, text).expect("written");
        path
    }

    /// Writes a shell script below the world's directory.
    pub fn script(&self, name: impl AsRef<Path>, body: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("below the top")).expect("made");
        program::write(&path, &format!("#!/bin/sh\n{body}\n"));
        path
    }

    /// Copies a program here, for a user who cannot read where it is.
    pub fn copy_program(&self, program: &Path) -> PathBuf {
        let copy = self.path(program.file_name().expect("a name"));
        program::copy(program, &copy);
        copy
    }

    /// A program to set as `CR_CLAUDE`: the stand-in for the agent (see `cr-mock
    /// agent`), as release `version`.
    pub fn stand_in(&self, version: &str) -> PathBuf {
        let program = bin("cr-mock");
        let program = program.display();
        let body = format!("CR_MOCK_VERSION={version} exec '{program}' agent \"$@\"");
        self.script("stand-in", &body)
    }

    /// `program` with the environment of this world.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        Command::in_world(self, program.as_ref())
    }

    /// A tool of this workspace with the environment of this world.
    pub fn tool(&self, name: &str) -> Command {
        self.command(bin(name))
    }

    /// A shell that runs `line`.
    pub fn shell(&self, line: &str) -> Command {
        let mut command = self.command("/bin/sh");
        command.args(["-c", line]);
        command
    }

    /// PATH with the tools of this workspace first.
    pub fn path_with_tools(&self) -> OsString {
        let mut path = bin_dir().into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        path
    }

    pub(crate) fn environment(&self) -> Vec<(OsString, OsString)> {
        let kept = KEPT
            .iter()
            .filter_map(|name| Some(((*name).into(), std::env::var_os(name)?)));
        let fixed = FIXED.iter().map(|(name, value)| {
            let (name, value) = (OsString::from(name), OsString::from(value));
            (name, value)
        });
        let own = [
            ("HOME".into(), self.home().into()),
            ("CR_STATE_DIR".into(), self.state().into()),
        ];
        kept.chain(fixed).chain(own).collect()
    }

    pub(crate) fn tag(&self) -> &str {
        &self.inner.tag
    }

    pub(crate) fn note_process(&self, pid: u32) {
        self.inner.first.fetch_min(pid, Ordering::Relaxed);
    }

    /// The living processes that were started in this world.
    pub fn processes(&self) -> Vec<Found> {
        self.inner.processes()
    }

    /// Kills every process of this world. Only a test that has left some on
    /// purpose has to.
    pub fn kill_all(&self) {
        self.inner.kill_all();
    }

    /// Fails unless every process of this world is gone.
    pub fn assert_nobody_left(&self, what: &str) {
        let left = self.processes();
        assert!(left.is_empty(), "{what}: left behind: {left:?}");
    }

    /// Waits until every process of this world is gone.
    pub fn wait_until_nobody_is_left(&self) {
        wait::until("nobody is left", || self.processes().is_empty());
    }
}

impl Inner {
    fn processes(&self) -> Vec<Found> {
        match self.first.load(Ordering::Relaxed) {
            u32::MAX => Vec::new(),
            first => with_variable(&format!("CR_TEST_TAG={}", self.tag), first),
        }
    }

    /// Repeats, since a process may start another in the meantime.
    fn kill_all(&self) {
        let end = Instant::now() + LEFTOVER_LIMIT;
        loop {
            let left = self.processes();
            if left.is_empty() || Instant::now() > end {
                return;
            }
            for process in left {
                kill(process.pid, Signal::KILL);
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Inner {
    /// Nobody outlives a test. A test that has failed already says no more.
    fn drop(&mut self) {
        let end = Instant::now() + LEFTOVER_LIMIT;
        let mut left = self.processes();
        while !left.is_empty() && !thread::panicking() && Instant::now() < end {
            thread::sleep(Duration::from_millis(10));
            left = self.processes();
        }
        if !left.is_empty() {
            self.kill_all();
            assert!(thread::panicking(), "left behind: {left:?}");
        }
    }
}
