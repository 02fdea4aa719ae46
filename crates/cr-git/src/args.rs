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
  74    reading or writing failed midway
  75    the lock is held, and --wait is over
  78    CR_RUN_ID or the lock file is refused
  125   git or this tool failed
  126   the command cannot be executed
  127   the command was not found
  128+n `lock`: the command died by signal n; else its own code";

/// Say what a run does to a git repository
///
/// git itself is asked, with everything turned off that a repository could use
/// to run a program.
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
    /// Pass a stream on and add what changed before its last line
    ///
    /// The stream passes byte for byte. The repository is the one of the start
    /// line; git's trouble is in the line's `error` and never ends the stream.
    End(EndArgs),
    /// Name the files that a run changed outside what is allowed
    ///
    /// Looks at every commit of the run and at the work tree; files that were not
    /// clean before and were left alone do not count.
    ///
    /// A GLOB is anchored at the top of the work tree and matches whole paths: `*`
    /// is any run of characters but `/`, `?` one character but `/`, `**` as a whole
    /// part any number of directories, `src/` everything below src, `\` takes the
    /// next character as it is. Other characters stand for themselves.
    ///
    /// Files outside are printed one a line, control characters escaped.
    Scope(ScopeArgs),
    /// Run a command while holding the repository's lock
    ///
    /// At most one holder a repository, all its work trees together. The lock is
    /// let go when COMMAND ends, whatever that leaves running. A `lock` inside a
    /// `lock` does not wait for itself.
    Lock(LockArgs),
}

/// Where, and what is left behind.
#[derive(Debug, clap::Args)]
pub(crate) struct Place {
    /// Look at the repository that DIR is in
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Leave the line as git.json in DIR, too
    #[arg(long, value_name = "DIR")]
    pub(crate) run_dir: Option<PathBuf>,
    /// Give up a call of git after this time; 0 is never
    #[arg(long, value_name = "DURATION", default_value = "2m", value_parser = duration)]
    git_timeout: Duration,
}

impl Place {
    /// How long one call of git may take.
    pub(crate) fn limit(&self) -> Duration {
        limit(self.git_timeout)
    }
}

/// A time limit, where 0 is none.
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
    pub(crate) place: Place,
}

#[derive(Debug, clap::Args)]
pub(crate) struct EndArgs {
    /// The commit to compare with, if the stream has no start line
    #[arg(long, value_name = "SHA")]
    pub(crate) start_sha: Option<String>,
    /// A file with the start line, if the stream has none
    #[arg(long, value_name = "FILE")]
    pub(crate) start: Option<PathBuf>,
    /// Attribute to the agent only commits whose ids are in FILE or in the stream
    ///
    /// For a tree in which others commit at the same time. One id a line, read
    /// at the end of the run. Without it every new commit is the agent's.
    #[arg(long, value_name = "FILE")]
    pub(crate) noted: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) place: Place,
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
    /// Give up a call of git after this time; 0 is never
    #[arg(long, value_name = "DURATION", default_value = "2m", value_parser = duration)]
    pub(crate) git_timeout: Duration,
}

#[derive(Debug, clap::Args)]
pub(crate) struct LockArgs {
    /// Wait at most this long, then end with 75; 0 is for ever
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) wait: Option<Duration>,
    /// Remove an index.lock that no process holds
    #[arg(long)]
    pub(crate) break_stale_lock: bool,
    /// Lock the repository that DIR is in
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Give up a call of git after this time; 0 is never
    #[arg(long, value_name = "DURATION", default_value = "2m", value_parser = duration)]
    pub(crate) git_timeout: Duration,
    /// The command and its arguments
    #[arg(last = true, required = true)]
    pub(crate) command: Vec<OsString>,
}

/// Seconds, or `2h30m`.
fn duration(text: &str) -> Result<Duration, String> {
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).map_err(|err| err.to_string());
    }
    let signed: jiff::SignedDuration = text
        .parse()
        .map_err(|_| "seconds, or a time such as 2h30m".to_owned())?;
    Duration::try_from(signed).map_err(|_| "less than nothing".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_seconds_or_parts() {
        let seconds = |text| duration(text).map(|d| d.as_secs_f64());
        assert_eq!(seconds("90"), Ok(90.0));
        assert_eq!(seconds("0.5"), Ok(0.5));
        assert_eq!(seconds("0"), Ok(0.0));
        assert_eq!(seconds("2h30m"), Ok(9000.0));
        assert_eq!(seconds("100ms"), Ok(0.1));
        for text in ["", "-1", "-1m", "x", "nan", "inf", "1e30"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
