//! `cr-git end`: passes the stream on and adds one line before its end.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::time::Duration;

use cr_io::{Exit, Line, Lines, Out, read_failure};
use cr_stream::Finder;

use crate::agent_commits::AgentCommits;
use crate::compare::{Comparison, RunStart, compare};
use crate::own_lines::{self, Found};
use crate::start_record;
use crate::trace::Trace;

/// The options of `end`.
#[derive(Debug)]
pub(crate) struct EndOptions {
    /// The start to use if the stream has no start line.
    pub(crate) began: RunStart,
    /// The repository's directory in that case.
    pub(crate) cwd: PathBuf,
    pub(crate) agent_commits: AgentCommits,
    pub(crate) run_id: Option<String>,
    pub(crate) run_dir: Option<PathBuf>,
    pub(crate) limit: Duration,
}

/// Passes `input` on to `out` and adds the `cr/git` end line: before each
/// `cr/exit`, or at the end of a stream that has none.
pub(crate) fn pass(
    options: EndOptions,
    input: impl Read,
    out: impl Write,
    notes: impl Write,
) -> anyhow::Result<Exit> {
    let mut stream = Stream {
        lines: Lines::new(input),
        out: Out::new(out),
        finder: Finder::new(),
        run: Current::new(options, notes),
    };
    while stream.step()? {
        if stream.lines.is_drained() {
            stream.out.flush()?;
        }
    }
    stream.out.flush()?;
    Ok(Exit::Ok)
}

struct Stream<R, W, N> {
    lines: Lines<R>,
    out: Out<W>,
    finder: Finder,
    run: Current<N>,
}

impl<R: Read, W: Write, N: Write> Stream<R, W, N> {
    /// Passes one line on. Returns whether there may be another.
    fn step(&mut self) -> anyhow::Result<bool> {
        let next = self.lines.next().map_err(read_failure)?;
        let (line, torn) = match next {
            Some(Line::Whole(line)) => (line, false),
            Some(Line::Torn(line)) => (line, true),
            Some(Line::Long(head)) if !Finder::may_be_own(head) => return self.long(),
            Some(Line::Long(_)) => match self.lines.whole().map_err(read_failure)? {
                Some(Line::Whole(line)) => (line, false),
                Some(Line::Torn(line) | Line::Long(line)) => (line, true),
                None => return self.long(),
            },
            None => {
                self.run.finish(&mut self.out)?;
                return Ok(false);
            }
        };
        self.run.options.agent_commits.read_line(line);
        let found = own_lines::read(&self.finder, line);
        self.run.sees(found, &mut self.out)?;
        if torn {
            // A torn line must stay the last line of the stream.
            self.run.finish(&mut self.out)?;
            self.out.part(line)?;
        } else {
            self.out.line(line)?;
        }
        Ok(!torn)
    }

    /// Passes a line on in pieces.
    fn long(&mut self) -> anyhow::Result<bool> {
        let Self { lines, out, .. } = self;
        let mut written = Ok(());
        let piece = |part: &[u8]| {
            if written.is_ok() {
                written = out.part(part);
            }
        };
        let ended = lines.pass(piece).map_err(read_failure)?;
        written?;
        // Our line must begin on a line of its own. The pieces are written
        // already, so a torn line cannot stay the last one.
        if ended || self.run.open {
            self.out.part(b"\n")?;
        }
        if !ended {
            self.run.finish(&mut self.out)?;
        }
        Ok(ended)
    }
}

/// The state of the run that the stream belongs to.
struct Current<N> {
    options: EndOptions,
    began: Option<RunStart>,
    run_id: Option<String>,
    /// The directories of the run's attempts.
    run_dirs: Vec<PathBuf>,
    /// Whether its end line is still to be written.
    open: bool,
    notes: N,
}

impl<N: Write> Current<N> {
    fn new(options: EndOptions, notes: N) -> Self {
        Self {
            options,
            began: None,
            run_id: None,
            run_dirs: Vec::new(),
            open: true,
            notes,
        }
    }

    /// Records one of our own lines before it is passed on.
    fn sees(&mut self, found: Option<Found>, out: &mut Out<impl Write>) -> anyhow::Result<()> {
        match found {
            // The first run, or a further one in the same stream. A second start
            // line in the middle of a run is ignored.
            Some(Found::GitStart(start, run_id)) if self.began.is_none() || !self.open => {
                self.began = Some(RunStart::seen(*start));
                self.run_id = run_id;
                self.open = true;
            }
            // The supervisor owns the run's directory, so its id is the run's id.
            Some(Found::RunStart { run_id, run_dir }) => {
                self.run_id = run_id.or(self.run_id.take());
                self.run_dirs.extend(run_dir.map(PathBuf::from));
            }
            Some(Found::Exit) => self.finish(out)?,
            _ => {}
        }
        Ok(())
    }

    /// Writes the end line, once.
    fn finish(&mut self, out: &mut Out<impl Write>) -> anyhow::Result<()> {
        if !self.open {
            return Ok(());
        }
        self.open = false;
        // git may be slow; earlier lines must not wait for it.
        out.flush()?;
        let began = self.began.as_ref().unwrap_or(&self.options.began);
        let cwd = match &began.seen {
            Some(start) => start_record::directory(start),
            None => self.options.cwd.clone(),
        };
        self.read_traces();
        self.options.agent_commits.read_file();
        let run_id = self.run_id.as_deref().or(self.options.run_id.as_deref());
        let end = compare(&Comparison {
            cwd: &cwd,
            began: self.began.as_ref().unwrap_or(&self.options.began),
            agent_commits: &self.options.agent_commits,
            run_id,
            limit: self.options.limit,
        });
        let line = cr_stream::compose(run_id, &end);
        out.line(&line)?;
        if let Some(dir) = &self.options.run_dir {
            crate::write_to_run_dir(dir, cr_rundir::file::GIT, &line, &mut self.notes);
        }
        Ok(())
    }

    /// Reads what the agent's git wrote about itself. In our own run directory
    /// only the part about commits stays.
    fn read_traces(&mut self) {
        let name = cr_rundir::file::GIT_TRACE;
        let own = self.options.run_dir.take();
        self.run_dirs.retain(|dir| Some(dir) != own.as_ref());
        for dir in own.iter().chain(&self.run_dirs) {
            let trace = Trace::read(&dir.join(name));
            if own.as_ref() == Some(dir) && trace.has_other_lines {
                let lines = trace.lines.trim_ascii_end();
                crate::write_to_run_dir(dir, name, lines, &mut self.notes);
            }
            self.options.agent_commits.add_commands(trace.commands);
        }
        self.options.run_dir = own;
    }
}

#[cfg(test)]
#[path = "end_tests.rs"]
mod tests;
