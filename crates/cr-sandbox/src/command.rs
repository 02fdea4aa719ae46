//! Commands that run what the agent has written, such as its tests.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::environment::{KEPT, RIGHTS};
use crate::mounts::Mounts;
use crate::{canonical, git, namespaces, system};

/// The sandbox of a command of the user that works in the agent's tree. Its home is
/// empty and gone when it ends, so that no agent leaves something in it for the
/// command that judges its work. It has nothing of the agent's rights.
#[derive(Clone, Debug)]
pub struct CommandSandbox {
    /// The program of bubblewrap.
    pub bwrap: PathBuf,
    /// The tree; writable.
    pub work_tree: PathBuf,
    /// The repository's directory; read-only.
    pub repository: PathBuf,
    /// The user's home, in whose place the empty one is.
    pub real_home: PathBuf,
    /// See [`crate::Sandbox::extra_read`].
    pub extra_read: Vec<PathBuf>,
    /// See [`crate::Sandbox::extra_write`].
    pub extra_write: Vec<PathBuf>,
    /// See [`crate::Sandbox::network`].
    pub network: bool,
    /// See [`crate::Sandbox::is_root`].
    pub is_root: bool,
}

/// The signals that are for the command come to bubblewrap, too.
const STARTER: &str = "trap '' TERM INT QUIT; exec \"$@\"";

impl CommandSandbox {
    /// A shell that runs `text` in the directory `cwd` with the variables `env`. It
    /// ends with the process that starts it.
    pub fn shell(&self, text: &str, cwd: &Path, env: &[(String, String)]) -> Command {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", STARTER, "sh"]).arg(&self.bwrap);
        shell.arg("--die-with-parent").args(self.arguments(cwd));
        shell.args(["--", "/usr/bin/env", "--default-signal=TERM,INT,QUIT"]);
        shell.args(["/bin/sh", "-c", text]);
        let kept = KEPT.iter().filter(|name| !RIGHTS.contains(name));
        let kept = kept.filter_map(|name| Some((*name, std::env::var_os(name)?)));
        let path = std::env::var_os("PATH").map(|path| ("PATH", path));
        shell
            .env_clear()
            .envs(kept.chain(path))
            .envs(env.iter().map(|(name, value)| (name, value)))
            .env("HOME", canonical(&self.real_home));
        shell
    }

    fn arguments(&self, cwd: &Path) -> Vec<OsString> {
        let mut argv = namespaces(self.is_root, self.network);
        let mut mounts = Mounts::default();
        system::mount(&mut mounts, self.is_root);
        mounts.special("--tmpfs", &canonical(&self.real_home));
        for path in &self.extra_read {
            mounts.read(path);
        }
        for path in &self.extra_write {
            mounts.write(path);
        }
        let work_tree = canonical(&self.work_tree);
        mounts.write(&work_tree);
        git::mount_read_only(&mut mounts, &canonical(&self.repository));
        mounts.read(&work_tree.join(".git"));
        argv.extend(mounts.into_argv());
        if self.is_root {
            argv.extend(["--remount-ro", "/proc"].map(Into::into));
        }
        argv.extend(["--chdir".into(), canonical(cwd).into()]);
        argv
    }
}
