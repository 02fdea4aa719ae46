//! The options of an agent, as the command line has them.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use clap::builder::NonEmptyStringValueParser;

use crate::session_options::SessionOptions;

macro_rules! help {
    () => {
        "\
Examples:
  cr-spawn < prompt.md > run.ndjson
  cr-spawn --prompt-file prompt.md --timeout 2h30m | cr-filter
  cr-spawn --resume 1f0c… --prompt 'go on with the tests' | cr-summarize
  cr-spawn --model opus < prompt.md -- --mcp-config servers.json
  cr-spawn --input stream < messages > run.ndjson
  cr-spawn --input stream --keep-open --run-dir dir > run.ndjson   # cr-send ./dir …
  cr-spawn --ask --ask-policy rules.toml < prompt.md | cr-filter

Environment:
  CR_CLAUDE           the agent's program (default: claude)
  CR_STATE_DIR        where runs are kept (default: $XDG_STATE_HOME/claude-runner)
  CR_RUN_ID           the name of this run
  CR_PERMISSION_MODE  as --permission-mode
  CR_DEPTH            how deep runs are nested; more than 3 is refused

Exit status:
  the agent's own, and:
  2    the command line is wrong
  66   a file cannot be read
  74   standard output or a file cannot be written
  78   an unsafe run directory, a wrong setting or a wrong schema
  124  a clock ended the agent before it gave a result
  125  cr-spawn itself failed
  126  the agent's program cannot be run
  127  the agent's program was not found
  128+n  stopped by signal n (141: nobody reads standard output)
  The last line, cr/exit, says exactly how the run ended."
    };
}

const HELP: &str = help!();

pub(crate) const LONG_HELP: &str = concat!(
    help!(),
    "

Sessions:
With --input stream the agent lives on between messages; standard input has one
message per line: text, or JSON, {\"text\":…,\"id\":…,\"when\":…} or the CLI's own
user message. cr-send sends messages from anywhere. cr/input lines tell the life
of each message, cr/state lines what began each turn.
  delivery      A message is folded into the running turn (when: next), waits for a
                turn of its own (idle), or interrupts the turn (now, but never while
                a question is open). Several that wait become one turn. A line that
                would end the CLI, or a block without its content, is rejected.
  completion    The input has ended, every message is answered, no question is open,
                no background agent or shell runs, and the turn that reports the last
                of them is over; or --until-field, cr-send --stop, a clock.
                completed_by in cr/exit says which.
  clocks        --turn-timeout interrupts the turn and keeps the session, --timeout
                ends the session. No clock of a turn runs while the agent waits for
                a message or an answer. An interrupt ends the leader's background
                agents; background shells go on.
  limits        --max-turns counts for each message, --max-budget for the process:
                when the money is spent, each further message fails at once.
  exactly once  A message is on disk before it is acknowledged. After a crash,
                claude-runner --resume-run sends what the agent never took. A turn
                that was cut off is not sent again; a message that names it continues
                it, and the model may repeat what a tool had done. The CLI writes its
                log up to 100 ms late: a message that it took in that time is sent
                again. 2.1.197 also forgets a turn that ended less than 100 ms before
                it was killed.
  questions     AskUserQuestion and ExitPlanMode ask also with permissions skipped.
                cr-send --always allows what the agent suggests as a rule, in this
                session only; a command that writes by redirection is asked again.
  peers         In 2.1.326 other sessions of the same user can begin turns in this
                one. They are refused, unless --accept-peers; then the cause is peer.
  2.1.197       A message counts as started with the first block of its answer. A
                message folded into the last turn that --max-turns allows shares its
                failure. An agent that failed is reported as completed. There are no
                peers.

Versions of the CLI:
Claude Code 2.0.0 and later can be run. An option that the installed one does not
have is refused before anything starts, and the error names the version needed:
  --max-budget                2.0.30
  --permission-mode dontAsk   2.0.44
  --json-schema               2.0.45
  --no-session-persistence    2.0.64
Before 2.0.33 the CLI reads no system prompt from a file: --system-prompt and
--system-prompt-file become an argument, which other users of the machine can see.
2.0.0 and 2.0.42 start background tasks also without --background; 2.1.20 does not."
);

/// Run one agent, pass its lines on, and end it with everything it started
///
/// The prompt comes from --prompt, --prompt-file or standard input. The agent's
/// lines are passed on byte for byte; cr-spawn's own lines have the type cr. The
/// last line is always cr/exit. When it is written, no process of the agent is
/// left.
#[derive(Clone, Debug, Parser, PartialEq)]
#[command(name = "cr-spawn", version, after_help = HELP, after_long_help = LONG_HELP, max_term_width = 100)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct AgentOptions {
    /// The prompt
    #[arg(
        short,
        long,
        value_name = "TEXT",
        conflicts_with = "prompt_file",
        allow_hyphen_values = true
    )]
    pub prompt: Option<String>,

    /// A file with the prompt
    #[arg(long, value_name = "FILE")]
    pub prompt_file: Option<PathBuf>,

    /// Continue this session, given by its id or title
    #[arg(
        short,
        long,
        value_name = "ID",
        conflicts_with = "continue_last",
        value_parser = NonEmptyStringValueParser::new()
    )]
    pub resume: Option<String>,

    /// Continue the last session of the directory
    #[arg(short, long = "continue")]
    pub continue_last: bool,

    /// The agent's working directory
    #[arg(short = 'C', long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,

    /// The model [default: sonnet, or the resumed session's own]
    #[arg(short, long, value_parser = NonEmptyStringValueParser::new())]
    pub model: Option<String>,

    /// The model to use when the first one is overloaded
    #[arg(long, value_name = "MODEL", value_parser = NonEmptyStringValueParser::new())]
    pub fallback_model: Option<String>,

    /// Stop after N turns; 0 is no limit
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub max_turns: u64,

    /// Stop after this many dollars; 0 is no limit
    #[arg(
        long,
        value_name = "USD",
        alias = "max-budget-usd",
        alias = "max-cost",
        default_value_t = 0.0,
        value_parser = parse_dollars
    )]
    pub max_budget: f64,

    /// Text to append to the system prompt
    #[arg(
        long,
        value_name = "TEXT",
        alias = "append-system-prompt",
        allow_hyphen_values = true
    )]
    pub system_prompt: Option<String>,

    /// A file with text to append to the system prompt
    #[arg(
        long,
        value_name = "FILE",
        alias = "append-system-prompt-file",
        conflicts_with = "system_prompt"
    )]
    pub system_prompt_file: Option<PathBuf>,

    /// Tools that need no permission; may be repeated
    #[arg(long, value_name = "TOOLS", alias = "allowedTools")]
    pub allowed_tools: Vec<String>,

    /// Tools that the agent does not have; may be repeated
    #[arg(long, value_name = "TOOLS", alias = "disallowedTools")]
    pub disallowed_tools: Vec<String>,

    /// default, acceptEdits, plan, dontAsk, bypassPermissions, …; with an empty
    /// MODE the agent's own settings decide
    #[arg(long, value_name = "MODE")]
    pub permission_mode: Option<String>,

    /// As --permission-mode bypassPermissions
    #[arg(long, conflicts_with = "permission_mode")]
    pub dangerously_skip_permissions: bool,

    /// Ask for an answer that satisfies this JSON Schema: a file, or the schema
    /// itself, which begins with `{`
    #[arg(long, value_name = "SCHEMA")]
    pub json_schema: Option<String>,

    /// The id of the new session
    #[arg(long, value_name = "UUID", value_parser = NonEmptyStringValueParser::new())]
    pub session_id: Option<String>,

    /// Continue in a copy of the resumed session
    #[arg(long)]
    pub fork_session: bool,

    /// Pass on parts of messages while they are written
    #[arg(long, alias = "include-partial-messages")]
    pub partial_messages: bool,

    /// Do not save the session; it cannot be resumed
    #[arg(long)]
    pub no_session_persistence: bool,

    /// Allow background tasks, and wait for them
    #[arg(long)]
    pub background: bool,

    /// The time limits
    #[command(flatten)]
    pub clocks: Clocks,

    /// Many turns, and questions
    #[command(flatten)]
    pub session: SessionOptions,

    /// Do not kill leftover processes
    #[arg(long)]
    pub keep_children: bool,

    /// Run the agent in its own process id namespace
    #[arg(long)]
    pub isolate: bool,

    /// End when this process ends [default: the parent process]
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    pub watch_pid: Option<i32>,

    /// The control channel of the process that started the pipeline
    //
    // Hidden: only such a starter can make one. It is the read end of a pipe:
    // one byte for each signal, 13 when the reader of the pipeline's output has
    // left, and an end of file when the starter has died.
    #[arg(long, value_name = "FD", hide = true, value_parser = clap::value_parser!(i32).range(3..))]
    pub control_fd: Option<i32>,

    /// The run that this one resumes
    //
    // Hidden: `claude-runner --resume-run` gives it. It is only told on.
    #[arg(long, value_name = "RUN", hide = true)]
    pub resumed_run: Option<String>,

    /// The run directory
    #[arg(long, value_name = "DIR", conflicts_with = "no_record")]
    pub run_dir: Option<PathBuf>,

    /// Write no files: standard output only
    #[arg(long)]
    pub no_record: bool,

    /// Also write every line of the stream to this file, also when the run fails
    #[arg(long, value_name = "FILE")]
    pub output_file: Option<PathBuf>,

    /// A name for the run
    #[arg(long)]
    pub name: Option<String>,

    /// The agent's program [default: claude]
    #[arg(long, value_name = "PROGRAM")]
    pub claude: Option<PathBuf>,

    /// The longest line that is passed on, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = cr_io::MAX_LINE, value_parser = cr_io::parse_max_line)]
    pub max_line: usize,

    /// The most bytes of the record of the stream, and of the lines over
    /// --max-line; a longer record keeps its beginning and its end. 0 is no limit
    #[arg(long, value_name = "BYTES", default_value_t = 256 << 20)]
    pub max_record: u64,

    /// Arguments that are passed to the agent unchanged
    #[arg(last = true, value_name = "CLAUDE_ARGS")]
    pub rest: Vec<OsString>,
}

impl AgentOptions {
    /// Whether the agent continues a session.
    pub fn resumes_session(&self) -> bool {
        self.resume.is_some() || self.continue_last
    }
}

const CLOCKS: &str = "Clocks (seconds, or 2h30m; 0 is off)";

/// The time limits of a run; a zero turns one off
//
// The heading stands at every clock: `next_help_heading` would also be the
// heading of each option that follows this group.
#[derive(Clone, Debug, PartialEq, Eq, clap::Args)]
pub struct Clocks {
    /// The whole run
    #[arg(long, value_name = "TIME", help_heading = CLOCKS, default_value = "0", value_parser = cr_io::parse_duration)]
    pub timeout: Duration,

    /// From the start to the first line
    #[arg(long, value_name = "TIME", help_heading = CLOCKS, default_value = "2m", value_parser = cr_io::parse_duration)]
    pub startup_timeout: Duration,

    /// Silence while the model works
    #[arg(long, value_name = "TIME", help_heading = CLOCKS, default_value = "15m", value_parser = cr_io::parse_duration)]
    pub idle_timeout: Duration,

    /// One tool call
    #[arg(long, value_name = "TIME", help_heading = CLOCKS, default_value = "1h", value_parser = cr_io::parse_duration)]
    pub tool_timeout: Duration,

    /// One turn
    #[arg(long, value_name = "TIME", help_heading = CLOCKS, default_value = "0", value_parser = cr_io::parse_duration)]
    pub turn_timeout: Duration,

    /// From the result to the agent's own end
    #[arg(long, value_name = "TIME", help_heading = CLOCKS, default_value = "30s", value_parser = cr_io::parse_duration)]
    pub post_result_grace: Duration,

    /// From the first signal to SIGKILL
    #[arg(long, value_name = "TIME", help_heading = CLOCKS, default_value = "10s", value_parser = cr_io::parse_duration)]
    pub grace: Duration,
}

/// Reads an amount of money: a finite number, at least 0.
pub(crate) fn parse_dollars(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(usd) if usd.is_finite() && usd >= 0.0 => Ok(usd),
        _ => Err("expected dollars, at least 0".to_owned()),
    }
}
