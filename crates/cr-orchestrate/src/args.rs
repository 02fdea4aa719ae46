//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{CommandFactory, Parser};

const AFTER: &str = "\
A PLAN is NDJSON, a JSON array, {\"tasks\": [...]}, YAML, or a folder of *.md files. In
such a file the front matter has the fields and the body is the prompt. A task has an
id and a prompt or prompt_file. It may also have: title description files depends_on
wave model role system_prompt allowed_tools permission_mode task_type estimated_files
estimated_loc estimated_duration max_turns budget_usd timeout retries schema verify
setup env claude_args cwd idempotent commit (required, optional, none) breakpoint.
For commit, every new commit of HEAD during the attempt counts, also one of which it is
not known who made it.

If the run directory has a file called PAUSE, the run ends before the next attempt.

Examples:
  cr-orchestrate --dry-run plan.yaml
  cr-orchestrate plan.yaml --retries 3 --max-wait 6h
  cr-orchestrate --resume-run 20261118T031500Z-1f0c22ab
  cr-orchestrate --resume-run 20261118T031500Z-1f0c22ab --again 'api=Use port 8080'
  cr-orchestrate status

Environment:
  CR_CLAUDE           the agent's program (default: claude)
  CR_CONFIG           the configuration file
  CR_STATE_DIR        the state directory (default: $XDG_STATE_HOME/claude-runner)
  CR_PERMISSION_MODE  as --permission-mode

Exit status:
  0    every task is done
  1    a task failed
  2    the command line or the plan is wrong; nothing was started
  4    a task needs a person, or a breakpoint was reached
  66   the plan or the run cannot be read
  74   the state cannot be written
  75   try again later: the wait is longer than --max-wait, the run is paused, or
       another process runs it
  77   not logged in, or no credit
  78   unsafe run directory, wrong configuration, or a run of a newer version
  125  cr-orchestrate itself failed
  128+n  stopped by signal n; no agent is left running";

/// Run the tasks of a plan in order, and retry those that fail
///
/// For each change of a task, standard output gets a line of JSON and standard
/// error a sentence. Agents skip permissions, unless the task, --permission-mode,
/// `CR_PERMISSION_MODE` or the configuration of claude-runner says otherwise. All
/// progress is on disk: if this process is killed, --resume-run continues the run
/// and starts no attempt twice.
#[derive(Debug, Parser)]
#[command(
    name = "cr-orchestrate",
    version,
    after_help = AFTER,
    max_term_width = 100,
    args_conflicts_with_subcommands = true
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct Args {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    /// The plan; `-` is standard input
    #[arg(value_name = "PLAN", required_unless_present = "resume_run")]
    pub(crate) plan: Option<PathBuf>,

    /// Continue this run; a PLAN replaces the tasks that are not done yet
    #[arg(long, value_name = "RUN")]
    pub(crate) resume_run: Option<String>,

    /// Print the tasks that would run, in their order
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Stop when this task is done
    #[arg(long, value_name = "ID")]
    pub(crate) until: Option<String>,

    /// Stop before this task, once; may be repeated
    #[arg(long = "break", value_name = "ID")]
    pub(crate) breaks: Vec<String>,

    /// Start no other task after one has failed
    #[arg(long)]
    pub(crate) halt: bool,

    /// Ask each agent to report its status as JSON, and use it as the result
    #[arg(long)]
    pub(crate) sprint: bool,

    /// Retry a failed task up to N times [default: 2]
    #[arg(long, value_name = "N")]
    pub(crate) retries: Option<u32>,

    /// The longest wait for a limit to reset [default: as long as it takes]
    #[arg(long, value_name = "TIME", value_parser = cr_io::parse_duration)]
    pub(crate) max_wait: Option<Duration>,

    /// The pauses while the service is overloaded or cannot be reached
    /// [default: 1s,5s,30s]
    #[arg(long, value_name = "TIMES", value_delimiter = ',', value_parser = cr_io::parse_duration)]
    pub(crate) backoff: Vec<Duration>,

    /// Try this task again, with TEXT as an answer to it; may be repeated
    #[arg(long, value_name = "ID[=TEXT]", requires = "resume_run")]
    pub(crate) again: Vec<String>,

    /// Retry attempts that were cut off without a record of how they ended
    #[arg(long)]
    pub(crate) rerun_lost: bool,

    /// Accept tasks that are done although the plan has changed them since
    #[arg(long)]
    pub(crate) accept_changed: bool,

    /// Print the report at the end instead of a line for each change
    #[arg(long)]
    pub(crate) report: bool,

    /// Write no sentences to standard error
    #[arg(short, long)]
    pub(crate) quiet: bool,

    // The last: its heading would cover the options after it.
    /// Defaults for tasks
    #[command(flatten)]
    pub(crate) defaults: TaskDefaults,
}

/// Defaults for tasks that do not set these fields
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Defaults for tasks that do not set these fields")]
pub(crate) struct TaskDefaults {
    /// The working directory
    #[arg(short = 'C', long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,

    /// The model
    #[arg(short, long)]
    pub(crate) model: Option<String>,

    /// default, acceptEdits, plan, dontAsk, bypassPermissions, …
    #[arg(long, value_name = "MODE")]
    pub(crate) permission_mode: Option<String>,

    /// The turn limit of a first attempt [default: 100]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_turns: Option<u64>,

    /// The budget of a first attempt, in dollars
    #[arg(long, value_name = "USD", alias = "max-budget-usd")]
    pub(crate) max_budget: Option<f64>,

    /// The time limit of a first attempt [default: twice the estimate, else 2h]
    #[arg(long, value_name = "TIME", value_parser = cr_io::parse_duration)]
    pub(crate) timeout: Option<Duration>,
}

/// The command line of the script `sprint-loop`, for its page and completions.
pub fn sprint_loop() -> clap::Command {
    Args::command()
        .name("sprint-loop")
        .about("Run the steps of a sprint, one after the other")
        .long_about(SPRINT)
}

const SPRINT: &str = "\
This is cr-orchestrate with --sprint and --report. Each agent is asked to report its \
status as JSON. The status `failed` is a failure, also with exit code 0. A step \
whose agent reports `needs-human` is put aside with its question, the other steps \
continue, and the loop ends with 4. Standard output gets the report.

A plan may be a list called `steps`. A step may be only a prompt; its id is then \
step-1, step-2, and so on.";

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Print the state of each task of a run
    Status(StatusArgs),
    /// One attempt, in a process of its own
    #[command(hide = true)]
    Attempt {
        /// The attempt's directory
        dir: PathBuf,

        /// End the agent when this process ends
        #[arg(long)]
        watch_pid: Option<i32>,
    },
    /// One task, for `claude-runner --retry`: its attempts as one stream
    #[command(hide = true)]
    Retry(RetryArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct RetryArgs {
    /// The run directory
    #[arg(long)]
    pub(crate) dir: PathBuf,

    /// Retry up to N times
    #[arg(long, value_name = "N")]
    pub(crate) retries: Option<u32>,

    /// The longest wait for a limit to reset
    #[arg(long, value_parser = cr_io::parse_duration)]
    pub(crate) max_wait: Option<Duration>,

    /// Obey the starter's messages on this descriptor, and end with the starter
    #[arg(long, value_name = "N")]
    pub(crate) control_fd: Option<i32>,

    /// The options of cr-spawn; without any, a run that has begun is resumed
    #[arg(last = true)]
    pub(crate) options: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct StatusArgs {
    /// The run [default: the one started last]
    #[arg(value_name = "RUN")]
    pub(crate) run: Option<String>,

    /// Print one JSON object for each task
    #[arg(long)]
    pub(crate) json: bool,
}
