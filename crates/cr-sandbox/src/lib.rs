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

mod command;
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

pub use command::CommandSandbox;
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
    /// The directory in it that the agent starts in.
    pub cwd: PathBuf,
    /// The work tree's repository, if it has one.
    pub git: Option<GitDirs>,
    /// A directory outside for the private home and the private part of git. The
    /// attempts of one task share it.
    pub private: PathBuf,
    /// The user's home. The private home takes its place.
    pub real_home: PathBuf,
    /// Files of the agent that it may read: where they are, and their names in the
    /// home inside.
    pub credentials: Vec<(PathBuf, PathBuf)>,
    /// The same, of which the agent gets a copy, because it writes them.
    pub copied: Vec<(PathBuf, PathBuf)>,
    /// A directory outside that is `~/.claude/projects` inside: sessions can be
    /// resumed, and their logs outlast the sandbox. The agent reads all of it.
    pub session_logs: PathBuf,
    /// The directory outside for the logs of sessions in `cwd`, where the agent
    /// keeps them without a sandbox. `None` if its name is not known.
    pub own_session_logs: Option<PathBuf>,
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

/// Directories from which a sandbox is made.
#[derive(Clone, Copy, Debug)]
pub struct Places<'a> {
    /// Where the agent works.
    pub work_tree: &'a Path,
    /// The directory in it that the agent starts in.
    pub cwd: &'a Path,
    /// See [`Sandbox::private`].
    pub private: &'a Path,
    /// The user's home.
    pub home: &'a Path,
    /// The agent's own directory: `$CLAUDE_CONFIG_DIR`, else `~/.claude`.
    pub agent_dir: &'a Path,
}

impl Sandbox {
    /// A sandbox with the network, the usual files of git and of the agent, and no
    /// repository.
    pub fn new(bwrap: &Path, places: &Places<'_>) -> Self {
        let real_home = canonical(places.home);
        let agent_dir = canonical(places.agent_dir);
        let is_usual = agent_dir == real_home.join(".claude");
        let state_dir = if is_usual { &real_home } else { &agent_dir };
        let existing = |files: &[(&Path, &str, &str)]| -> Vec<(PathBuf, PathBuf)> {
            let files = files.iter().map(|(dir, file, name)| (dir.join(file), name));
            let files = files.filter(|(path, _)| path.exists());
            files.map(|(path, name)| (path, name.into())).collect()
        };
        let file = ".credentials.json";
        let credentials = existing(&[(&agent_dir, file, ".claude/.credentials.json")]);
        let copied = existing(&[
            (state_dir, ".claude.json", ".claude.json"),
            (&agent_dir, "settings.json", ".claude/settings.json"),
        ]);
        let read = [".gitconfig", ".config/git/config", ".config/git/ignore"];
        let read = read.map(|name| real_home.join(name)).into_iter();
        let cwd = canonical(places.cwd);
        let private = canonical(places.private);
        Self {
            bwrap: bwrap.to_owned(),
            work_tree: canonical(places.work_tree),
            git: None,
            credentials,
            copied,
            session_logs: private.join("projects"),
            own_session_logs: session_log_dir(&cwd)
                .map(|name| agent_dir.join("projects").join(name)),
            extra_read: read.filter(|path| path.exists()).collect(),
            extra_write: Vec::new(),
            env_keep: Vec::new(),
            network: true,
            is_root: rustix::process::geteuid().is_root(),
            cwd,
            private,
            real_home,
        }
    }

    /// The private home, outside.
    pub fn private_home(&self) -> PathBuf {
        self.private.join("home")
    }

    /// Where the agent's branch is while the agent works: a file that the agent can
    /// replace by anything.
    pub fn private_ref(&self) -> Option<PathBuf> {
        let (_, name) = self.git.as_ref()?.branch.rsplit_once('/')?;
        Some(self.private.join("git/branch").join(name))
    }

    /// Makes the private directories and copies for the next attempt, which begins
    /// with what the repository has: [`Sandbox::import`] comes before it.
    pub fn prepare(&self) -> io::Result<()> {
        make_private(&self.private)?;
        make_private(&self.private_home())?;
        make_private(&self.session_logs)?;
        if let Some(dir) = &self.own_session_logs {
            make_private(dir)?;
        }
        for (path, name) in &self.copied {
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
        argv.extend(namespaces(self.is_root, self.network));
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
        argv.extend(["--chdir".into(), self.cwd.clone().into(), "--".into()]);
        argv
    }

    /// PATH for what runs outside: no directory in it can the agent write. A
    /// relative one would be below its work tree.
    fn outer_path(&self) -> OsString {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let writable = [&self.work_tree, &self.private, &self.session_logs];
        let writable: Vec<&PathBuf> = writable.into_iter().chain(&self.extra_write).collect();
        let dirs = std::env::split_paths(&path).filter(|dir| {
            let real = canonical(dir);
            dir.is_absolute() && !writable.iter().any(|place| real.starts_with(place))
        });
        std::env::join_paths(dirs).unwrap_or_default()
    }

    fn mount_home(&self, mounts: &mut Mounts) {
        mounts.write_from(&self.private_home(), &self.real_home);
        let projects = self.real_home.join(".claude/projects");
        mounts.write_from(&self.session_logs, &projects);
        if let Some(dir) = &self.own_session_logs
            && let Some(name) = dir.file_name()
        {
            mounts.write_from(dir, &projects.join(name));
        }
        for (path, name) in &self.credentials {
            mounts.read_from(path, &self.real_home.join(name));
        }
    }
}

/// What the sandbox does not share with the host.
fn namespaces(is_root: bool, network: bool) -> Vec<OsString> {
    let mut argv: Vec<OsString> = [
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-cgroup-try",
        "--unshare-user",
        "--cap-drop",
        "ALL",
    ]
    .map(Into::into)
    .into();
    if is_root {
        argv.push("--disable-userns".into());
    }
    if !network {
        argv.push("--unshare-net".into());
    }
    argv
}

/// The longest path whose name below `projects` is known: to a longer one the
/// agent adds a hash of its own.
const LONGEST: usize = 200;

/// The name of the directory in which the agent keeps the logs of sessions in `cwd`.
fn session_log_dir(cwd: &Path) -> Option<String> {
    let cwd = cwd
        .to_str()
        .filter(|cwd| cwd.encode_utf16().count() <= LONGEST)?;
    let is_kept = |c: char| c.is_ascii_alphanumeric();
    let units = cwd.chars().flat_map(|c| {
        let c = if is_kept(c) {
            (c, 1)
        } else {
            ('-', c.len_utf16())
        };
        std::iter::repeat_n(c.0, c.1)
    });
    Some(units.collect())
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
