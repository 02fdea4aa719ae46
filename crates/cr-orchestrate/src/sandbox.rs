//! The sandbox of an attempt: of its agent, and of the commands that run what the
//! agent has written.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use cr_agent::{AgentCommand, AgentOptions, find_program};
use cr_io::Exit;
use cr_rundir::{RunDir, file};
use cr_sandbox::{CommandSandbox, GitDirs, Places, Refused, Sandbox};
use serde::{Deserialize, Serialize};

use crate::args::SandboxArgs;
use crate::attempt::Spec;
use crate::isolation::{Place, Worktrees};

/// The directory of the private parts of sandboxes, in the directory of a run.
const PRIVATE: &str = "sandbox";

/// What the network of a sandbox is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Network {
    /// That of the host
    #[default]
    Host,
    /// None at all
    None,
}

/// What a run lets into its sandboxes. All paths are absolute.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct SandboxSettings {
    /// Whether they have the network of the host.
    pub(crate) network: bool,
    /// What may be read, beside what is usual.
    pub(crate) read: Vec<String>,
    /// What may be written, beside what is usual.
    pub(crate) write: Vec<String>,
}

impl SandboxSettings {
    /// What the command line asks for.
    pub(crate) fn of(args: &SandboxArgs) -> anyhow::Result<Option<Self>> {
        if !args.sandbox {
            return Ok(None);
        }
        let all = |paths: &[PathBuf]| paths.iter().map(|path| absolute(path)).collect();
        let read: anyhow::Result<_> = all(&args.sandbox_read);
        let write: anyhow::Result<_> = all(&args.sandbox_write);
        Ok(Some(Self {
            network: args.sandbox_network.unwrap_or_default() == Network::Host,
            read: read.context("--sandbox-read")?,
            write: write.context("--sandbox-write")?,
        }))
    }

    fn of_commands(&self, worktrees: &Worktrees, tree: &Path) -> anyhow::Result<CommandSandbox> {
        Ok(CommandSandbox {
            bwrap: bwrap()?,
            work_tree: tree.to_owned(),
            repository: worktrees.open()?.common_dir().to_owned(),
            real_home: home()?,
            extra_read: paths(&self.read),
            extra_write: paths(&self.write),
            network: self.network,
            is_root: rustix::process::geteuid().is_root(),
        })
    }

    /// The sandbox of the agent of `spec`, which works in `place` on `branch`.
    fn of_agent(&self, spec: &Spec, place: &Place, branch: &str) -> anyhow::Result<Sandbox> {
        let home = home()?;
        let own = env::var_os("CLAUDE_CONFIG_DIR").filter(|dir| !dir.is_empty());
        let agent_dir = own.map_or_else(|| home.join(".claude"), PathBuf::from);
        let private = private(&place.dir)?;
        let places = Places {
            work_tree: &place.dir,
            cwd: spec.cwd(),
            private: &private,
            home: &home,
            agent_dir: &agent_dir,
        };
        let mut sandbox = Sandbox::new(&bwrap()?, &places);
        let reference = format!("refs/heads/{branch}");
        sandbox.git = Some(GitDirs::of(&place.dir, &reference)?);
        sandbox.extra_read.extend(paths(&self.read));
        sandbox.extra_write.extend(paths(&self.write));
        sandbox.env_keep = spec.env().into_iter().map(|(name, _)| name).collect();
        sandbox.network = self.network;
        Ok(sandbox)
    }
}

/// Refuses to begin where there can be no sandbox.
pub(crate) fn probe(worktrees: &Worktrees) -> anyhow::Result<()> {
    cr_sandbox::probe().context(Exit::Config)?;
    if worktrees.open()?.common_dir().join("reftable").exists() {
        let text = "--sandbox: it cannot protect refs in the reftable format";
        return Err(anyhow!(text).context(Exit::Config));
    }
    Ok(())
}

/// The sandbox of commands that work in `tree`, a worktree of the run, if it has one.
pub(crate) fn of_commands(
    settings: Option<&SandboxSettings>,
    worktrees: &Worktrees,
    tree: &Path,
) -> anyhow::Result<Option<CommandSandbox>> {
    let sandbox = settings.map(|settings| settings.of_commands(worktrees, tree));
    sandbox.transpose()
}

/// The sandbox of the commands of the plan for `spec` that work in `tree`, if it has
/// one.
pub(crate) fn of_gates(spec: &Spec, tree: &Path) -> anyhow::Result<Option<CommandSandbox>> {
    match &spec.place {
        Some(place) => of_commands(spec.sandbox.as_ref(), &place.worktrees, tree),
        None => Ok(None),
    }
}

/// The directory of the private parts of the sandbox for the worktree `dir`. No other
/// task's agent can read or write it.
fn private(dir: &Path) -> anyhow::Result<PathBuf> {
    let name = dir.file_name().context("a worktree without a name")?;
    let run_dir = dir.ancestors().nth(2).context("no run")?;
    Ok(run_dir.join(PRIVATE).join(name))
}

/// Removes the private parts of the sandbox for the worktree `dir`, as far as that is
/// possible. What was committed is in the repository.
pub(crate) fn remove(dir: &Path) {
    let _ = private(dir).map(fs::remove_dir_all);
}

/// The sandbox of the agent of `spec`, if it has one. `dir` is the directory of the
/// attempt.
pub(crate) fn of_attempt(dir: &Path, spec: &Spec) -> anyhow::Result<Option<Sandbox>> {
    let Some(settings) = &spec.sandbox else {
        return Ok(None);
    };
    let place = spec.place.as_ref().context("a sandbox needs a worktree")?;
    let made = Place::made(dir)?;
    settings.of_agent(spec, place, &made.branch).map(Some)
}

/// Writes the program that runs the agent of `options` in `sandbox`, and makes it
/// the one of `options`.
pub(crate) fn enter(
    dir: &RunDir,
    spec: &Spec,
    sandbox: &Sandbox,
    options: &mut AgentOptions,
) -> anyhow::Result<()> {
    let own = spec.task.env.iter().rev();
    let mut own = own.filter_map(|entry| entry.strip_prefix("CR_CLAUDE="));
    let name = match own.next() {
        Some(own) if options.claude.is_none() => own.into(),
        _ => AgentCommand::new(options)?.name,
    };
    let program = find_program(Path::new(&name));
    let program = program.map_err(|_| anyhow!("the agent `{}` was not found", name.display()))?;
    sandbox.prepare().context("the sandbox")?;
    let script = sandbox.wrapper_script(&program).context("the sandbox")?;
    dir.write(file::ATTEMPT_SANDBOX, script.as_bytes())?;
    let path = dir.path().join(file::ATTEMPT_SANDBOX);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700))?;
    options.claude = Some(path);
    Ok(())
}

fn bwrap() -> anyhow::Result<PathBuf> {
    cr_sandbox::find_bwrap()
        .ok_or(Refused::NoBwrap)
        .context(Exit::Config)
}

fn home() -> anyhow::Result<PathBuf> {
    let home = env::var_os("HOME").filter(|home| !home.is_empty());
    let home = home.context("--sandbox: HOME is not set");
    Ok(home.context(Exit::Config)?.into())
}

fn paths(names: &[String]) -> Vec<PathBuf> {
    names.iter().map(PathBuf::from).collect()
}

/// `path` without links. It must exist, and be a text for the record of the run.
fn absolute(path: &Path) -> anyhow::Result<String> {
    let shown = || path.display().to_string();
    let found = fs::canonicalize(path).with_context(shown);
    let found = found.context(Exit::NoInput)?;
    let text = found.into_os_string().into_string().ok();
    let text = text.context("not a name in UTF-8").with_context(shown);
    text.context(Exit::Usage)
}
