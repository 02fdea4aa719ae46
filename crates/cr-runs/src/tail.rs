//! `cr-runs tail`: the progress lines of a recording that may still grow.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal, Read, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::rc::Rc;

use anyhow::Context;
use cr_io::Exit;
use cr_progress::{Level, TextOptions, TimeSource, wants_colour, write_progress};
use rustix::event::PollFlags;

use crate::args::TailArgs;
use crate::find;
use crate::watch::Watch;
use cr_rundir::{Run, file};

/// Shows what came after the cursor, and the next cursor.
///
/// The whole recording is read: what a line means may depend on one before it.
pub(crate) fn tail(args: &TailArgs, out: impl Write) -> anyhow::Result<Exit> {
    let run = find::one(&args.which)?;
    let shown = || run.file(file::STREAM).display().to_string();
    let file = File::open(run.file(file::STREAM))
        .with_context(shown)
        .context(Exit::NoInput)?;
    let end = last_line_end(&file).with_context(shown)?;
    let is_shown = Rc::new(Cell::new(args.since == 0));
    let at = Rc::new(Cell::new(0));
    let growing = Growing {
        file,
        at: Rc::clone(&at),
        since: args.since.min(end),
        end: (!args.follow).then_some(end),
        is_shown: Rc::clone(&is_shown),
        watch: Watch::new(std::iter::once(Path::new(&run.dir))),
        run,
    };
    let mut gate = Gate { out, is_shown };
    let options = TextOptions {
        least: if args.quiet {
            Level::Key
        } else {
            Level::Normal
        },
        time: TimeSource::Event,
        colour: wants_colour(io::stdout().is_terminal()),
    };
    write_progress(growing, &mut gate, &options)?;
    let last = format!("Cursor: {}\n", at.get());
    gate.out
        .write_all(last.as_bytes())
        .and_then(|()| gate.out.flush())
        .or_else(|err| match err.kind() {
            ErrorKind::BrokenPipe => Ok(()),
            _ => Err(err),
        })
        .context("write standard output")
        .context(Exit::Io)?;
    Ok(Exit::Ok)
}

/// Where the last whole line ends; the rest of it may be on its way.
fn last_line_end(mut file: &File) -> io::Result<u64> {
    const STEP: u64 = 64 << 10;
    let mut end = file.seek(SeekFrom::End(0))?;
    let mut buffer = Vec::new();
    while end > 0 {
        let start = end.saturating_sub(STEP);
        file.seek(SeekFrom::Start(start))?;
        buffer.clear();
        file.take(end - start).read_to_end(&mut buffer)?;
        if let Some(at) = buffer.iter().rposition(|&byte| byte == b'\n') {
            end = start + at as u64 + 1;
            break;
        }
        end = start;
    }
    file.rewind()?;
    Ok(end)
}

/// A recording, to its last whole line or to the end of its run.
struct Growing {
    file: File,
    at: Rc<Cell<u64>>,
    since: u64,
    end: Option<u64>,
    is_shown: Rc<Cell<bool>>,
    run: Run,
    watch: Watch,
}

impl Growing {
    /// Waits for more; says whether there can be any.
    fn wait(&self, was_over: &mut bool) -> io::Result<bool> {
        if *was_over {
            return Ok(false);
        }
        if self.run.state().is_over() {
            // Once more: the last lines may have come after the last read.
            *was_over = true;
            return Ok(true);
        }
        let stdout = io::stdout();
        let came = self
            .watch
            .wait_or(None, Some((stdout.as_fd(), PollFlags::empty())));
        if came.contains(PollFlags::ERR) {
            return Err(ErrorKind::BrokenPipe.into());
        }
        Ok(true)
    }
}

impl Read for Growing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let at = self.at.get();
        // A filter writes what it has before it reads on, so nothing that came
        // before the cursor is left when this is reached.
        if at >= self.since {
            self.is_shown.set(true);
        }
        let until = if at < self.since {
            Some(self.since)
        } else {
            self.end
        };
        let most = until.map_or(u64::MAX, |until| until.saturating_sub(at));
        let most = usize::try_from(most)
            .unwrap_or(usize::MAX)
            .min(buffer.len());
        let mut was_over = false;
        loop {
            let read = self.file.read(&mut buffer[..most])?;
            self.at.set(at + read as u64);
            let is_end = most == 0 || self.end.is_some();
            if read > 0 || is_end || !self.wait(&mut was_over)? {
                return Ok(read);
            }
        }
    }
}

/// Lets through what is written once it is open.
struct Gate<W> {
    out: W,
    is_shown: Rc<Cell<bool>>,
}

impl<W: Write> Write for Gate<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_shown.get() {
            self.out.write(bytes)
        } else {
            Ok(bytes.len())
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
