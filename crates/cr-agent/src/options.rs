//! The options of an agent, as the command line has them.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use clap::builder::NonEmptyStringValueParser;

const EXAMPLES: &str = "\
Examples:
  cr-spawn < prompt.md > run.ndjson
  cr-spawn --prompt-file prompt.md --timeout 2h30m | cr-filter
  cr-spawn --resume 1f0c… --prompt 'go on with the tests' | cr-summarize
  cr-spawn --model opus < prompt.md -- --mcp-config servers.json

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
  The last line, cr/exit, says exactly how the run ended.";

/// Run one agent, pass its lines on, and end it with everything it started
///
/// The prompt comes from --prompt, --prompt-file or standard input. The agent's
/// lines are passed on byte for byte; cr-spawn's own lines have the type cr. The
/// last line is always cr/exit. When it is written, no process of the agent is
/// left.
#[derive(Clone, Debug, Parser, PartialEq)]
#[command(name = "cr-spawn", version, after_help = EXAMPLES, max_term_width = 100)]
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

    /// default, acceptEdits, plan, dontAsk, bypassPermissions, …
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

    /// The longest record of the stream, in bytes, and of the lines over
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
