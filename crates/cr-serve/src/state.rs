//! What every request needs.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use cr_io::Redactor;

use crate::guard::Guard;
use crate::guesses::Guesses;
use crate::run_list::RunList;
use crate::source::{Recording, Source};
use crate::summary::Summaries;
use crate::watcher::Watcher;

/// The server.
#[derive(Clone, Debug)]
pub(crate) struct App(Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) guard: Guard,
    /// Where the runs are.
    pub(crate) runs: PathBuf,
    /// The recordings that were named; with them no run is shown.
    pub(crate) recordings: Vec<Arc<Recording>>,
    pub(crate) may_control: bool,
    pub(crate) most_readers: usize,
    pub(crate) readers: Arc<AtomicUsize>,
    pub(crate) watcher: Watcher,
    pub(crate) list: RunList,
    pub(crate) summaries: Summaries,
    pub(crate) redactor: Redactor,
    pub(crate) counts: Counts,
    pub(crate) guesses: Guesses,
}

/// What the server has done, for /metrics.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) events: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) refused: AtomicU64,
}

impl Counts {
    pub(crate) fn add(counter: &AtomicU64, number: u64) {
        counter.fetch_add(number, Ordering::Relaxed);
    }
}

impl std::ops::Deref for App {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

impl App {
    pub(crate) fn new(inner: Inner) -> Self {
        Self(Arc::new(inner))
    }

    /// What is called `id`.
    pub(crate) fn source(&self, id: &str) -> Option<Source> {
        if self.recordings.is_empty() {
            return Source::run(&self.runs, id);
        }
        let mut recordings = self.recordings.iter();
        let found = recordings.find(|recording| recording.id == id)?;
        Some(Source::Recording(Arc::clone(found)))
    }
}
