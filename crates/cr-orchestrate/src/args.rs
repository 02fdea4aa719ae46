//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{CommandFactory, Parser};

const AFTER: &str = "\
A PLAN is NDJSON, a JSON array, {\"tasks\": [...]}, YAML, or a folder of *.md whose
front matter has the fields and whose body is the prompt. A task has an id and a
prompt or prompt_file, and may have: title description files depends_on wave model
role system_prompt allowed_tools permission_mode task_type estimated_files
estimated_loc estimated_duration max_turns budget_usd timeout retries schema verify
setup env claude_args cwd idempotent commit (required, optional, none) breakpoint.

A file called PAUSE in the run's directory ends the run before the next attempt.

Examples:
  cr-orchestrate --dry-run plan.yaml
  cr-orchestrate plan.yaml --retries 3 --max-wait 6h
  cr-orchestrate --resume-run 20261118T031500Z-1f0c22ab
  cr-orchestrate --resume-run 20261118T031500Z-1f0c22ab --again 'api=Use port 8080'
  cr-orchestrate status

Environment:
  CR_CLAUDE           the agent's program (default: claude)
  CR_CONFIG           the configuration's file
  CR_STATE_DIR        where runs are kept (default: $XDG_STATE_HOME/claude-runner)
  CR_PERMISSION_MODE  as --permission-mode

Exit status:
  0    every task is done
  1    a task failed
  2    the command line or the plan is wrong; nothing was started
  4    a task needs a person, or a breakpoint was reached
  66   the plan or the run cannot be read
  74   the state cannot be written
  75   later: the wait is longer than --max-wait, the run is paused, or it goes
       on elsewhere
  77   not logged in, or no credit
  78   a place is refused
  128+n  stopped by signal n; no agent is left running";

/// Run tasks one after the other, try again what can be, keep what is known
///
/// Standard output has a line of JSON for every change of a task, standard error
/// a sentence. An agent runs with its permissions skipped, unless the task,
/// --permission-mode, `CR_PERMISSION_MODE` or the configuration of claude-runner
/// says otherwise. Progress survives
/// whatever happens to this process: --resume-run goes on, and starts no attempt
/// twice.
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

    /// The tasks; `-` is standard input
    #[arg(value_name = "PLAN", required_unless_present = "resume_run")]
    pub(crate) plan: Option<PathBuf>,

    /// Go on with this run; a PLAN replaces what is not done yet
    #[arg(long, value_name = "RUN")]
    pub(crate) resume_run: Option<String>,

    /// Show what would be run, and in which order
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

    /// Ask each agent for its status as JSON, and obey it
    #[arg(long)]
    pub(crate) sprint: bool,

    /// How often a failed task is tried again [default: 2]
    #[arg(long, value_name = "N")]
    pub(crate) retries: Option<u32>,

    /// The longest wait for a limit to reset [default: as long as it takes]
    #[arg(long, value_name = "TIME", value_parser = cr_io::parse_duration)]
    pub(crate) max_wait: Option<Duration>,

    /// The pauses while the service is overloaded or out of reach
    /// [default: 1s,5s,30s]
    #[arg(long, value_name = "TIMES", value_delimiter = ',', value_parser = cr_io::parse_duration)]
    pub(crate) backoff: Vec<Duration>,

    /// Try this task again, with a word for it; may be repeated
    #[arg(long, value_name = "ID[=TEXT]", requires = "resume_run")]
    pub(crate) again: Vec<String>,

    /// Start again what was cut off and left no trace of its end
    #[arg(long)]
    pub(crate) rerun_lost: bool,

    /// Leave done what was done, although the plan has changed
    #[arg(long)]
    pub(crate) accept_changed: bool,

    /// What tasks get that do not say it themselves
    #[command(flatten)]
    pub(crate) usual: Usual,

    /// Print the report at the end, instead of a line for every change
    #[arg(long)]
    pub(crate) report: bool,

    /// Write no sentences to standard error
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// What tasks get that do not say it themselves
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "For tasks that do not say it themselves")]
pub(crate) struct Usual {
    /// The agents' directory
    #[arg(short = 'C', long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,

    /// The model
    #[arg(short, long)]
    pub(crate) model: Option<String>,

    /// default, acceptEdits, plan, dontAsk, bypassPermissions, …
    #[arg(long, value_name = "MODE")]
    pub(crate) permission_mode: Option<String>,

    /// The limit of turns of a first attempt [default: 100]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_turns: Option<u64>,

    /// The budget of a first attempt, in dollars
    #[arg(long, value_name = "USD", alias = "max-budget-usd")]
    pub(crate) max_budget: Option<f64>,

    /// The time of a first attempt [default: twice its estimate, else 2h]
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
This is cr-orchestrate with --sprint and --report: each agent is asked for its \
status as JSON, and `failed` is a failure whatever its exit code was; a step whose \
agent says `needs-human` is put aside with its question, the others go on, and the \
loop ends with 4. Standard output has the report.

A plan may be a list called `steps`; a step may be a prompt and nothing else, and is \
then called step-1, step-2, and so on.";

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Say how a run is doing
    Status(StatusArgs),
    /// One attempt, apart from whoever asked for it
    #[command(hide = true)]
    Attempt {
        /// Its directory
        dir: PathBuf,

        /// The agent ends when this process does
        #[arg(long)]
        watch_pid: Option<i32>,
    },
    /// One task, for `claude-runner --retry`: its attempts as one stream
    #[command(hide = true, alias = "one")]
    Retry(RetryArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct RetryArgs {
    /// The run's directory
    #[arg(long)]
    pub(crate) dir: PathBuf,

    /// How often it is tried again
    #[arg(long)]
    pub(crate) retries: Option<u32>,

    /// The longest wait for a limit to reset
    #[arg(long, value_parser = cr_io::parse_duration)]
    pub(crate) max_wait: Option<Duration>,

    /// End when this process does
    #[arg(long)]
    pub(crate) watch_pid: Option<i32>,

    /// The control channel of the process that started the pipeline
    #[arg(long)]
    pub(crate) control_fd: Option<i32>,

    /// The options of cr-spawn; without any, the run is resumed
    #[arg(last = true)]
    pub(crate) options: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct StatusArgs {
    /// The run [default: the one started last]
    #[arg(value_name = "RUN")]
    pub(crate) run: Option<String>,

    /// One JSON object a task
    #[arg(long)]
    pub(crate) json: bool,
}
