//! One JSON summary of a run, or of each of many, and a verdict for the shell.
//!
//! `read` gives lines to `sessions`, which has a `collector` for each session;
//! `build` makes the summary from a collector and asks `cr-verdict` for the
//! verdict; `cr-summary` truncates it to four kilobytes.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use cr_io::{Exit, Input, Out, Redactor, read_failure};
use cr_rundir::{RunDir, file};
use cr_summary::{Summary, Total};
use cr_usage::Prices;

mod agent_fields;
mod agents_without_log;
mod background;
mod build;
mod calls;
mod collector;
mod compactions;
mod conversation;
mod counts;
mod evidence;
mod help;
mod inputs;
mod left_sessions;
mod log_end;
mod message_ids;
mod own_lines;
mod owners;
mod print_early;
mod quota;
mod read;
mod reading_order;
mod resume;
mod session;
mod session_fields;
mod sessions;
mod spend;
mod tee;
mod turns;
mod value;

use build::SummaryOptions;
use collector::CollectOptions;
use inputs::Inputs;
use owners::Owners;
use sessions::Sessions;
use tee::Tee;

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
    /// *.ndjson below it, also with .gz behind. Several files give one line
    /// each, with `file`; a message that several of them have is counted once
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

    /// Print one line for each session of an input. Of more than 10,000, those
    /// whose last line is the oldest are printed while the input is read; if one
    /// goes on later, it gets a second line, with `session` in `truncated`
    #[arg(long)]
    pub per_session: bool,

    /// Print one more line at the end: the sum of all summaries, with
    /// `"total": true`
    #[arg(long, conflicts_with = "run_dir")]
    pub total: bool,

    /// Do not count the work of a session's subagents that is in their own logs
    /// or in `progress` lines
    #[arg(long)]
    pub no_subagents: bool,

    /// Size of the context window, where the input does not say it
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..))]
    pub context_window: Option<u64>,

    /// Estimate the cost where the input does not say it: by the file `prices` of
    /// the configuration, else by list prices (of 2026-11-18)
    #[arg(long)]
    pub estimate_cost: bool,

    /// Estimate by the prices in this file, in dollars for a million tokens, 0 to 10000:
    /// `{"MODEL": {"input": 3, "output": 15, "cache_read": 0.3, "cache_creation": 3.75}}`.
    /// `cache_creation_1h` is for writes that are kept for an hour (else 1.6
    /// times `cache_creation`)
    #[arg(long, value_name = "FILE")]
    pub prices: Option<PathBuf>,

    /// Also write the summary to DIR/summary.json
    #[arg(long, value_name = "DIR", conflicts_with = "per_session")]
    pub run_dir: Option<PathBuf>,

    /// Pass the input on to standard output, as it is; the summary goes to
    /// --run-dir only. Implies --read-on
    #[arg(long, conflicts_with_all = ["delimiter", "pretty", "per_session"])]
    pub tee: bool,

    /// Read on to the end when nobody reads standard output any more: the exit
    /// status is the verdict
    #[arg(long)]
    pub read_on: bool,

    /// Print the JSON Schema of the summary, and do nothing else
    #[arg(long, exclusive = true)]
    pub output_schema: bool,

    /// Skip lines longer than this many bytes
    #[arg(long, value_name = "BYTES", default_value_t = cr_io::MAX_LINE, value_parser = cr_io::parse_max_line)]
    pub max_line: usize,

    /// Do not mask keys and tokens
    #[arg(long)]
    pub no_redact: bool,
}

impl Args {
    fn options(&self) -> anyhow::Result<SummaryOptions> {
        let configured = match &self.prices {
            // Other uses need no configuration, and none of its errors.
            None if self.estimate_cost => cr_config::Config::load()?.prices(),
            _ => None,
        };
        let prices = match self.prices.as_ref().or(configured.as_ref()) {
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
pub fn run(args: &Args, out: impl Write, notes: impl Write) -> anyhow::Result<Exit> {
    if args.output_schema {
        return cr_io::print_schema(cr_summary::JSON_SCHEMA, out);
    }
    let inputs = Inputs::new(&args.files)?;
    for (flag, is_given) in [("--run-dir", args.run_dir.is_some()), ("--tee", args.tee)] {
        if inputs.are_many && is_given {
            return Err(anyhow!("{flag} is for one input").context(Exit::Usage));
        }
    }
    let mut report = Report {
        args,
        options: args.options()?,
        is_pretty: args.pretty || (!inputs.are_many && io::stdout().is_terminal()),
        owners: Owners::new(inputs.list.len() > 1),
        total: args.total.then(Total::new),
        held: BTreeMap::new(),
        printed: 0,
        out: Out::new(out).outlive_reader(args.tee || args.read_on),
        tee_failed: None,
        notes,
        inputs,
    };
    if args.delimiter {
        report.out.line(DELIMITER.as_bytes())?;
    }
    let exit = report.all();
    let ended = report.end();
    if let Some(err) = report.tee_failed {
        return Err(err);
    }
    exit.and_then(|exit| ended.map(|()| exit))
}

struct Report<'a, W, N> {
    args: &'a Args,
    options: SummaryOptions,
    inputs: Inputs,
    is_pretty: bool,
    /// Which file counts each message.
    owners: Owners,
    total: Option<Total>,
    /// Summaries that wait for those of earlier arguments.
    held: BTreeMap<usize, Vec<Summary>>,
    /// Inputs whose summaries are printed.
    printed: usize,
    out: Out<W>,
    /// Why the input is not passed on any more.
    tee_failed: Option<anyhow::Error>,
    notes: N,
}

impl<W: Write, N: Write> Report<'_, W, N> {
    /// Reads all inputs and prints their summaries in the order of the inputs.
    /// Returns the verdict of a single one.
    fn all(&mut self) -> anyhow::Result<Exit> {
        let mut exit = Exit::Ok;
        for index in reading_order::reading_order(&self.inputs.list) {
            let (summaries, read) = self.input(index);
            self.held.entry(index).or_default().extend(summaries);
            self.print_held()?;
            match read {
                Ok(verdict) if !self.inputs.are_many => exit = verdict,
                Ok(_) => {}
                // The other files are read all the same.
                Err(err) if self.inputs.are_many && is_of_file(&err) => {
                    cr_io::note("cr-summarize", &mut self.notes, &err);
                    exit = cr_io::exit_of(&err);
                }
                Err(err) => return Err(err),
            }
        }
        Ok(exit)
    }

    /// Prints what waits no longer.
    fn print_held(&mut self) -> anyhow::Result<()> {
        while let Some(summaries) = self.held.remove(&self.printed) {
            self.printed += 1;
            for summary in summaries {
                self.print(summary)?;
            }
        }
        Ok(())
    }

    /// After an error some may still wait.
    fn end(&mut self) -> anyhow::Result<()> {
        for summary in std::mem::take(&mut self.held).into_values().flatten() {
            self.print(summary)?;
        }
        if let Some(total) = &self.total {
            self.out.line(total.line().as_bytes())?;
        }
        self.out.flush()
    }

    /// The summaries of one input, and its verdict.
    fn input(&mut self, index: usize) -> (Vec<Summary>, anyhow::Result<Exit>) {
        let input = &self.inputs.list[index].clone();
        let options = CollectOptions {
            apart: self.args.per_session,
            keeps_all: self.args.full,
            leaves_out_subagents: self.args.no_subagents,
        };
        let mut sessions = Sessions::new(options, std::mem::take(&mut self.owners));
        let read = self.read_all(index, &mut sessions);
        let (collectors, owners) = sessions.finish();
        self.owners = owners;
        match &read {
            Err(err) if matches!(cr_io::exit_of(err), Exit::NoInput | Exit::Gone) => {
                return (Vec::new(), read.map(|()| Exit::Ok));
            }
            _ => {}
        }
        let collectors = collectors.iter();
        let summaries: Vec<_> = collectors.map(|one| self.summary(input, one)).collect();
        let code = summaries.last().and_then(|summary| summary.code);
        let code = code.filter(|_| !self.args.per_session).unwrap_or_default();
        (summaries, read.map(|()| Exit::Code(code)))
    }

    /// Reads an input, and the logs of its subagents.
    fn read_all(&mut self, index: usize, sessions: &mut Sessions) -> anyhow::Result<()> {
        let input = &self.inputs.list[index].clone();
        let mut read = self.read(index, input, sessions);
        if read.is_ok() && sessions.is_log() && !self.args.no_subagents {
            sessions.begin_subagents();
            let subagents = self.inputs.subagents(input);
            read = subagents
                .iter()
                .try_for_each(|file| self.read(index, file, sessions));
        }
        if read.is_err() {
            sessions.cut();
        }
        read
    }

    fn read(&mut self, index: usize, input: &Input, sessions: &mut Sessions) -> anyhow::Result<()> {
        let mut opened = input.open()?;
        if self.args.tee || self.args.read_on {
            opened.outlive_reader();
        }
        let limit = self.args.max_line;
        let mut printed = Ok(());
        let read = if self.args.tee {
            let tee = Tee {
                input: &mut opened,
                out: &mut self.out,
                failed: &mut self.tee_failed,
            };
            // With --tee all lines are one session.
            read::read(tee, limit, sessions, &mut |_| ())
        } else {
            read::read(&mut opened, limit, sessions, &mut |oldest| {
                if printed.is_ok() {
                    printed = self.print_early(index, &oldest);
                }
            })
        };
        printed?;
        read.map_err(read_failure)?;
        if opened.was_cut_short() {
            sessions.cut();
        }
        if opened.is_truncated() {
            sessions.tear();
        }
        Ok(())
    }

    fn name(&self, input: &Input, summary: &mut Summary) {
        summary.file = self.inputs.are_many.then(|| input.label());
        if let Input::File(_) = input {
            summary.transcript.get_or_insert_with(|| input.label());
        }
    }

    fn print(&mut self, mut summary: Summary) -> anyhow::Result<()> {
        if let Some(dir) = &self.args.run_dir {
            summary.recorded = Some(true);
            // The verdict does not depend on the file.
            if let Err(err) = record(dir, &summary.line()) {
                cr_io::note("cr-summarize", &mut self.notes, &err);
                summary.recorded = Some(false);
            }
        }
        if self.args.tee {
            return Ok(());
        }
        let text = if self.is_pretty {
            summary.pretty()
        } else {
            summary.line()
        };
        self.out.line(text.as_bytes())
    }
}

/// Whether an error is about one file, and not about the output.
fn is_of_file(err: &anyhow::Error) -> bool {
    matches!(cr_io::exit_of(err), Exit::NoInput | Exit::Data)
}

/// Writes `line` to `summary.json` in `dir`: whole or not at all, readable by its
/// owner alone.
fn record(dir: &Path, line: &str) -> anyhow::Result<()> {
    RunDir::at(dir)?.write(file::SUMMARY, format!("{line}\n").as_bytes())
}

/// The summary of `input`; for tests that cut it into pieces.
#[cfg(test)]
fn summary_of(input: impl io::Read) -> String {
    let mut sessions = Sessions::new(CollectOptions::default(), Owners::default());
    read::read(input, cr_io::MAX_LINE, &mut sessions, &mut |_| ()).expect("read");
    let options = SummaryOptions {
        context_window: None,
        prices: None,
        redactor: Redactor::none(),
    };
    let (collectors, _) = sessions.finish();
    build::summary(&collectors[0], &options).truncated().line()
}
