//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{FromArgMatches, Parser};

use crate::run_budget::{self, RunBudget};
use crate::sprint_args::{SPRINT_LOOP, sprint_loop};

use crate::isolation::Isolation;
use crate::sandbox::Network;

mod help;

use help::AFTER;

/// Run the tasks of a plan in order, and retry those that fail
///
/// For each change of a task, standard error gets a sentence; on a terminal it also
/// shows what each agent does just now. At the end standard output gets a table, and
/// the directory of the run report.md, report.json and report.xml. Agents skip
/// permissions, unless the task, --permission-mode, `CR_PERMISSION_MODE` or the
/// configuration of claude-runner says otherwise. All progress is on disk: if this
/// process is killed, --resume-run continues the run and starts no attempt twice.
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

    /// How many agents may work at the same time [default: 1]
    #[arg(short = 'j', long, value_name = "N",
        value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) max_agents: Option<u16>,

    /// Where agents work [default: worktree with more than one agent or
    /// --sandbox, else shared]
    #[arg(long, value_name = "WHERE")]
    pub(crate) isolation: Option<Isolation>,

    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,

    /// Bring the merged work into this branch when all tasks are done
    #[arg(long, value_name = "BRANCH")]
    pub(crate) into: Option<String>,

    /// Run this shell command when all tasks are done and merged, once
    #[arg(long, value_name = "COMMAND")]
    pub(crate) on_merged: Option<String>,

    /// Print the schedule, and start nothing: the order of the tasks, what each waits
    /// for, which may change the same files, what the first attempts may cost, how
    /// long it takes
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Print a line of JSON for each change of the run, a wave or a task, and no table
    /// at the end; with --dry-run, print the schedule as JSON
    #[arg(long, conflicts_with = "report")]
    pub(crate) json: bool,

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

    /// The models in this order: when the retries with one are used up, or an agent
    /// takes more than 50 turns without the commit that its task requires, the next one
    /// gets a new session and 1.5 times the budget. A task with a model of its own
    /// begins with that
    #[arg(long, value_name = "MODELS", value_delimiter = ',',
        value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) models: Vec<String>,

    /// The longest wait for a limit to reset [default: as long as it takes]
    #[arg(long, value_name = "TIME", value_parser = cr_io::parse_duration)]
    pub(crate) max_wait: Option<Duration>,

    /// The pauses while the service is overloaded or cannot be reached
    /// [default: 1s,5s,30s]
    #[arg(long, value_name = "TIMES", value_delimiter = ',', value_parser = cr_io::parse_duration)]
    pub(crate) backoff: Vec<Duration>,

    /// What all attempts may use together: dollars, tokens (2Mtokens), or per cent of the
    /// account's window of five hours (80%). An attempt starts only if it fits. [default:
    /// 1.5 times the sum of the tasks' budgets, if all have one]
    #[arg(long, value_name = "AMOUNT", value_parser = run_budget::parse)]
    pub(crate) budget: Option<RunBudget>,

    /// Try this task again, with TEXT as an answer to it; may be repeated
    #[arg(long, value_name = "ID[=TEXT]", requires = "resume_run")]
    pub(crate) again: Vec<String>,

    /// Run the tasks in the session of this milestone; cr-ledger milestone starts one
    #[arg(long, value_name = "NAME")]
    pub(crate) milestone: Option<String>,

    /// Retry attempts that were cut off without a record of how they ended
    #[arg(long)]
    pub(crate) rerun_lost: bool,

    /// Accept tasks that are done although the plan has changed them since
    #[arg(long)]
    pub(crate) accept_changed: bool,

    /// Print the report at the end instead of a table
    #[arg(long)]
    pub(crate) report: bool,

    /// Write no sentences to standard error, and no table; with --dry-run print only the
    /// ids
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Who speaks: this tool or the script `sprint-loop`.
    #[arg(skip = TOOL)]
    pub(crate) program: &'static str,

    /// Print the JSON Schema of a line of standard output, and do nothing else
    #[arg(long, exclusive = true)]
    pub(crate) output_schema: bool,

    /// Print the JSON Schema of a task, and do nothing else
    #[arg(long, exclusive = true)]
    pub(crate) task_schema: bool,

    // The last: its heading would cover the options after it.
    /// Defaults for tasks
    #[command(flatten)]
    pub(crate) defaults: TaskDefaults,
}

/// What agents may reach.
#[derive(Debug, clap::Args)]
pub(crate) struct SandboxArgs {
    /// Run each agent, and the commands of the plan, in a sandbox of bubblewrap:
    /// writable are its worktree, its branch and a private home
    #[arg(long)]
    pub(crate) sandbox: bool,

    /// The network in the sandbox [default: host]
    #[arg(long, value_name = "NETWORK", requires = "sandbox")]
    pub(crate) sandbox_network: Option<Network>,

    /// Let the sandbox read this file or directory, too; may be repeated
    #[arg(long, value_name = "PATH", requires = "sandbox")]
    pub(crate) sandbox_read: Vec<PathBuf>,

    /// Let the sandbox write this file or directory, too; may be repeated
    #[arg(long, value_name = "PATH", requires = "sandbox")]
    pub(crate) sandbox_write: Vec<PathBuf>,
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
    #[arg(long, value_name = "USD", alias = "max-budget-usd", value_parser = parse_budget)]
    pub(crate) max_budget: Option<f64>,

    /// The time limit of a first attempt [default: the estimate times
    /// --timeout-multiplier, else `task_timeout` of the configuration, 2h]
    #[arg(long, value_name = "TIME", value_parser = cr_io::parse_duration)]
    pub(crate) timeout: Option<Duration>,

    /// The time limit of a task that has an estimate, as a multiple of it
    #[arg(long, value_name = "N", default_value = "2", value_parser = parse_multiplier)]
    pub(crate) timeout_multiplier: f64,
}

/// The name of this tool.
const TOOL: &str = "cr-orchestrate";

/// The argument by which that script says that it is the caller.
const AS_SPRINT_LOOP: &str = "--as-sprint-loop";

impl Args {
    /// Reads the command line; ends the process if it is wrong.
    pub fn of_process() -> Self {
        let mut argv: Vec<OsString> = std::env::args_os().collect();
        if argv.get(1).is_none_or(|word| word != AS_SPRINT_LOOP) {
            return Self::parse();
        }
        argv.splice(..2, [OsString::from(SPRINT_LOOP)]);
        let matches = sprint_loop().get_matches_from(argv);
        let read = Self::from_arg_matches(&matches).unwrap_or_else(|err| err.exit());
        Self {
            sprint: true,
            report: true,
            program: SPRINT_LOOP,
            ..read
        }
    }

    /// The name to say before a message.
    pub fn program(&self) -> &'static str {
        self.program
    }

    /// What a task is called.
    pub(crate) fn noun(&self) -> &'static str {
        if self.program == SPRINT_LOOP {
            "step"
        } else {
            "task"
        }
    }
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Print the state of each task of a run
    Status(StatusArgs),
    /// Remove worktrees and branches of tasks that runs have left
    Gc(GcArgs),
    /// One attempt, in a process of its own
    #[command(hide = true)]
    Attempt {
        /// The attempt's directory
        dir: PathBuf,

        /// End the agent when this process ends
        #[arg(long, value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
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
    #[arg(long, value_name = "FD", value_parser = clap::value_parser!(i32).range(3..))]
    pub(crate) control_fd: Option<i32>,

    /// The options of cr-spawn; without any, a run that has begun is resumed
    #[arg(last = true)]
    pub(crate) options: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct GcArgs {
    /// Only those in which nothing has happened for so long
    #[arg(long, value_name = "TIME", default_value = "7d", value_parser = cr_io::parse_duration)]
    pub(crate) older_than: Duration,
}

#[derive(Debug, clap::Args)]
pub(crate) struct StatusArgs {
    /// The run [default: the one started last]
    #[arg(value_name = "RUN")]
    pub(crate) run: Option<String>,

    /// Print one JSON object for each task
    #[arg(long)]
    pub(crate) json: bool,

    /// Print only the ids of the tasks
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) quiet: bool,

    /// Print the ids of all runs, the latest first
    #[arg(long, conflicts_with_all = ["run", "json", "quiet"])]
    pub(crate) runs: bool,
}

/// Reads a multiple of an estimate.
fn parse_multiplier(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok();
    let is_multiple = |number: &f64| number.is_finite() && *number > 0.0 && *number <= 1000.0;
    number
        .filter(is_multiple)
        .ok_or_else(|| "expected a number above 0, at most 1000".to_owned())
}

/// Reads a budget: dollars, more than 0.
fn parse_budget(text: &str) -> Result<f64, String> {
    let usd = text.parse::<f64>().ok();
    let is_budget = |usd: &f64| usd.is_finite() && *usd > 0.0;
    usd.filter(is_budget)
        .ok_or_else(|| "expected dollars, more than 0".to_owned())
}
