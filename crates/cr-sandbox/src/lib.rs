//! The sandbox of one attempt, made by bubblewrap.
//!
//! Inside, the agent has its work tree, a home of its own, a private `/tmp` and
//! the system's programs. It can write nothing else, and it sees no other file
//! of the user. The reasons behind the less obvious parts:
//!
//! * **root**: a process of root without capabilities may still write
//!   `/proc/sys`, because the kernel compares the user there. So `/proc` is
//!   read-only for root, and root gets a user namespace in which no other can be
//!   made. Files in `/etc` that other users cannot read are hidden.
//! * **environment**: bubblewrap's own first process is visible inside, with the
//!   environment that bubblewrap was started with. So bubblewrap starts with an
//!   empty one, and gets the variables to pass on through a pipe: every user of
//!   the machine can see arguments.
//! * **git**: the object store of the repository is read-only. New objects go to
//!   a private store, and a private copy of the branch's directory takes its
//!   ref. After the agent has ended, both are imported: git computes the name of
//!   each object again, and only the task's own branch moves. A store that the
//!   agent can write could be emptied, or hold a false object under a known name.
//! * **signals**: bubblewrap dies of SIGTERM and takes the agent's exit code with
//!   it. So it ignores SIGTERM, and the agent gets the default action back.

mod environment;
mod git;
mod import;
mod mounts;
mod probe;
mod system;
mod wrapper;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

pub use environment::KEPT;
pub use git::GitDirs;
pub use import::NotImported;
pub use probe::{Refused, find_bwrap, probe};
pub use wrapper::program_of;

use mounts::Mounts;

/// The sandbox of one attempt. All paths are absolute.
#[derive(Clone, Debug)]
pub struct Sandbox {
    /// The program of bubblewrap.
    pub bwrap: PathBuf,
    /// Where the agent works; writable.
    pub work_tree: PathBuf,
    /// The work tree's repository, if it has one.
    pub git: Option<GitDirs>,
    /// A directory outside for the private home and the private part of git. The
    /// attempts of one task share it.
    pub private: PathBuf,
    /// The user's home. The private home takes its place.
    pub real_home: PathBuf,
    /// Files that the agent may read, at their own place.
    pub credentials: Vec<PathBuf>,
    /// Files of the home that the agent gets a copy of, because it writes them.
    pub copied: Vec<PathBuf>,
    /// A directory outside that is `~/.claude/projects` inside: sessions can be
    /// resumed, and their logs outlast the sandbox. The agent reads all of it.
    pub session_logs: PathBuf,
    /// Further files and directories that the agent may read.
    pub extra_read: Vec<PathBuf>,
    /// Further files and directories that the agent may write.
    pub extra_write: Vec<PathBuf>,
    /// Further variables that the agent gets; see [`KEPT`].
    pub env_keep: Vec<String>,
    /// Whether the agent has the network of the host, with its loopback and its
    /// abstract sockets. Without it there is no connection at all.
    pub network: bool,
    /// Whether the sandbox is started by root.
    pub is_root: bool,
}

impl Sandbox {
    /// A sandbox for `work_tree` with the network, the usual files of the agent
    /// and of git, and no repository.
    pub fn new(bwrap: &Path, work_tree: &Path, private: &Path, real_home: &Path) -> Self {
        let home = canonical(real_home);
        let existing = |names: &[&str]| -> Vec<PathBuf> {
            let paths = names.iter().map(|name| home.join(name));
            paths.filter(|path| path.exists()).collect()
        };
        Self {
            bwrap: bwrap.to_owned(),
            work_tree: canonical(work_tree),
            git: None,
            private: canonical(private),
            credentials: existing(&[".claude/.credentials.json"]),
            copied: existing(&[".claude.json", ".claude/settings.json"]),
            session_logs: private.join("projects"),
            extra_read: existing(&[".gitconfig", ".config/git/config", ".config/git/ignore"]),
            extra_write: Vec::new(),
            env_keep: Vec::new(),
            network: true,
            is_root: rustix::process::geteuid().is_root(),
            real_home: home,
        }
    }

    /// The private home, outside.
    pub fn private_home(&self) -> PathBuf {
        self.private.join("home")
    }

    /// Makes the private directories and copies for the next attempt. Work that
    /// an earlier attempt has committed and nobody has imported is imported
    /// first.
    pub fn prepare(&self) -> io::Result<()> {
        self.import().map_err(io::Error::other)?;
        make_private(&self.private)?;
        make_private(&self.private_home())?;
        make_private(&self.session_logs)?;
        for path in &self.copied {
            let Ok(name) = path.strip_prefix(&self.real_home) else {
                continue;
            };
            let copy = self.private_home().join(name);
            if let Some(parent) = copy.parent() {
                make_private(parent)?;
            }
            // The agent's own changes stay.
            if !copy.exists() {
                fs::copy(path, copy)?;
            }
        }
        match &self.git {
            Some(git) => git.prepare(&self.private),
            None => Ok(()),
        }
    }

    /// The command line of bubblewrap, up to the `--` before the program.
    pub fn argv(&self) -> Vec<OsString> {
        self.command_line(&[])
    }

    /// The same, with the files in `program` visible.
    fn command_line(&self, program: &[PathBuf]) -> Vec<OsString> {
        let mut argv: Vec<OsString> = vec![self.bwrap.clone().into()];
        argv.extend(
            [
                "--unshare-pid",
                "--unshare-ipc",
                "--unshare-uts",
                "--unshare-cgroup-try",
                "--unshare-user",
                "--cap-drop",
                "ALL",
            ]
            .map(Into::into),
        );
        if self.is_root {
            argv.push("--disable-userns".into());
        }
        if !self.network {
            argv.push("--unshare-net".into());
        }
        let mut mounts = Mounts::default();
        system::mount(&mut mounts, self.is_root);
        self.mount_home(&mut mounts);
        for path in self.extra_read.iter().chain(program) {
            mounts.read(path);
        }
        for path in &self.extra_write {
            mounts.write(path);
        }
        mounts.write(&self.work_tree);
        if let Some(git) = &self.git {
            git.mount(&mut mounts, &self.work_tree, &self.private);
        }
        argv.extend(mounts.into_argv());
        if self.is_root {
            argv.extend(["--remount-ro", "/proc"].map(Into::into));
        }
        argv.extend(["--chdir".into(), self.work_tree.clone().into(), "--".into()]);
        argv
    }

    fn mount_home(&self, mounts: &mut Mounts) {
        mounts.write_from(&self.private_home(), &self.real_home);
        let projects = self.real_home.join(".claude/projects");
        mounts.write_from(&self.session_logs, &projects);
        for path in &self.credentials {
            mounts.read(path);
        }
    }
}

/// Makes a directory that only its owner may enter.
fn make_private(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true).mode(0o700).create(path)
}

/// `path` without symbolic links, if it exists.
fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
