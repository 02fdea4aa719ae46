//! Reports the run of a plan: lines on standard output, sentences on standard
//! error, a report at the end.

use std::io::{self, IsTerminal, Write};

use anyhow::Context;

use crate::observer::{Finished, Observer};
use crate::report;

/// Reports a run of a plan.
#[derive(Debug)]
pub(crate) struct Reporter {
    /// The name to say before a sentence.
    pub(crate) program: &'static str,
    pub(crate) with_sentences: bool,
    pub(crate) with_lines: bool,
    /// Standard output gets the report at the end.
    pub(crate) with_report: bool,
}

impl Reporter {
    fn line(&mut self, bytes: &[u8]) {
        // A reader that left is no reason to stop the work.
        if self.with_lines && io::stdout().write_all(bytes).is_err() {
            self.with_lines = false;
        }
    }

    fn say(&self, text: &str) {
        if self.with_sentences {
            let text = cr_io::sanitized(text);
            let _ = io::stderr().write_all(format!("{}: {text}\n", self.program).as_bytes());
        }
    }
}

impl Observer for Reporter {
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

    fn asks(&mut self, question: &str) -> bool {
        let is_there = io::stdin().is_terminal() && io::stderr().is_terminal();
        if is_there && self.with_sentences {
            let question = cr_io::sanitized(question);
            let _ = io::stderr().write_all(format!("{}: {question} ", self.program).as_bytes());
        }
        is_there && self.with_sentences
    }

    fn run_finished(&mut self, finished: &Finished<'_>) -> anyhow::Result<()> {
        report::write(finished)?;
        let path = finished.layout.dir.path().join(cr_rundir::file::REPORT);
        self.say(&format!("report: {}", path.display()));
        if self.with_report {
            let text = std::fs::read(&path).with_context(|| path.display().to_string())?;
            let mut out = cr_io::Out::new(io::stdout());
            out.part(&text)?;
            out.flush()?;
        }
        Ok(())
    }
}
