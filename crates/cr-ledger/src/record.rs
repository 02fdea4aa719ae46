//! `cr-ledger record`: a filter; summaries in, the same out.

use std::io::{self, BufRead, BufReader, Read, Write};

use clap::Args;
use cr_io::{Exit, Out, message};
use cr_ledger_db::{Access, Ledger, Recorded, RunLabels};
use cr_summary::Summary;

use crate::location::Location;

/// Bytes of one summary; more is passed on and not recorded.
const LARGEST: usize = 64 << 20;

/// Up to this many bytes a summary is parsed at each of its lines; beyond it only
/// where its last brace may be.
const OFTEN: usize = 64 << 10;

/// Bytes of a line that is passed on in pieces.
const PIECE: u64 = 1 << 20;

/// Summaries that are recorded together if they are there already.
const BATCH: usize = 100;

/// Record summaries, and pass them on
///
/// A summary is passed on when it is on disk. One that was recorded before changes
/// nothing. What is no summary is passed on as it is and named on standard error. A
/// ledger that cannot be written does not stop the filter; the exit code says so.
#[derive(Args, Debug)]
pub(crate) struct RecordArgs {
    /// The task of a plan that the runs worked on
    #[arg(long, value_name = "ID", default_value = "")]
    task: String,
    /// The kind of that task, as cr-turns knows it
    #[arg(long, value_name = "TYPE", default_value = "")]
    task_type: String,
    /// The id of the milestone that the runs belong to
    #[arg(long, value_name = "ID", default_value = "")]
    milestone: String,
}

pub(crate) fn run(
    args: &RecordArgs,
    location: &Location,
    out: impl Write,
    notes: impl Write,
) -> anyhow::Result<Exit> {
    let (ledger, failure) = match location.open(Access::Write) {
        Ok(ledger) => (Some(ledger), None),
        Err(err) => (None, Some(err)),
    };
    let mut record = Record {
        ledger,
        failure,
        labels: RunLabels {
            milestone: args.milestone.clone(),
            task: args.task.clone(),
            task_type: args.task_type.clone(),
        },
        out: Out::new(out),
        notes,
        held: Vec::new(),
        waiting: Vec::new(),
        line: 0,
        has_bad_input: false,
    };
    record.read(BufReader::with_capacity(256 << 10, io::stdin().lock()))?;
    record.end()
}

struct Record<W, N> {
    ledger: Option<Ledger>,
    /// Why the ledger cannot be written.
    failure: Option<anyhow::Error>,
    labels: RunLabels,
    out: Out<W>,
    notes: N,
    /// The lines of a summary that is not complete yet.
    held: Vec<u8>,
    /// Complete summaries and the lines between them, in their order.
    waiting: Vec<(Vec<u8>, Option<Box<Summary>>)>,
    line: u64,
    has_bad_input: bool,
}

impl<W: Write, N: Write> Record<W, N> {
    fn read(&mut self, mut input: impl BufRead + Buffered) -> anyhow::Result<()> {
        let mut line = Vec::new();
        loop {
            if !input.has_line() || self.waiting.len() >= BATCH {
                self.store()?;
            }
            line.clear();
            let count = (&mut input)
                .take(LARGEST as u64)
                .read_until(b'\n', &mut line);
            if count.map_err(cr_io::read_failure)? == 0 {
                break;
            }
            self.line += 1;
            if line.len() < LARGEST || line.ends_with(b"\n") {
                self.take(&line);
            } else {
                self.pass_on_long(&line, &mut input)?;
                line = Vec::new();
            }
        }
        if !self.held.is_empty() {
            self.bad("the input ends within a summary");
            let held = std::mem::take(&mut self.held);
            self.waiting.push((held, None));
        }
        self.store()
    }

    /// Passes on a line that is too long for a summary, whose beginning is `line`, in
    /// pieces.
    fn pass_on_long(&mut self, line: &[u8], input: &mut impl BufRead) -> anyhow::Result<()> {
        self.pass_on("too long for a summary");
        self.store()?;
        self.out.part(line)?;
        let mut piece = Vec::new();
        loop {
            piece.clear();
            let count = (&mut *input).take(PIECE).read_until(b'\n', &mut piece);
            if count.map_err(cr_io::read_failure)? == 0 {
                break;
            }
            self.out.part(&piece)?;
            if piece.ends_with(b"\n") {
                break;
            }
        }
        self.out.flush()
    }

    /// Takes a line: a summary, a part of one, or something else.
    fn take(&mut self, line: &[u8]) {
        let is_start = line.trim_ascii_start().first() == Some(&b'{');
        if self.held.is_empty() && !is_start {
            self.waiting.push((line.to_vec(), None));
            return;
        }
        self.held.extend_from_slice(line);
        if self.held.len() > OFTEN && self.held.len() > line.len() && !line.starts_with(b"}") {
            // Parsing all of a long one at each of its lines would take too long.
            if self.held.len() > LARGEST {
                self.pass_on("too long for a summary");
            }
            return;
        }
        let parsed = serde_json::from_slice::<&serde_json::value::RawValue>(&self.held);
        match parsed {
            Ok(_) => self.complete(),
            Err(err) if err.is_eof() && self.held.len() < LARGEST => {}
            Err(err) => self.pass_on(&format!("not JSON: {err}")),
        }
    }

    fn complete(&mut self) {
        match Summary::parse(&self.held) {
            Ok(summary) if summary.schema > 0 => {
                let text = std::mem::take(&mut self.held);
                self.waiting.push((text, Some(Box::new(summary))));
            }
            Ok(_) => self.pass_on("not a summary"),
            Err(err) => self.pass_on(&message(&err)),
        }
    }

    /// Passes on what is not recorded, and says why.
    fn pass_on(&mut self, why: &str) {
        self.bad(why);
        let text = std::mem::take(&mut self.held);
        self.waiting.push((text, None));
    }

    fn bad(&mut self, why: &str) {
        self.has_bad_input = true;
        // A standard error that is closed does not stop the filter.
        let _ = writeln!(self.notes, "cr-ledger: line {}: {why}", self.line);
    }

    /// Records what waits, and then passes it on.
    fn store(&mut self) -> anyhow::Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        let summaries = || waiting.iter().filter_map(|(_, summary)| summary.as_deref());
        if let (Some(ledger), true) = (&mut self.ledger, summaries().next().is_some()) {
            let labels = &self.labels;
            let stored = ledger.write(|writer| {
                let mut nameless = 0;
                for summary in summaries() {
                    nameless += u64::from(writer.run(summary, labels)? == Recorded::Nameless);
                }
                Ok(nameless)
            });
            match stored {
                Ok(0) => {}
                Ok(_) => self.bad("a summary names neither a run nor a session; not recorded"),
                Err(err) => {
                    self.ledger = None;
                    self.failure = Some(err);
                }
            }
        }
        for (text, _) in &waiting {
            self.out.part(text)?;
        }
        self.out.flush()
    }

    fn end(self) -> anyhow::Result<Exit> {
        match self.failure {
            Some(err) => Err(err),
            None if self.has_bad_input => Ok(Exit::Data),
            None => Ok(Exit::Ok),
        }
    }
}

/// An input that knows whether a whole line is there.
trait Buffered {
    fn has_line(&self) -> bool;
}

impl<R: Read> Buffered for BufReader<R> {
    fn has_line(&self) -> bool {
        self.buffer().contains(&b'\n')
    }
}
