//! The command line.

use std::path::PathBuf;

use anyhow::anyhow;
use cr_io::Exit;

use cr_progress::TimeSource;

/// Show a run of an agent as one progress line per event
///
/// Reads the stream of `claude -p --output-format stream-json --verbose`, or
/// the session logs below ~/.claude/projects, and writes the progress, live:
/// files read and written, commands and their failures, commits, the agent's
/// text, retries, limits, denials, the end with its cost. Other lines are dropped; with --tee the stream
/// itself goes on to standard output.
///
/// Text of the agent is shown on one line, with control characters escaped and
/// keys masked.
///
/// What a subagent does is indented below its call. In a session's log it comes
/// from `progress` lines, which lack the last words of the subagent. A subagent
/// whose own log (agent-ID.jsonl) is a file of the same command line is shown
/// from that log alone, under its name, so that each call is shown once.
#[derive(Clone, Debug, Default, clap::Parser)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
#[command(name = "cr-filter", version, after_help = EXIT_STATUS, after_long_help = LONG)]
pub struct Args {
    /// Recordings to read; a directory means every *.jsonl and *.ndjson below
    /// it, also with .gz behind, nothing or `-` means standard input. What gzip
    /// compressed is known by its first bytes
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Pass the stream on and write the text to standard error, or to FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub tee: Option<PathBuf>,

    /// The time that a line shows, in the local zone
    #[arg(long, value_enum, default_value_t)]
    pub time: Time,

    /// Output format: text for people, github for a workflow's log, json for one
    /// flat row per event
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,

    /// Show more: short texts, thinking, other failed tools, prompts, every turn
    #[arg(short, long)]
    pub verbose: bool,

    /// Show only commits, errors, limits and the end
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,

    /// Cut lines after this many characters
    #[arg(long, value_name = "CHARACTERS")]
    pub width: Option<usize>,

    /// After this many bytes of text show only commits, errors, limits and the
    /// end
    #[arg(long, value_name = "BYTES")]
    pub limit: Option<u64>,

    /// Show keys and tokens as they are
    #[arg(long)]
    pub no_redact: bool,

    /// Mask keys and tokens also in the stream that --tee passes on
    #[arg(long, requires = "tee")]
    pub redact_stream: bool,

    /// Print the JSON Schema of a row of --format json, and do nothing else
    #[arg(long, exclusive = true)]
    pub output_schema: bool,

    /// At the end write to standard error how many lines were shown or dropped
    #[arg(long)]
    pub stats: bool,
}

impl Args {
    /// Refuses flags that would have no effect.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        let text_only = [
            ("--verbose", self.verbose),
            ("--quiet", self.quiet),
            ("--width", self.width.is_some()),
            ("--limit", self.limit.is_some()),
        ];
        let given = text_only.iter().find(|(_, given)| *given);
        match given.filter(|_| self.format == Format::Json) {
            Some((flag, _)) => Err(
                anyhow!("{flag} is for text: --format json writes every row").context(Exit::Usage),
            ),
            None => Ok(()),
        }
    }
}

/// Where the time of a line comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Time {
    /// The event's own, else the last one seen, else its arrival
    #[default]
    Event,
    /// The time at which the line is written
    Now,
    /// No time at all
    None,
}

impl Time {
    pub(crate) fn source(self) -> TimeSource {
        match self {
            Self::Event => TimeSource::Event,
            Self::Now => TimeSource::Now,
            Self::None => TimeSource::None,
        }
    }
}

/// The output format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// `[HH:MM:SS] Kind: text`
    #[default]
    Text,
    /// The same, with the groups and annotations of a GitHub workflow; writes
    /// the step's summary and outputs when `GITHUB_ACTIONS` is set
    Github,
    /// One JSON object per event; a tool call comes together with its result
    Json,
}

macro_rules! exit_status {
    () => {
        "\
Exit status:
  0    done, also when nothing was shown or the reader left
  2    bad usage
  65   no line is Claude Code's (but not with --tee: the next stage says so), or
       compressed data is damaged or cut off
  66   an input cannot be opened
  74   reading or writing failed
  130  interrupted twice"
    };
}

const EXIT_STATUS: &str = exit_status!();

const LONG: &str = concat!(
    exit_status!(),
    "

Examples:
  claude -p --output-format stream-json --verbose 'fix it' | cr-filter
      Watch a run.
  claude … | cr-filter --tee | cr-summarize
      Watch it on standard error, get the summary on standard output.
  cr-filter ~/.claude/projects/-home-me-project/
      Read old sessions.
  cr-filter --format json run.ndjson | jq -r 'select(.kind==\"tool\" and .ok==false) | .target'
      What failed.

Rows of --format json:
  One JSON object a line. Every field is always there, and null where it does not
  apply or is not known. Characters that act on a terminal are escaped. The manual
  page describes every field, --output-schema is for programs."
);
