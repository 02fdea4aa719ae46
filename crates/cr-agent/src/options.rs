//! The command line.

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
  CR_DEPTH            how deep runs are nested; beyond 3 is refused

Exit status:
  the agent's own, and:
  2    the command line is wrong
  66   a file cannot be read
  74   standard output or a file cannot be written
  78   a place, a setting or a schema is refused
  124  a clock ended the agent before it gave a result
  125  cr-spawn itself failed
  126  the agent's program cannot be run
  127  the agent's program was not found
  128+n  stopped by signal n (141: nobody reads standard output)
  The last line, cr/exit, tells the whole story.";

/// Run one agent, pass its lines on, and end it with everything it started
///
/// The prompt comes from --prompt, --prompt-file or standard input. What the
/// agent writes passes byte for byte; lines of our own have the type cr. The
/// last one is always cr/exit, and after it nothing of the agent is left.
#[derive(Debug, Parser)]
#[command(name = "cr-spawn", version, after_help = EXAMPLES, max_term_width = 100)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct AgentOptions {
    /// What to do
    #[arg(
        short,
        long,
        value_name = "TEXT",
        conflicts_with = "prompt_file",
        allow_hyphen_values = true
    )]
    pub prompt: Option<String>,

    /// A file that says what to do
    #[arg(long, value_name = "FILE")]
    pub prompt_file: Option<PathBuf>,

    /// Go on with this session, by its id or title
    #[arg(
        short,
        long,
        value_name = "ID",
        conflicts_with = "continue_last",
        value_parser = NonEmptyStringValueParser::new()
    )]
    pub resume: Option<String>,

    /// Go on with the last session of the directory
    #[arg(short, long = "continue")]
    pub continue_last: bool,

    /// The agent's directory
    #[arg(short = 'C', long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,

    /// The model [default: sonnet, or the resumed session's own]
    #[arg(short, long, value_parser = NonEmptyStringValueParser::new())]
    pub model: Option<String>,

    /// The model to use when the first is overloaded
    #[arg(long, value_name = "MODEL", value_parser = NonEmptyStringValueParser::new())]
    pub fallback_model: Option<String>,

    /// Stop after so many turns; 0 is no limit
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub max_turns: u64,

    /// Stop after so many dollars; 0 is no limit
    #[arg(
        long,
        value_name = "USD",
        alias = "max-budget-usd",
        alias = "max-cost",
        default_value_t = 0.0
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

    /// Ask for an answer of this shape: a file with a JSON Schema, or the schema
    /// itself, which begins with `{`
    #[arg(long, value_name = "SCHEMA")]
    pub json_schema: Option<String>,

    /// The id of the new session
    #[arg(long, value_name = "UUID", value_parser = NonEmptyStringValueParser::new())]
    pub session_id: Option<String>,

    /// Go on in a copy of the resumed session
    #[arg(long)]
    pub fork_session: bool,

    /// Pass on pieces of messages as they come
    #[arg(long, alias = "include-partial-messages")]
    pub partial_messages: bool,

    /// Leave no session on disk; it cannot be resumed
    #[arg(long)]
    pub no_session_persistence: bool,

    /// Let the agent work in the background, and wait for that
    #[arg(long)]
    pub background: bool,

    /// When enough is enough
    #[command(flatten)]
    pub clocks: Clocks,

    /// Let live what the agent leaves behind
    #[arg(long)]
    pub keep_children: bool,

    /// Run the agent in a process id namespace of its own
    #[arg(long)]
    pub isolate: bool,

    /// End when this process ends [default: whoever started us]
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    pub watch_pid: Option<i32>,

    /// The run's directory
    #[arg(long, value_name = "DIR", conflicts_with = "no_record")]
    pub run_dir: Option<PathBuf>,

    /// Write nothing but standard output
    #[arg(long)]
    pub no_record: bool,

    /// Keep the stream in this file, too, every line of it, whatever becomes of
    /// the run
    #[arg(long, value_name = "FILE")]
    pub output_file: Option<PathBuf>,

    /// A name for the run
    #[arg(long)]
    pub name: Option<String>,

    /// The agent's program [default: claude]
    #[arg(long, value_name = "PROGRAM")]
    pub claude: Option<PathBuf>,

    /// Longest line that is passed on, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = cr_io::MAX_LINE, value_parser = cr_io::parse_max_line)]
    pub max_line: usize,

    /// Longest record of the stream, in bytes, and of lines too long for it; of
    /// a longer one the beginning and the end are kept. 0 is no limit
    #[arg(long, value_name = "BYTES", default_value_t = 256 << 20)]
    pub max_record: u64,

    /// Arguments for the agent, as they are
    #[arg(last = true, value_name = "CLAUDE_ARGS")]
    pub rest: Vec<OsString>,
}

impl AgentOptions {
    /// Whether a session is taken up.
    pub fn resumes_session(&self) -> bool {
        self.resume.is_some() || self.continue_last
    }
}

/// When enough is enough: seconds, or 2h30m; 0 turns one off
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Clocks (seconds, or 2h30m; 0 is off)")]
pub struct Clocks {
    /// All of the run
    #[arg(long, value_name = "TIME", default_value = "0", value_parser = cr_io::parse_duration)]
    pub timeout: Duration,

    /// Until the first line
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = cr_io::parse_duration)]
    pub startup_timeout: Duration,

    /// Silence while the model works
    #[arg(long, value_name = "TIME", default_value = "15m", value_parser = cr_io::parse_duration)]
    pub idle_timeout: Duration,

    /// One call of a tool
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = cr_io::parse_duration)]
    pub tool_timeout: Duration,

    /// One turn
    #[arg(long, value_name = "TIME", default_value = "0", value_parser = cr_io::parse_duration)]
    pub turn_timeout: Duration,

    /// From the result to the agent's own end
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = cr_io::parse_duration)]
    pub post_result_grace: Duration,

    /// From the first signal to SIGKILL
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = cr_io::parse_duration)]
    pub grace: Duration,
}
