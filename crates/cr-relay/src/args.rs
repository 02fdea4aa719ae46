//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use clap::{Parser, Subcommand};
use cr_agent::AgentOptions;

const HELP: &str = "\
Examples:
  cr-relay near --executor-cmd 'ssh build1' < prompt.md > run.ndjson
  cr-relay near --executor-cmd 'srun --unbuffered' --model opus < prompt.md | cr-filter
  cr-relay near --executor-cmd 'podman run -i --rm image' < prompt.md | cr-summarize
  git log HEAD..refs/cr-relay/RUN/head     # what the agent committed

Exit status:
  that of cr-spawn at the far end, and:
  2    the command line is wrong
  66   the directory is in no repository, or has no commit
  75   the relay was lost, and how the agent ended is not known
  125 to 127  the far end could not begin
  128+n  stopped by signal n
  The last line, cr/exit, says exactly how the run ended.";

const LONG_HELP: &str = "\
Examples:
  cr-relay near --executor-cmd 'ssh build1' < prompt.md > run.ndjson
  cr-relay near --executor-cmd 'srun --unbuffered' --model opus < prompt.md | cr-filter
  cr-relay near --executor-cmd 'podman run -i --rm image' < prompt.md | cr-summarize
  git log HEAD..refs/cr-relay/RUN/head     # what the agent committed

The relay:
The command must pass standard input, output and error on, without a terminal
(ssh -T, no podman -t). The far machine needs the tools of this package in the
same version, git and the agent. What the command itself prints before the far
end answers is shown on standard error. There is no limit on the time until then:
placing and queueing are the command's business.
  work        HEAD of the repository of --cwd travels as a git bundle, in full the
              first time and then as far as the far end lacks it. Files that are not
              committed stay here, on both ends. The far end's commits arrive in
              refs/cr-relay/RUN/head and refs/cr-relay/RUN/heads/, checked, before
              cr/exit is written. No branch of yours is changed, unless --fast-forward.
  the end     The exit code of the command proves nothing (srun ends with 0 when its
              node is lost). Without cr/exit from the far end the last line is a
              cr/exit with the reason relay_lost, which is never a success.
  lease       The near end renews it every few seconds. A far end without it, or
              whose standard input has ended, stops its agent with the usual grace
              and then kills all that is left.
  stop        A signal travels to the far cr-spawn as a message, so the agent has its
              grace; the command is not signalled before the far end has ended.
  once        The far end keeps a record by the id of the run (CR_RUN_ID). A second
              near end with the same id gets the stream and the work of the first
              one; the agent is never started twice.
  directories The far end works below relay/ in its state directory, each attempt in a
              directory of its own. It is removed when the work has arrived, and kept
              if something failed or was not committed.
Sessions of many turns (--input stream) and questions (--ask) need a supervisor on
this machine and are refused. A session can be resumed only where it was made.

Exit status:
  that of cr-spawn at the far end, and:
  2    the command line is wrong
  66   the directory is in no repository, or has no commit
  75   the relay was lost, and how the agent ended is not known
  125 to 127  the far end could not begin
  128+n  stopped by signal n
  The last line, cr/exit, says exactly how the run ended.";

/// Run one agent on another machine, behind a command that relays its streams
///
/// cr-relay near takes the place of cr-spawn in a pipeline: the prompt in, the
/// stream out, cr/exit last. The agent runs where the command leads to.
#[derive(Debug, Parser)]
#[command(name = "cr-relay", version, after_help = HELP, after_long_help = LONG_HELP, max_term_width = 100)]
pub struct Args {
    /// Which end
    #[command(subcommand)]
    pub action: Action,
}

/// The two ends of a relay.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// Start the command and take the place of cr-spawn
    Near(Box<NearArgs>),
    /// What the command starts on the other machine; it is not for people
    Far,
}

/// Start a command that leads to another machine, and take the place of cr-spawn
///
/// The options of cr-spawn are those of the agent; files that they name are read
/// here. The prompt comes from --prompt, --prompt-file or standard input.
#[derive(Debug, Parser)]
pub struct NearArgs {
    /// The command that leads to the other machine; a shell reads it, and the
    /// far program comes behind it
    #[arg(long, value_name = "COMMAND", value_parser = NonEmptyStringValueParser::new())]
    pub executor_cmd: String,

    /// The far program
    #[arg(long, value_name = "PROGRAM", default_value = "cr-relay")]
    pub far_program: PathBuf,

    /// How long the far end goes on without news from here
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_lease)]
    pub lease: Duration,

    /// A variable that the agent gets from here; may be repeated
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    pub pass_env: Vec<String>,

    /// Bring the branch that is checked out here to the far end's last commit, if
    /// that continues it; for a work tree that nobody else uses
    #[arg(long)]
    pub fast_forward: bool,

    /// The agent's options
    #[command(flatten)]
    pub agent: AgentOptions,
}

fn parse_lease(text: &str) -> Result<Duration, String> {
    match cr_io::parse_duration(text)? {
        lease if lease < Duration::from_secs(1) => Err("at least one second".to_owned()),
        lease => Ok(lease),
    }
}

fn parse_name(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if text.is_empty() || !text.chars().all(is_plain) || text.starts_with(char::is_numeric) {
        return Err("not the name of a variable".to_owned());
    }
    Ok(text.to_owned())
}
