//! Many logs, read by threads, for one writer.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SendError, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::Context;
use cr_io::Input;

use crate::batch::Batch;
use crate::fact::{Fact, Sink};
use crate::find::LogFile;
use crate::scan::{Head, Resume, Scanned, scan};

/// How long nothing comes before the writer is told.
const WAIT: Duration = Duration::from_millis(100);

/// A log and the place in it to begin at.
#[derive(Clone, Debug)]
pub struct FileToScan {
    /// The log.
    pub log: LogFile,
    /// Where to begin.
    pub resume: Resume,
}

impl From<LogFile> for FileToScan {
    fn from(log: LogFile) -> Self {
        let agent_id = log.agent_id.clone();
        Self {
            log,
            resume: Resume {
                agent_id,
                ..Resume::default()
            },
        }
    }
}

/// What the writer is given.
#[derive(Debug)]
pub enum Report<'a> {
    /// Facts of a log.
    Facts(&'a Batch),
    /// The log was read to its end; all its facts came before.
    Scanned(Scanned),
    /// No thread has anything just now, and the index means nothing: time to let
    /// others write.
    Waiting,
    /// The log cannot be read, or not to its end: facts may have come before.
    Failed(anyhow::Error),
}

enum Parcel {
    Facts(usize, Batch),
    Scanned(usize, Scanned),
    Failed(usize, anyhow::Error),
}

/// Scans `files` in `threads` threads and calls `take` in this one with the index
/// of a file and a report. The reports of one file come in its order, those of
/// several files mixed. The first error of `take` ends the scan.
pub fn scan_files<E>(
    files: &[FileToScan],
    threads: usize,
    mut take: impl FnMut(usize, Report<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let threads = threads.clamp(1, files.len().max(1));
    let (sender, receiver) = sync_channel(2 * threads);
    let queue = Queue {
        files,
        next: AtomicUsize::new(0),
        free: Mutex::default(),
    };
    thread::scope(|scope| {
        for _ in 0..threads {
            let sender = sender.clone();
            scope.spawn(|| queue.work(sender));
        }
        drop(sender);
        // Threads end when the receiver is gone, before they are waited for.
        let receiver = receiver;
        loop {
            match receiver.recv_timeout(WAIT) {
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => take(0, Report::Waiting)?,
                Ok(Parcel::Facts(index, batch)) => {
                    take(index, Report::Facts(&batch))?;
                    queue.give_back(batch);
                }
                Ok(Parcel::Scanned(index, scanned)) => take(index, Report::Scanned(scanned))?,
                Ok(Parcel::Failed(index, err)) => take(index, Report::Failed(err))?,
            }
        }
    })
}

struct Queue<'a> {
    files: &'a [FileToScan],
    next: AtomicUsize,
    /// Batches that were taken, to be filled again.
    free: Mutex<Vec<Batch>>,
}

impl Queue<'_> {
    fn work(&self, sender: SyncSender<Parcel>) {
        let mut filler = Filler {
            queue: self,
            sender,
            index: 0,
            batch: Batch::default(),
            is_gone: false,
        };
        while !filler.is_gone {
            filler.index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = self.files.get(filler.index) else {
                return;
            };
            let parcel = match read(file, &mut filler) {
                Ok(scanned) => Parcel::Scanned(filler.index, scanned),
                Err(err) => Parcel::Failed(filler.index, err),
            };
            filler.send_batch();
            filler.send(parcel);
        }
    }

    fn free_batch(&self) -> Batch {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.pop().unwrap_or_default()
    }

    fn give_back(&self, mut batch: Batch) {
        batch.clear();
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.push(batch);
    }
}

/// Fills batches and sends the full ones.
struct Filler<'a> {
    queue: &'a Queue<'a>,
    sender: SyncSender<Parcel>,
    index: usize,
    batch: Batch,
    /// Nobody takes facts any more.
    is_gone: bool,
}

impl Filler<'_> {
    fn send(&mut self, parcel: Parcel) {
        let sent: Result<(), SendError<Parcel>> = self.sender.send(parcel);
        self.is_gone |= sent.is_err();
    }

    fn send_batch(&mut self) {
        if self.batch.is_empty() {
            return;
        }
        let mut next = self.queue.free_batch();
        next.take_head(self.batch.head());
        let batch = std::mem::replace(&mut self.batch, next);
        self.send(Parcel::Facts(self.index, batch));
    }
}

impl Sink for Filler<'_> {
    fn fact(&mut self, fact: Fact<'_>) {
        if self.is_gone {
            return;
        }
        if self.batch.is_full() {
            self.send_batch();
        }
        self.batch.fact(fact);
    }

    fn take_head(&mut self, head: &Head) {
        self.batch.take_head(head);
    }
}

/// Scans one file from where it was left.
fn read(file: &FileToScan, sink: &mut impl Sink) -> anyhow::Result<Scanned> {
    let mut input = Input::File(file.log.path.clone()).open()?;
    let offset = file.resume.offset;
    let failed = |err: io::Error| {
        let path = file.log.path.display();
        cr_io::read_failure(err).context(path.to_string())
    };
    if offset > 0 && !seek(input.file(), offset).map_err(failed)? {
        let mut before = (&mut input).take(offset);
        io::copy(&mut before, &mut io::sink()).map_err(failed)?;
    }
    let scanned = scan(&mut input, &file.resume, sink).map_err(failed)?;
    input
        .check_whole()
        .with_context(|| file.log.path.display().to_string())?;
    Ok(scanned)
}

/// Goes to `offset`; `false` where that is not possible.
fn seek(file: Option<&File>, offset: u64) -> io::Result<bool> {
    let Some(mut file) = file else {
        return Ok(false);
    };
    file.seek(SeekFrom::Start(offset))?;
    Ok(true)
}
