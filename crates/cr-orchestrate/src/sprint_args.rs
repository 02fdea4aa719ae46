//! The command line of the script `sprint-loop`: that of cr-orchestrate in its words.

use clap::{Arg, CommandFactory};

use crate::args::Args;

/// The name of the script that runs sprints.
pub(crate) const SPRINT_LOOP: &str = "sprint-loop";

/// The command line of the script `sprint-loop`.
pub fn sprint_loop() -> clap::Command {
    let status = "Print the state of each step of a run";
    Args::command()
        .name(SPRINT_LOOP)
        .about("Run the steps of a sprint, one after the other")
        .long_about(SPRINT)
        .after_help(SPRINT_AFTER)
        .mut_args(of_steps)
        .mut_subcommand("status", |command| command.about(status).mut_args(of_steps))
}

/// The same option, of a sprint. What the script always gives is not shown.
fn of_steps(arg: Arg) -> Arg {
    // What is always given, and what needs several agents.
    const HIDDEN: [&str; 10] = [
        "sprint",
        "report",
        "max_agents",
        "isolation",
        "into",
        "on_merged",
        "sandbox",
        "sandbox_network",
        "sandbox_read",
        "sandbox_write",
    ];
    let is_hidden = arg.is_hide_set() || HIDDEN.contains(&arg.get_id().as_str());
    let mut arg = arg.hide(is_hidden);
    if let Some(help) = arg.get_help() {
        let help = help.to_string().replace("task", "step");
        arg = arg.help(help);
    }
    if arg.get_help_heading().is_some() {
        arg = arg.help_heading("Defaults for steps that do not set these fields");
    }
    arg
}

const SPRINT: &str = "\
Each agent is asked to report its status as JSON. The status `failed` is a failure, \
also with exit code 0. A step whose agent reports `needs-human` is put aside with \
its question, the other steps continue, and the loop ends with 4. Standard output \
gets the report, standard error a sentence for each change. Agents skip permissions, \
unless the step, --permission-mode, `CR_PERMISSION_MODE` or the configuration of \
claude-runner says otherwise. All progress is on disk: if this process is killed, \
--resume-run continues the run and starts no attempt twice.

A plan may be a list called `steps`. A step may be only a prompt; its id is then \
step-1, step-2, and so on.";

const SPRINT_AFTER: &str = "\
A PLAN is YAML, a JSON array, {\"steps\": [...]}, NDJSON, or a folder of *.md files. The
fields of a step are those of a task; see cr-orchestrate(1).

If the run directory has a file called PAUSE, the run ends before the next attempt. If
several exit codes apply, the first of 77, 4, 75, 3 and 1 is used.

Examples:
  sprint-loop --dry-run SPRINT.yaml
  sprint-loop SPRINT.yaml --retries 3 --max-wait 6h
  sprint-loop --resume-run 20261118T031500Z-1f0c22ab
  sprint-loop --resume-run 20261118T031500Z-1f0c22ab --again 'step-2=Use port 8080'
  sprint-loop status

Environment:
  CR_CLAUDE           the agent's program (default: claude)
  CR_CONFIG           the configuration file
  CR_STATE_DIR        the state directory (default: $XDG_STATE_HOME/claude-runner)
  CR_PERMISSION_MODE  as --permission-mode

Exit status:
  0    every step is done
  1    a step failed
  2    the command line or the plan is wrong; nothing was started
  3    the budget of the run, or one of cr-ledger, is used up; nothing more was started
  4    a step needs a person, or a breakpoint was reached
  66   the plan or the run cannot be read
  74   the state or standard output cannot be written
  75   try again later: the wait is longer than --max-wait, the run is paused, or
       another process runs it
  77   not logged in, or no credit
  78   unsafe run directory, wrong configuration, or a run of a newer version
  125  sprint-loop itself failed
  126, 127  the agent's program cannot be run, or was not found; nothing was started
  128+n  stopped by signal n; no agent is left running";
