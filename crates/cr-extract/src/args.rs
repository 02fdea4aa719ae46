//! The command line.

use std::path::PathBuf;

/// Take the answer out of a run: its JSON, or its text
///
/// The answer of a stream or of a session's log is the structured output of the
/// last result, else its text, else the text of the last message. A summary of
/// cr-summarize holds the same; after a line `---CLAUDE-RUNNER-RESULT---` one is
/// expected; any other input is itself the answer. A run that failed has no
/// answer, even if its error contains JSON.
///
/// JSON is searched by these rules, and the first rule that finds any decides: the
/// structured output; the whole text; fences tagged json; fences without a tag;
/// the text outside fences; and, where there is no object or array at all, other
/// values in fences tagged json. JSON in a fence of another language is never
/// taken. In running text, `{}`, `[]` and `[1]` count only at the start of a
/// line or after a colon, and no part of a broken value is taken. JSON means
/// strict JSON, and it is printed as it was written.
///
/// If the last line is cut off, it may have been a later answer: the last whole
/// one is printed, with a note on standard error and exit status 65.
///
/// A file is read from its end, and no further than needed; what gzip compressed
/// is known by its first bytes and read from its beginning. The answer of a
/// subagent's own log is that of the subagent.
#[derive(Clone, Debug, Default, clap::Parser)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
#[command(name = "cr-extract", version, after_help = AFTER)]
pub struct Args {
    /// Files to read; `-` is standard input, a directory every *.jsonl and
    /// *.ndjson below it, also with .gz behind. Several files give one line
    /// each, with `file`
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// The form of the input
    #[arg(long, value_enum, default_value_t)]
    pub from: Form,

    /// Print the answer as it is
    #[arg(long, conflicts_with_all = ["first", "last", "all", "schema", "strict", "compact"])]
    pub text: bool,

    /// Like --text, for an input that ends with its summary: print the answer
    /// if the run went well, else the reason on standard error. The exit status
    /// is the verdict, also when nobody reads standard output any more
    #[arg(long, conflicts_with_all = ["from", "first", "last", "all", "schema", "strict", "compact"])]
    pub verdict: bool,

    /// Print the first JSON that is found; this is the default
    #[arg(long, conflicts_with_all = ["last", "all"])]
    pub first: bool,

    /// Print the last instead of the first
    #[arg(long, conflicts_with = "all")]
    pub last: bool,

    /// Print all JSON that the deciding rule finds, one value per line
    #[arg(long)]
    pub all: bool,

    /// Take only JSON that satisfies the JSON Schema in this file; the first
    /// rule that finds such JSON decides
    #[arg(long, value_name = "FILE")]
    pub schema: Option<PathBuf>,

    /// Only check the schema, and read nothing else. Unknown kinds of patterns
    /// and references are accepted
    #[arg(long, requires = "schema", conflicts_with_all = ["files", "last", "all", "strict"])]
    pub check: bool,

    /// Take structured output and fences only
    #[arg(long)]
    pub strict: bool,

    /// Print JSON on one line, without blanks between its tokens
    #[arg(long)]
    pub compact: bool,

    /// Say on standard error where the answer was, and which rule decided
    #[arg(short, long)]
    pub verbose: bool,

    /// Print the JSON Schema of an answer of several inputs, and do nothing else
    #[arg(long, exclusive = true)]
    pub output_schema: bool,

    /// Skip lines, and refuse texts, longer than this many bytes
    #[arg(long, value_name = "BYTES", default_value_t = cr_io::MAX_LINE, value_parser = cr_io::parse_max_line)]
    pub max_line: usize,
}

/// What an input is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Form {
    /// Decided by the last line that is an event, a summary or a delimiter
    #[default]
    Auto,
    /// A stream, a session's log, or the output of `--output-format json`
    Stream,
    /// A summary of cr-summarize
    Summary,
    /// The text after the last line `---CLAUDE-RUNNER-RESULT---`
    Report,
    /// The answer itself
    Text,
}

const AFTER: &str = "\
Examples:
  claude -p --output-format stream-json --verbose < prompt.md | cr-extract
  cr-extract run.ndjson | jq .status
  cr-extract --schema answer.schema.json -v run.ndjson
  cr-extract --text ~/.claude/projects/x/session.jsonl
  claude -p 'list them as JSON' | cr-extract --from text --all
  cr-summarize --full run.ndjson | cr-extract
  { cat run.ndjson; cr-summarize run.ndjson; } | cr-extract --verdict

Exit status:
  0    an answer was printed
  1    there is none: no JSON, none that satisfies the schema, or the run failed
  2    the command line is wrong
  65   the last line is cut off, and the answer before it was printed; the answer
       is not whole in this summary, or the text is too long; the input is the
       recording of another program; compressed data, or the output of
       --output-format json, is cut off
  66   an input cannot be opened
  74   reading or writing failed
  78   the schema is wrong, or a newer version wrote the summary
  130  interrupted twice
With several inputs: 1 if one of them has no answer. With --verdict: the code in
the summary, or 65 if the input does not end with one.";
