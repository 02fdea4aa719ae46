//! Development tasks: generated documents, the rules of this project, bounded
//! runs and measurements.
//!
//! Nothing here is shipped. `scripts/man`, `scripts/completions`,
//! `scripts/schemas` and `scripts/test` are how people call it.

mod architecture;
mod bounded;
mod completions;
mod fields;
mod files;
mod licences;
mod man;
mod measure;
mod picture;
mod sections;
mod tidy;
mod tools;

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Parser;
use cr_io::Exit;

/// Development tasks of claude-runner
#[derive(Debug, Parser)]
#[command(name = "cr-dev", version)]
pub enum Task {
    /// Write man/*.1 from the tools' arguments
    Man {
        /// Write nothing; fail if a page is not what the code says
        #[arg(long)]
        check: bool,
    },
    /// Write the shell completions from the tools' arguments
    Completions {
        /// Write nothing; fail if a file is not what the code says
        #[arg(long)]
        check: bool,
    },
    /// Make a picture (SVG) of what a terminal got on standard input
    Picture {
        /// For a dark background
        #[arg(long)]
        dark: bool,
    },
    /// Write the JSON Schemas from the comments on the types
    Schemas {
        /// Write nothing; fail if a file is not what the code says
        #[arg(long)]
        check: bool,
    },
    /// Check the rules no lint knows: sizes, leftovers, every tool documented
    Tidy,
    /// Run a command with default signals and a deadline
    ///
    /// The command leads a session of its own, without a terminal, and starts
    /// with no signal ignored. At the deadline, at a signal, and when it has
    /// ended, every process that it has started is killed. A deadline that
    /// passes is 124, and the tests that were running are named.
    Bounded {
        /// The deadline in seconds from now
        #[arg(long)]
        deadline: u64,
        /// The command
        #[arg(required = true, last = true)]
        command: Vec<OsString>,
    },
    /// Measure how long a line takes through each command
    ///
    /// Prints `MEDIAN COMMAND`, in microseconds. The commands take turns.
    Latency {
        /// How many lines each
        #[arg(long, default_value_t = 2000)]
        rounds: usize,
        /// A file with the line to send, one line long
        #[arg(long)]
        line: PathBuf,
        /// The commands, each a filter of lines; words split at spaces
        #[arg(required = true)]
        commands: Vec<String>,
    },
    /// Measure how long each command takes on empty input
    ///
    /// Prints `MEDIAN COMMAND`, in microseconds. The commands take turns.
    Startup {
        /// How many runs each
        #[arg(long, default_value_t = 200)]
        rounds: usize,
        /// The commands; words split at spaces
        #[arg(required = true)]
        commands: Vec<String>,
    },
}

/// Runs `task`; findings go to `notes`, one a line.
///
/// # Errors
///
/// When a file cannot be read or written.
pub fn run(task: &Task, notes: &mut dyn Write) -> anyhow::Result<Exit> {
    let root = root();
    match task {
        Task::Man { check } => files::settle(&root.join("man"), &man::pages(&root)?, *check, notes),
        Task::Completions { check } => files::settle(
            &root.join("completions"),
            &completions::all(),
            *check,
            notes,
        ),
        Task::Picture { dark } => picture::run(*dark, std::io::stdin(), std::io::stdout()),
        Task::Schemas { check } => schemas(&root, *check, notes),
        Task::Tidy => tidy::run(&root, notes),
        Task::Bounded { deadline, command } => {
            bounded::run(command, Duration::from_secs(*deadline), notes)
        }
        Task::Latency {
            rounds,
            line,
            commands,
        } => measure::latency(*rounds, line, commands),
        Task::Startup { rounds, commands } => measure::startup(*rounds, commands),
    }
}

/// Writes the schemas; a field whose comment does not say all is a finding.
fn schemas(root: &Path, check: bool, notes: &mut dyn Write) -> anyhow::Result<Exit> {
    let missing = fields::check(root)?;
    for finding in &missing {
        writeln!(notes, "{finding}")?;
    }
    let exit = files::settle_each(root, &fields::schemas(root)?, check, notes)?;
    Ok(if missing.is_empty() { exit } else { Exit::No })
}

/// The top of the work tree this was built from.
fn root() -> PathBuf {
    let mut dir = Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf();
    dir.pop();
    dir.pop();
    dir
}
