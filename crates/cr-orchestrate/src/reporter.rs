//! Reports the run of a plan: sentences and the live view on standard error, lines of
//! JSON or a table on standard output, reports in the directory of the run.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::Context;

use crate::args::Args;
use crate::layout::Run;
use crate::live::{self, Live};
use crate::observer::{Finished, Observer};
use crate::schedule::TaskRecord;
use crate::task_state::TaskState;
use crate::{report, report_json, report_xml, table};

/// Reports a run of a plan.
#[derive(Debug)]
pub(crate) struct Reporter {
    /// The name to say before a sentence.
    program: &'static str,
    /// What a task is called.
    noun: &'static str,
    with_sentences: bool,
    /// What standard output gets.
    output: Output,
    /// Why standard output lacks lines, if no reader has left.
    broken: Option<io::Error>,
    live: Option<Live>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Output {
    /// A line for each change.
    Lines,
    /// The report at the end.
    Report,
    /// A table at the end.
    Table,
    Nothing,
}

impl Reporter {
    pub(crate) fn new(args: &Args) -> Self {
        let output = match (args.json, args.report, args.quiet) {
            (true, ..) => Output::Lines,
            (_, true, _) => Output::Report,
            (_, _, true) => Output::Nothing,
            _ => Output::Table,
        };
        Self {
            program: args.program,
            noun: args.noun(),
            with_sentences: !args.quiet,
            output,
            broken: None,
            live: None,
        }
    }

    fn line(&mut self, bytes: &[u8]) {
        if self.output != Output::Lines {
            return;
        }
        // No reason to stop the work.
        if let Err(err) = io::stdout().write_all(bytes) {
            self.output = Output::Nothing;
            self.broken = Some(err).filter(|err| err.kind() != io::ErrorKind::BrokenPipe);
        }
    }

    fn say(&self, text: &str) {
        if self.with_sentences {
            let text = format!("{}: {}", self.program, cr_io::sanitized(text));
            match &self.live {
                Some(live) => live.say(&text),
                None => {
                    let _ = io::stderr().write_all(format!("{text}\n").as_bytes());
                }
            }
        }
    }
}

/// Prints at the end; a reader that left is no failure.
fn print(text: &[u8]) -> anyhow::Result<()> {
    let mut out = cr_io::Out::new(io::stdout());
    out.part(text)?;
    out.flush()?;
    Ok(())
}

/// Whether a person looks at standard error.
fn is_watched() -> bool {
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    io::stderr().is_terminal() && !is_dumb
}

impl Observer for Reporter {
    fn run_began(&mut self, _run: &Run, tasks: &[TaskRecord]) {
        if !self.with_sentences || !is_watched() {
            return;
        }
        let is_done = |record: &&TaskRecord| matches!(record.assessment.state, TaskState::Done);
        let done = tasks.iter().filter(is_done).count();
        let costs = tasks
            .iter()
            .filter_map(|record| report::cost(&record.attempts.ended));
        let spent = costs.reduce(|a, b| a + b);
        self.live = Some(Live::new(tasks.len() as u64, done as u64, spent));
    }

    fn task_changed(&mut self, line: &cr_stream::Task<'_>, bytes: &[u8]) {
        let outcome = line.outcome.as_ref().map(|word| format!(" ({word})"));
        self.say(&format!(
            "{}: attempt {}: {}{}: {}",
            line.id,
            line.attempt,
            line.state,
            outcome.unwrap_or_default(),
            line.reason
        ));
        if let Some(live) = &mut self.live {
            match (&line.outcome, &line.run_dir) {
                (None, Some(dir)) => live.begin(&line.id, line.attempt, Path::new(&**dir)),
                _ => live.end(&line.id, line.state == "completed", line.cost_usd),
            }
        }
        self.line(bytes);
    }

    fn wave_changed(&mut self, _line: &cr_stream::Wave<'_>, bytes: &[u8]) {
        self.line(bytes);
    }

    fn run_changed(&mut self, line: &cr_stream::Run<'_>, bytes: &[u8]) {
        self.say(&format!("{}: {}", line.state, line.reason));
        self.line(bytes);
        if let Some(next) = &line.next {
            self.say(&format!("to go on: {next}"));
        }
        if let Some(merge) = &line.merge {
            self.say(&format!("to take over the merged work: {merge}"));
        }
    }

    fn before_wait(&mut self, _is_stopping: bool) -> io::Result<Option<Duration>> {
        Ok(self.live.as_mut().map(|live| {
            live.update();
            live::INTERVAL
        }))
    }

    fn asks(&mut self, question: &str) -> bool {
        let is_there = io::stdin().is_terminal() && io::stderr().is_terminal();
        if is_there && self.with_sentences {
            if let Some(live) = &self.live {
                live.clear();
            }
            let question = cr_io::sanitized(question);
            let _ = io::stderr().write_all(format!("{}: {question} ", self.program).as_bytes());
        }
        is_there && self.with_sentences
    }

    fn run_finished(&mut self, finished: &Finished<'_>) -> anyhow::Result<()> {
        report::write(finished)?;
        let report = report_json::report(finished);
        report_json::write(&report, finished)?;
        report_xml::write(&report, finished)?;
        if let Some(live) = self.live.take() {
            live.clear();
        }
        let path = finished.layout.dir.path().join(cr_rundir::file::REPORT);
        self.say(&format!("report: {}", path.display()));
        if let Some(err) = self.broken.take() {
            return Err(anyhow::Error::from(err).context("standard output"));
        }
        match self.output {
            Output::Report => {
                let text = std::fs::read(&path).with_context(|| path.display().to_string())?;
                print(&text)
            }
            Output::Table => print(table::table(&report, self.noun).as_bytes()),
            _ => Ok(()),
        }
    }
}
