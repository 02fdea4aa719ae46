//! `cr-git end`: the stream as it is, and one line more before its end.

use std::io::{self, ErrorKind, Read, Write};
use std::path::PathBuf;
use std::time::Duration;

use cr_io::{Exit, Line, Lines, Out};

use crate::compare::{Asked, Began, compare};
use crate::noted::Noted;
use crate::ours::{Finds, Ours};
use crate::record;

/// What `end` was told on its command line.
#[derive(Debug)]
pub(crate) struct Told {
    /// The start to use when the stream has none.
    pub(crate) began: Began,
    /// Where the repository is then.
    pub(crate) cwd: PathBuf,
    /// Which commits are the agent's; unset, all of them.
    pub(crate) noted: Option<Noted>,
    pub(crate) run_id: Option<String>,
    pub(crate) run_dir: Option<PathBuf>,
    pub(crate) limit: Duration,
}

/// Passes `input` on to `out` and adds the line of the end: before each
/// `cr/exit`, and at the end of a stream that has none.
pub(crate) fn pass(
    told: Told,
    input: impl Read,
    out: impl Write,
    notes: impl Write,
) -> anyhow::Result<Exit> {
    let mut stream = Stream {
        lines: Lines::new(input),
        out: Out::new(out),
        finds: Finds::new(),
        run: Current::new(told, notes),
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
    finds: Finds,
    run: Current<N>,
}

impl<R: Read, W: Write, N: Write> Stream<R, W, N> {
    /// Passes one line on; says whether there may be another.
    fn step(&mut self) -> anyhow::Result<bool> {
        let next = self.lines.next().map_err(left)?;
        let (line, torn) = match next {
            Some(Line::Whole(line)) => (line, false),
            Some(Line::Torn(line)) => (line, true),
            Some(Line::Long(head)) if !Finds::may_be(head) => return self.long(),
            Some(Line::Long(_)) => match self.lines.whole().map_err(left)? {
                Some(Line::Whole(line)) => (line, false),
                Some(Line::Torn(line) | Line::Long(line)) => (line, true),
                None => return self.long(),
            },
            None => {
                self.run.finish(&mut self.out)?;
                return Ok(false);
            }
        };
        if let Some(noted) = &mut self.run.told.noted {
            noted.look(line);
        }
        let ours = self.finds.read(line);
        self.run.sees(ours, &mut self.out)?;
        if torn {
            // The last of the stream, and it stays the last.
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
        let ended = lines.pass(piece).map_err(left)?;
        written?;
        // Torn or not, ours begins on a line of its own. The pieces are gone
        // already, so a torn one cannot stay the last.
        if ended || self.run.open {
            self.out.part(b"\n")?;
        }
        if !ended {
            self.run.finish(&mut self.out)?;
        }
        Ok(ended)
    }
}

/// A read error; that the reader of our output left is one.
fn left(err: io::Error) -> anyhow::Error {
    let exit = match err.kind() {
        ErrorKind::BrokenPipe => Exit::Gone,
        _ => Exit::Io,
    };
    anyhow::Error::from(err)
        .context("read standard input")
        .context(exit)
}

/// The run that the stream is of.
struct Current<N> {
    told: Told,
    began: Option<Began>,
    run_id: Option<String>,
    /// Whether its end is still to be written.
    open: bool,
    notes: N,
}

impl<N: Write> Current<N> {
    fn new(told: Told, notes: N) -> Self {
        Self {
            told,
            began: None,
            run_id: None,
            open: true,
            notes,
        }
    }

    /// Notes one of our own lines before it is passed on.
    fn sees(&mut self, ours: Option<Ours>, out: &mut Out<impl Write>) -> anyhow::Result<()> {
        match ours {
            // Another run in the same stream, or the first; a second start in
            // the middle of a run is not believed.
            Some(Ours::Start(start, run_id)) if self.began.is_none() || !self.open => {
                self.began = Some(Began::seen(*start));
                self.run_id = run_id;
                self.open = true;
            }
            // The supervisor owns the run's directory, so its name is the run's.
            Some(Ours::Run(Some(run_id))) => self.run_id = Some(run_id),
            Some(Ours::Exit) => self.finish(out)?,
            _ => {}
        }
        Ok(())
    }

    /// Writes the line of the end, once.
    fn finish(&mut self, out: &mut Out<impl Write>) -> anyhow::Result<()> {
        if !self.open {
            return Ok(());
        }
        self.open = false;
        // git may take its time; what came before it does not wait.
        out.flush()?;
        let began = self.began.as_ref().unwrap_or(&self.told.began);
        let cwd = match &began.seen {
            Some(start) => start.cwd(),
            None => self.told.cwd.clone(),
        };
        if let Some(noted) = &mut self.told.noted {
            noted.read();
        }
        let end = compare(&Asked {
            cwd: &cwd,
            began: self.began.as_ref().unwrap_or(&self.told.began),
            noted: self.told.noted.as_ref(),
            limit: self.told.limit,
        });
        let run_id = self.run_id.as_deref().or(self.told.run_id.as_deref());
        let line = record::line("end", run_id, &end);
        out.line(&line)?;
        if let Some(dir) = &self.told.run_dir {
            crate::leave(dir, &line, &mut self.notes);
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "end_tests.rs"]
mod tests;
