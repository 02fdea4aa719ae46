//! One JSON summary of a run, or of each of many, and a verdict for the shell.
//!
//! `read` gives lines to `sessions`, which has a `collector` for each session;
//! `build` makes the summary from a collector and asks `cr-verdict` for the
//! verdict; `cr-summary` truncates it to four kilobytes.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use cr_io::{Exit, Input, Out, Redactor, read_failure};
use cr_rundir::{RunDir, file};
use cr_summary::Summary;
use cr_usage::Prices;

mod background;
mod build;
mod calls;
mod collector;
mod counts;
mod evidence;
mod foreign;
mod help;
mod inputs;
mod own_lines;
mod read;
mod resume;
mod session;
mod sessions;
mod spend;
mod turns;
mod value;

use build::SummaryOptions;
use inputs::Inputs;
use sessions::Sessions;

/// The line before the summary with `--delimiter`.
const DELIMITER: &str = "---CLAUDE-RUNNER-RESULT---";

/// Turn a run into one JSON summary; the exit status is the verdict
///
/// Reads a stream of `claude -p --output-format stream-json --verbose`, with or
/// without the lines of the other tools, the logs of ~/.claude/projects, or the
/// output of `--output-format json`.
#[derive(Debug, clap::Parser)]
#[command(name = "cr-summarize", version, after_help = help::AFTER)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub struct Args {
    /// Files to read; `-` is standard input, a directory every *.jsonl and
    /// *.ndjson below it. Several files give one line each, with `file`
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Print all fields in full, without a length limit
    #[arg(long)]
    pub full: bool,

    /// Print the summary over many lines, as on a terminal
    #[arg(long)]
    pub pretty: bool,

    /// Print a line `---CLAUDE-RUNNER-RESULT---` first
    #[arg(long)]
    pub delimiter: bool,

    /// Print one line for each session of an input
    #[arg(long)]
    pub per_session: bool,

    /// Do not read the logs of a session's subagents
    #[arg(long)]
    pub no_subagents: bool,

    /// Size of the context window, where the input does not say it
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..))]
    pub context_window: Option<u64>,

    /// Estimate the cost by list prices (of 2026-11-18) where the input does
    /// not say it
    #[arg(long)]
    pub estimate_cost: bool,

    /// Estimate by the prices in this file, in dollars for a million tokens:
    /// `{"MODEL": {"input": 3, "output": 15, "cache_read": 0.3, "cache_creation": 3.75}}`.
    /// `cache_creation_1h` is for writes that are kept for an hour (else 1.6
    /// times `cache_creation`)
    #[arg(long, value_name = "FILE")]
    pub prices: Option<PathBuf>,

    /// Also write the summary to DIR/summary.json
    #[arg(long, value_name = "DIR", conflicts_with = "per_session")]
    pub run_dir: Option<PathBuf>,

    /// Skip lines longer than this many bytes
    #[arg(long, value_name = "BYTES", default_value_t = cr_io::MAX_LINE, value_parser = cr_io::parse_max_line)]
    pub max_line: usize,

    /// Do not mask keys and tokens
    #[arg(long)]
    pub no_redact: bool,
}

impl Args {
    fn options(&self) -> anyhow::Result<SummaryOptions> {
        let prices = match &self.prices {
            Some(file) => Some(Prices::read(file)?),
            None => self.estimate_cost.then(Prices::default),
        };
        let redactor = if self.no_redact {
            Redactor::none()
        } else {
            Redactor::from_env()
        };
        Ok(SummaryOptions {
            context_window: self.context_window,
            prices,
            redactor,
        })
    }
}

/// Prints the summary of each input to `out`; notes go to `notes`.
pub fn run(args: &Args, out: impl Write, mut notes: impl Write) -> anyhow::Result<Exit> {
    let inputs = Inputs::new(&args.files)?;
    if inputs.are_many && args.run_dir.is_some() {
        return Err(anyhow!("--run-dir is for one input").context(Exit::Usage));
    }
    let mut report = Report {
        args,
        options: args.options()?,
        is_pretty: args.pretty || (!inputs.are_many && io::stdout().is_terminal()),
        are_many: inputs.are_many,
        out: Out::new(out),
    };
    if args.delimiter {
        report.out.line(DELIMITER.as_bytes())?;
    }
    let mut exit = Exit::Ok;
    for input in &inputs.list {
        match report.input(input, &mut notes) {
            Ok(verdict) if !inputs.are_many => exit = verdict,
            Ok(_) => {}
            // The other files are read all the same.
            Err(err) if inputs.are_many && cr_io::exit_of(&err) == Exit::NoInput => {
                note(&mut notes, &err);
                exit = Exit::NoInput;
            }
            Err(err) => {
                report.out.flush()?;
                return Err(err);
            }
        }
    }
    report.out.flush()?;
    Ok(exit)
}

fn note(notes: impl Write, err: &anyhow::Error) {
    cr_io::note("cr-summarize", notes, err);
}

struct Report<'a, W> {
    args: &'a Args,
    options: SummaryOptions,
    is_pretty: bool,
    are_many: bool,
    out: Out<W>,
}

impl<W: Write> Report<'_, W> {
    /// Prints the summary of one input; returns its verdict.
    fn input(&mut self, input: &Input, notes: &mut impl Write) -> anyhow::Result<Exit> {
        let mut sessions = Sessions::new(self.args.per_session, self.args.full);
        let mut read = self.read(input, &mut sessions);
        if read.is_ok() && sessions.is_log() && !self.args.no_subagents {
            sessions.begin_subagents();
            let subagents = inputs::subagents(input);
            read = subagents
                .iter()
                .try_for_each(|file| self.read(file, &mut sessions));
        }
        match &read {
            Err(err) if matches!(cr_io::exit_of(err), Exit::NoInput | Exit::Gone) => {
                return read.map(|()| Exit::Ok);
            }
            Err(_) => sessions.cut(),
            Ok(()) => {}
        }
        let mut code = 0;
        for collector in sessions.finish() {
            let mut summary = build::summary(&collector, &self.options);
            self.name(input, &mut summary);
            code = summary.code.unwrap_or_default();
            self.print(summary, notes)?;
        }
        read?;
        Ok(if self.args.per_session {
            Exit::Ok
        } else {
            Exit::Code(code)
        })
    }

    fn read(&self, input: &Input, sessions: &mut Sessions) -> anyhow::Result<()> {
        let mut opened = input.open()?;
        read::read(&mut opened, self.args.max_line, sessions).map_err(read_failure)?;
        if opened.was_cut_short() {
            sessions.cut();
        }
        Ok(())
    }

    fn name(&self, input: &Input, summary: &mut Summary) {
        summary.file = self.are_many.then(|| input.label());
        if let Input::File(_) = input {
            summary.transcript.get_or_insert_with(|| input.label());
        }
    }

    fn print(&mut self, summary: Summary, notes: &mut impl Write) -> anyhow::Result<()> {
        let mut summary = if self.args.full {
            summary
        } else {
            summary.truncated()
        };
        if let Some(dir) = &self.args.run_dir {
            summary.recorded = Some(true);
            // The verdict does not depend on the file.
            if let Err(err) = record(dir, &summary.line()) {
                note(notes, &err);
                summary.recorded = Some(false);
            }
        }
        let text = if self.is_pretty {
            summary.pretty()
        } else {
            summary.line()
        };
        self.out.line(text.as_bytes())
    }
}

/// Writes `line` to `summary.json` in `dir`: whole or not at all, readable by its
/// owner alone.
fn record(dir: &Path, line: &str) -> anyhow::Result<()> {
    RunDir::at(dir)?.write(file::SUMMARY, format!("{line}\n").as_bytes())
}

/// The summary of `input`; for tests that cut it into pieces.
#[cfg(test)]
fn summary_of(input: impl io::Read) -> String {
    let mut sessions = Sessions::new(false, false);
    read::read(input, cr_io::MAX_LINE, &mut sessions).expect("read");
    let options = SummaryOptions {
        context_window: None,
        prices: None,
        redactor: Redactor::none(),
    };
    let collectors = sessions.finish();
    build::summary(&collectors[0], &options).truncated().line()
}
