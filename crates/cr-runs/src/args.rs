//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;

const AFTER: &str = "\
A RUN is an id or the beginning of one, a name, a session's id, or a directory;
if several runs have one name, it is the latest.

Examples:
  cr-runs ls
  cr-runs ls --running | cut -f 1,7
  cr-runs wait docs --timeout 9m | jq -r .why
  cr-runs tail docs --since 20480
  cr-runs wait --any a b c
  cr-runs stop --last

Environment:
  CR_STATE_DIR  where runs are kept (default: $XDG_STATE_HOME/claude-runner)

Exit status:
  0    done; `wait`: the verdict of the run, or the first that is not 0
  2    the command line is wrong
  66   no such run
  74   reading or writing failed midway
  75   the run is still going on, and --timeout is over
  78   the configuration is wrong, or an unsafe run directory";

/// List, wait for, follow and stop the runs of this machine
///
/// A run is going on as long as its lock is held: one that was cut off, by a loss
/// of power for example, is `lost` and never `running`.
#[derive(Debug, Parser)]
#[command(
    name = "cr-runs",
    version,
    after_help = AFTER,
    max_term_width = 100,
    arg_required_else_help = true,
    args_conflicts_with_subcommands = true,
    override_usage = "cr-runs <COMMAND>\n       cr-runs --output-schema"
)]
pub struct Args {
    /// Print the JSON Schema of a run, as `ls --json` and `status --json` print it
    #[arg(long)]
    pub(crate) output_schema: bool,

    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// List runs, the latest first
    ///
    /// On a terminal in columns with a head. Otherwise one line per run, with a tab
    /// between id, name, state, elapsed time, cost, verdict and last action; `-` is
    /// not known. The verdict is the outcome and its exit code.
    Ls(LsArgs),
    /// Print the state of a run in one line
    Status(StatusArgs),
    /// Wait for runs to end, print their summaries, end with the verdict
    Wait(WaitArgs),
    /// Show the progress of a run, and the cursor to continue from
    Tail(TailArgs),
    /// Ask a run to end, and wait until it has
    Stop(StopArgs),
    /// Print the directory of a run
    Path(Which),
    /// Remove old runs, those of cr-orchestrate among them
    Prune(PruneArgs),
    /// Print every setting of claude-runner with its source
    Config,
}

/// One run.
#[derive(Clone, Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Which {
    /// The run
    #[arg(value_name = "RUN")]
    pub(crate) run: Option<String>,

    /// The run that was started last
    #[arg(long)]
    pub(crate) last: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct LsArgs {
    /// How many; 0 is all
    #[arg(short, value_name = "N", default_value_t = 20)]
    pub(crate) number: usize,

    /// Print one JSON object per run
    #[arg(long)]
    pub(crate) json: bool,

    /// Print only ids, and names that are plain words, one per line
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) quiet: bool,

    /// Only runs that are going on
    #[arg(long)]
    pub(crate) running: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) which: Which,

    /// A JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct WaitArgs {
    /// The runs
    #[arg(value_name = "RUN", required_unless_present = "last")]
    pub(crate) runs: Vec<String>,

    /// The run that was started last
    #[arg(long, conflicts_with = "runs")]
    pub(crate) last: bool,

    /// Return when one of them has ended
    #[arg(long)]
    pub(crate) any: bool,

    /// Give up after this time: seconds, or 9m; 0 is never
    #[arg(long, value_name = "TIME", default_value = "0", value_parser = cr_io::parse_duration)]
    pub(crate) timeout: Duration,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TailArgs {
    #[command(flatten)]
    pub(crate) which: Which,

    /// Continue until the run ends
    #[arg(short, long)]
    pub(crate) follow: bool,

    /// Show what came after this cursor
    #[arg(long, value_name = "CURSOR", default_value_t = 0)]
    pub(crate) since: u64,

    /// Show only commits, errors, limits and the end
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct StopArgs {
    #[command(flatten)]
    pub(crate) which: Which,

    /// Kill the agent at once
    #[arg(long)]
    pub(crate) kill: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PruneArgs {
    /// Remove runs that are older [default: 30d, or `keep_for` of the configuration]
    #[arg(long, value_name = "TIME", value_parser = cr_io::parse_duration)]
    pub(crate) older_than: Option<Duration>,

    /// Remove the oldest until the rest is smaller [default: 5000000000, or
    /// `keep_bytes` of the configuration]
    #[arg(long, value_name = "BYTES")]
    pub(crate) keep_bytes: Option<u64>,

    /// Only print what would be removed
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Run one headless agent: progress line by line, then one JSON summary
///
/// The prompt is an argument, --prompt, --prompt-file or standard input. The
/// agent runs with its permissions skipped, unless --permission-mode,
/// `CR_PERMISSION_MODE` or the configuration says otherwise. Every option of
/// cr-spawn is taken.
///
/// With --retry a run may take several attempts, by what went wrong: twice the
/// turns, once; more budget or time; the session of an agent that was cut off; a new one with the
/// error as context; a wait until a limit resets. Each has a directory of its own
/// in the run's. The summary lists them in `attempts`, and its `cost_usd` is the
/// sum; the verdict is the last one's.
///
/// `claude-runner config` prints every setting with its source. A flag counts
/// more than the environment, and that more than the file
/// `$XDG_CONFIG_HOME/claude-runner/config.toml`; nothing is read from the
/// repository.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "claude-runner",
    version,
    after_help = RUNNER,
    after_long_help = crate::program_help::with_program_help(RUNNER),
    max_term_width = 100,
    // For other starters of cr-spawn; here it is refused.
    mut_arg("watch_pid", |arg| arg.hide(true)),
    override_usage = "claude-runner [OPTIONS] [PROMPT] [-- CLAUDE_ARGS]\n       claude-runner config"
)]
#[expect(clippy::struct_excessive_bools, reason = "options of a command line")]
pub struct Runner {
    /// What to do
    #[arg(value_name = "PROMPT", conflicts_with_all = ["prompt", "prompt_file"])]
    pub(crate) prompt_argument: Option<String>,

    /// What standard output is for; all but `report` leave progress to standard
    /// error
    #[arg(long, value_name = "WHAT", value_enum)]
    pub(crate) output: Option<Output>,

    /// As --output summary
    #[arg(long, conflicts_with = "output")]
    pub(crate) json: bool,

    /// After so many bytes of progress show only commits, errors, limits and the
    /// end; 0 is no limit [default: 20000, none on a terminal]
    #[arg(long, value_name = "BYTES")]
    pub(crate) limit: Option<u64>,

    /// Show only commits, errors, limits and the end
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Do not record the run in the ledger; see cr-ledger
    #[arg(long)]
    pub(crate) no_ledger: bool,

    /// Print the run's id and directory, and leave it to itself; see cr-runs
    #[arg(long, conflicts_with = "no_record")]
    pub(crate) detach: bool,

    /// Retry up to N times, passing the error to the next attempt; waiting for a
    /// limit to reset is not counted. It needs its record: if that cannot be
    /// written, the run ends with 74 before it starts
    #[arg(long, value_name = "N", conflicts_with = "no_record")]
    pub(crate) retry: Option<u32>,

    /// With --retry: the longest wait for a limit to reset; if it takes longer,
    /// end with 75 [default: as long as it takes]
    #[arg(long, value_name = "TIME", value_parser = cr_io::parse_duration)]
    pub(crate) max_wait: Option<Duration>,

    /// Resume a run: its session in a new run with its settings, or more attempts
    /// of a run with --retry; options given here replace its own
    #[arg(long, value_name = "RUN", conflicts_with = "no_record")]
    pub(crate) resume_run: Option<String>,

    /// Run it as the next task of this milestone, in its session; cr-ledger
    /// milestone starts and ends one
    #[arg(long, value_name = "NAME", conflicts_with_all = [
        "resume", "continue_last", "session_id", "fork_session", "no_session_persistence",
        "resume_run",
    ])]
    pub(crate) milestone: Option<String>,

    /// With --milestone: the work plan. It starts a milestone that is not active
    #[arg(long, value_name = "FILE", requires = "milestone")]
    pub(crate) plan: Option<PathBuf>,

    /// The text before the prompt, by which the session of a milestone begins.
    #[arg(skip)]
    pub(crate) prompt_prefix: String,

    #[command(flatten)]
    pub(crate) spawn: cr_agent::AgentOptions,
}

impl Runner {
    /// Whether there may be more than one attempt.
    pub(crate) fn has_attempts(&self) -> bool {
        self.retry.is_some() || self.resume_run.is_some()
    }
}

/// What standard output is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Output {
    /// Progress, a line `---CLAUDE-RUNNER-RESULT---`, the summary
    #[default]
    Report,
    /// The summary
    Summary,
    /// The answer, or nothing: what --json-schema asked for, else the final text
    Answer,
    /// The stream
    Stream,
}

impl From<Output> for cr_pipeline::Output {
    fn from(output: Output) -> Self {
        match output {
            Output::Report => Self::Report,
            Output::Summary => Self::Summary,
            Output::Answer => Self::Answer,
            Output::Stream => Self::Stream,
        }
    }
}

const RUNNER: &str = "\
Examples:
  claude-runner 'fix the failing test and commit' --timeout 30m; echo $?
  claude-runner --model opus --max-budget 5 --json < task.md | jq -r .outcome
  claude-runner --resume 80f8ae6e-b027-4253-8e9c-1ffd717366a1 --prompt 'now the docs'
  claude-runner --output answer --json-schema bugs.json 'list the bugs' | jq .
  claude-runner --detach --name docs < docs.md; cr-runs wait docs
  claude-runner --milestone api --plan PLAN.md 'do step 1'
  claude-runner --retry 2 --max-wait 6h --json < task.md | jq .attempts

Environment:
  CR_CLAUDE           the agent's program (default: claude)
  CR_CONFIG           the configuration's file
  CR_STATE_DIR        where runs are kept (default: $XDG_STATE_HOME/claude-runner)
  CR_RUN_ID           the name of this run
  CR_PERMISSION_MODE  as --permission-mode
  CR_DEPTH            how deep runs are nested; beyond 3 is refused

Exit status:
  0    success
  1    failed
  2    the command line is wrong
  3    the limit of turns or money was reached
  4    a person must answer or permit something
  6    incomplete: there is no result
  66   a file cannot be read
  74   a file cannot be written
  75   rate limit, overload or network: wait (retry.at), run it again
  76   the context is exhausted
  77   not logged in, or no credit
  78   a wrong setting or schema, or an unsafe run directory
  124  a clock ran out before a result
  125  this tool failed; 126, 127: the agent cannot be run, was not found
  128+n  ended by signal n";
