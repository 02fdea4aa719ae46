//! `/events` as plain text: the progress lines of a run, as cr-filter shows them.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use cr_progress::{Level, TextOptions, TimeSource, write_progress};
use tokio::runtime::Handle;
use tokio::sync::mpsc::Sender;
use tokio::time::sleep;

use crate::source::Source;
use crate::state::{App, Counts};
use crate::watcher::Changes;

/// Some ends depend on the clock alone.
const LOOK_AGAIN: Duration = Duration::from_secs(10);

/// Sends the progress lines of `source` until it is over. It waits on its own thread.
pub(crate) fn follow(app: App, source: Source, to: Sender<Bytes>) {
    let runtime = Handle::current();
    std::thread::spawn(move || {
        let growing = Growing {
            changes: source.changes(&app.watcher),
            source,
            file: None,
            at: 0,
            runtime,
            to: to.clone(),
        };
        let options = TextOptions {
            least: Level::Normal,
            time: TimeSource::Event,
            colour: false,
        };
        // A reader that leaves ends it, and nobody is there to be told.
        let _ = write_progress(growing, Pieces { app, to }, &options);
    });
}

/// A transcript to the end of its run.
struct Growing {
    source: Source,
    file: Option<Arc<File>>,
    at: u64,
    changes: Changes,
    runtime: Handle,
    to: Sender<Bytes>,
}

impl Read for Growing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            self.changes.mark_seen();
            let is_over = self.source.is_over();
            if self.file.is_none() {
                self.file = self.source.open()?;
            }
            if let Some(file) = &self.file {
                let length = file.read_at(buffer, self.at)?;
                self.at += length as u64;
                if length > 0 {
                    return Ok(length);
                }
            }
            if is_over {
                return Ok(0);
            }
            let (changes, to) = (&mut self.changes, &self.to);
            self.runtime.block_on(async {
                tokio::select! {
                    () = changes.wait() => {}
                    () = sleep(LOOK_AGAIN) => {}
                    () = to.closed() => {}
                }
            });
            if self.to.is_closed() {
                return Err(ErrorKind::BrokenPipe.into());
            }
        }
    }
}

/// Lines on their way to the reader.
struct Pieces {
    app: App,
    to: Sender<Bytes>,
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Counts::add(&self.app.counts.bytes, bytes.len() as u64);
        let piece = Bytes::copy_from_slice(bytes);
        let sent = self.to.blocking_send(piece);
        sent.map_err(|_| io::Error::from(ErrorKind::BrokenPipe))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
