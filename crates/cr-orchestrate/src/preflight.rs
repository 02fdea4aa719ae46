//! What is looked at before any agent starts: that there is an agent, and that the
//! verification is green without its work.

use std::path::Path;

use anyhow::anyhow;
use cr_agent::{AgentCommand, Missing, find_program};
use cr_io::Exit;

use crate::agent_options;
use crate::gate::{self, Surroundings};
use crate::isolation;
use crate::layout::{Run, RunLayout};
use crate::sandbox;
use crate::stop::Stopping;
use crate::task::Task;

/// The file with the commands that were green on the base commit.
const PASSED: &str = "preflight.done";

/// Checks what every attempt of `run` needs. A request to stop ends it too.
pub(crate) fn check(layout: &RunLayout, run: &Run, stop: &mut dyn Stopping) -> anyhow::Result<()> {
    agents(run)?;
    let gates = &run.settings.gates;
    let what = serde_json::to_vec(&(&gates.setup, &gates.verify))?;
    let passed = std::fs::read(layout.dir.path().join(PASSED));
    let is_passed = passed.is_ok_and(|passed| passed == what);
    if is_passed || gates.verify.is_empty() || gates.expect_red {
        return Ok(());
    }
    let mut sandbox = None;
    let (cwd, place) = match &run.settings.worktrees {
        Some(worktrees) => {
            let (tree, cwd) = isolation::base_tree(layout, run, worktrees)?;
            sandbox = sandbox::of_commands(run.settings.sandbox.as_ref(), worktrees, &tree)?;
            (cwd, format!("on the base commit {}", worktrees.base))
        }
        None => (gates.cwd.clone(), format!("in {}", gates.cwd.display())),
    };
    let around = Surroundings {
        dir: &layout.dir,
        env: &[],
        sandbox: sandbox.as_ref(),
    };
    let setup = [(&*cwd, gates.setup.as_slice())];
    let verify = [(&*cwd, gates.verify.as_slice())];
    let error = match gate::run(around, ("preflight-setup", &setup), stop)? {
        Some(error) => Some(format!("setup: {error}")),
        None => gate::run(around, ("preflight", &verify), stop)?,
    };
    match error {
        _ if stop.must_stop() => Ok(()),
        None => layout.dir.write(PASSED, &what),
        Some(error) => {
            let text = format!(
                "the plan's verification fails {place}, before any task; repair that, or say \
                 `expect: red` in the plan: {error}"
            );
            Err(anyhow!(text).context(Exit::Data))
        }
    }
}

/// Looks for the program of each agent. A task with a PATH or a program of its own
/// is left to its attempt.
fn agents(run: &Run) -> anyhow::Result<()> {
    let has_own = |task: &&Task| {
        let mut names = task.env.iter().filter_map(|entry| entry.split('=').next());
        names.any(|name| ["PATH", "CR_CLAUDE"].contains(&name))
    };
    let configured = cr_config::file_settings()?;
    let commands = run.tasks.iter().filter(|task| !has_own(task));
    // Options that the agent does not have are a mistake of one task.
    let mut commands = commands.filter_map(|task| {
        let options = agent_options::of_task(task, &configured).ok()?;
        AgentCommand::new(&options).ok()
    });
    let Some(command) = commands.next() else {
        return Ok(());
    };
    let name = command.name.display();
    match find_program(Path::new(&command.name)) {
        Ok(_) => Ok(()),
        Err(Missing::NotFound) => {
            Err(anyhow!("the agent `{name}` was not found").context(Exit::NotFound))
        }
        Err(Missing::CannotRun(why)) => {
            Err(anyhow!("the agent `{name}` {why}").context(Exit::CannotExec))
        }
    }
}
