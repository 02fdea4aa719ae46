//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;

const EXAMPLES: &str = "\
Examples:
  { cr-git start; cr-spawn < prompt.md; } | cr-git end | cr-summarize
  cr-git scope --allow src/ --allow '**/*.md' < stream.ndjson
  cr-git lock -- git commit -m 'feat: keyword routes'

Exit status:
  0     done; for `scope`: nothing outside
  2     the command line is wrong
  5     `scope`: files outside, which it names
  65    the stream has no usable start line
  66    no repository, or an input that cannot be opened
  74    reading or writing failed
  75    the lock is still held after --wait
  78    CR_RUN_ID is invalid, or the lock file is unsafe
  125   git or this tool failed
  126   the command cannot be executed
  127   the command was not found
  130   `end`: interrupted twice
  128+n `lock`: the command died by signal n; else its own code";

/// Report what a run changes in a git repository
///
/// The facts come from git itself, called so that the repository cannot make it
/// run a program.
#[derive(Debug, Parser)]
#[command(name = "cr-git", version, after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Print the state of the repository as one line
    ///
    /// Never fails because of git: the line says what went wrong.
    Start(StartArgs),
    /// Pass a stream on and add a line with the changes before its last line
    ///
    /// The stream passes byte for byte. The repository is the one of the start
    /// line; an error of git is in the line's `error` and never ends the stream.
    ///
    /// `commits_by` says for each commit whether the agent made it: the id of the
    /// run, or null if there is no evidence. Evidence is a tool's result in the
    /// stream, the file of --noted, or the trace of the agent's git commands in the
    /// run directory (git-trace.ndjson), compared with the reflog of HEAD.
    End(EndArgs),
    /// Print the files that a run changed outside the allowed paths
    ///
    /// Looks at every commit of the run and at the work tree; files that were
    /// dirty before the run and did not change do not count.
    ///
    /// A GLOB is anchored at the top of the work tree and matches whole paths: `*`
    /// matches any characters except `/`, `?` one character except `/`, `**` any
    /// number of directories, `src/` everything below src; `\` quotes the next
    /// character. All other characters match themselves.
    ///
    /// Files outside are printed one per line, with control characters escaped.
    Scope(ScopeArgs),
    /// Run a command while holding the repository's lock
    ///
    /// A repository and its work trees have one lock. It is released when COMMAND
    /// ends, even if COMMAND leaves processes running. A `lock` inside a `lock`
    /// does not wait for itself.
    Lock(LockArgs),
}

/// Where to look, and where to leave the line.
#[derive(Debug, clap::Args)]
pub(crate) struct LocationArgs {
    /// Look at the repository that DIR is in
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Also write the line to a file in DIR: start.json, or git.json for `end`
    #[arg(long, value_name = "DIR")]
    pub(crate) run_dir: Option<PathBuf>,
    /// Longest time for one call of git; 0 is no limit
    #[arg(long, value_name = "DURATION", default_value = "2m", value_parser = cr_io::parse_duration)]
    git_timeout: Duration,
}

impl LocationArgs {
    /// How long one call of git may take.
    pub(crate) fn limit(&self) -> Duration {
        limit(self.git_timeout)
    }
}

/// A time limit; 0 means no limit.
pub(crate) fn limit(given: Duration) -> Duration {
    if given.is_zero() {
        Duration::MAX
    } else {
        given
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct StartArgs {
    #[command(flatten)]
    pub(crate) location: LocationArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct EndArgs {
    /// The commit to compare with, if the stream has no start line
    #[arg(long, value_name = "SHA")]
    pub(crate) start_sha: Option<String>,
    /// A file with the start line, if the stream has none
    #[arg(long, value_name = "FILE")]
    pub(crate) start: Option<PathBuf>,
    /// Attribute the commits whose ids are in FILE to the agent
    ///
    /// For an agent that commits through a wrapper, which writes one id a line. FILE
    /// is read at the end of the run.
    #[arg(long, value_name = "FILE")]
    pub(crate) noted: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) location: LocationArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ScopeArgs {
    /// Allow the paths that GLOB matches; may be repeated
    #[arg(long, value_name = "GLOB", required = true, num_args = 1..)]
    pub(crate) allow: Vec<OsString>,
    /// Compare with this commit instead of a stream's start line
    #[arg(long, value_name = "SHA", conflicts_with = "stream")]
    pub(crate) base: Option<String>,
    /// A file with the stream or its start line, instead of standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) stream: Option<PathBuf>,
    /// Look at the repository that DIR is in, not at the start line's
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Longest time for one call of git; 0 is no limit
    #[arg(long, value_name = "DURATION", default_value = "2m", value_parser = cr_io::parse_duration)]
    pub(crate) git_timeout: Duration,
}

#[derive(Debug, clap::Args)]
pub(crate) struct LockArgs {
    /// Wait at most this long, then end with 75; 0 is no limit
    #[arg(long, value_name = "DURATION", value_parser = cr_io::parse_duration)]
    pub(crate) wait: Option<Duration>,
    /// Remove an index.lock that no process holds
    #[arg(long)]
    pub(crate) break_stale_lock: bool,
    /// Lock the repository that DIR is in
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Longest time for one call of git; 0 is no limit
    #[arg(long, value_name = "DURATION", default_value = "2m", value_parser = cr_io::parse_duration)]
    pub(crate) git_timeout: Duration,
    /// The command and its arguments
    #[arg(last = true, required = true)]
    pub(crate) command: Vec<OsString>,
}
