//! Notices changes in directories, for everyone who follows a file in one.

use std::collections::HashMap;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use tokio::sync::watch;

/// How often a directory is looked at on a system without notices.
const POLL_INTERVAL: Duration = Duration::from_millis(300);

/// One inotify descriptor for the whole server.
#[derive(Clone, Debug)]
pub(crate) struct Watcher {
    notices: Option<Arc<Notices>>,
    any: watch::Sender<u64>,
}

#[derive(Debug)]
struct Notices {
    fd: OwnedFd,
    /// By the number of the watch: who wants to know.
    dirs: Mutex<HashMap<i32, watch::Sender<u64>>>,
}

/// Changes of one directory, or of all.
#[derive(Clone, Debug)]
pub(crate) struct Changes(Option<watch::Receiver<u64>>);

impl Changes {
    /// Forgets what has happened so far. Call it before looking.
    pub(crate) fn mark_seen(&mut self) {
        if let Some(changes) = &mut self.0 {
            changes.borrow_and_update();
        }
    }

    /// Changes that somebody else tells of.
    pub(crate) fn told_by(teller: &watch::Sender<u64>) -> Self {
        Self(Some(teller.subscribe()))
    }

    /// Waits for a change since [`Changes::mark_seen`].
    pub(crate) async fn wait(&mut self) {
        if let Some(changes) = &mut self.0
            && changes.changed().await.is_ok()
        {
            return;
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

impl Watcher {
    /// Starts to listen for notices.
    pub(crate) fn new() -> Self {
        let any = watch::Sender::new(0);
        let notices = inotify::init(CreateFlags::CLOEXEC).ok().map(|fd| {
            let dirs = Mutex::default();
            Arc::new(Notices { fd, dirs })
        });
        if let Some(notices) = notices.clone() {
            let any = any.clone();
            std::thread::spawn(move || while notices.hand_out(&any).is_ok() {});
        }
        Self { notices, any }
    }

    /// The changes in `dir`.
    pub(crate) fn changes(&self, dir: &Path) -> Changes {
        Changes(self.notices.as_ref().and_then(|it| it.add(dir)))
    }

    /// The changes in every directory that is watched.
    pub(crate) fn all(&self) -> Changes {
        let is_noticed = self.notices.is_some();
        Changes(is_noticed.then(|| self.any.subscribe()))
    }
}

impl Notices {
    fn add(&self, dir: &Path) -> Option<watch::Receiver<u64>> {
        // That the last holder of a lock has closed it is a change, too.
        let what = WatchFlags::CREATE
            | WatchFlags::MOVED_TO
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::MODIFY
            | WatchFlags::DELETE;
        let mut dirs = self.dirs.lock().unwrap_or_else(PoisonError::into_inner);
        dirs.retain(|number, dir| {
            let is_wanted = dir.receiver_count() > 0;
            if !is_wanted {
                let _ = inotify::remove_watch(&self.fd, *number);
            }
            is_wanted
        });
        let number = inotify::add_watch(&self.fd, dir, what).ok()?;
        let dir = dirs.entry(number).or_insert_with(|| watch::Sender::new(0));
        Some(dir.subscribe())
    }

    /// Waits for a notice, and tells who wants to know.
    fn hand_out(&self, any: &watch::Sender<u64>) -> rustix::io::Result<()> {
        let mut buffer = [MaybeUninit::<u8>::uninit(); 8 << 10];
        let mut reader = inotify::Reader::new(&self.fd, &mut buffer);
        loop {
            let event = match reader.next() {
                Err(rustix::io::Errno::INTR) => continue,
                event => event?,
            };
            let more = |number: &mut u64| *number = number.wrapping_add(1);
            let dirs = self.dirs.lock().unwrap_or_else(PoisonError::into_inner);
            if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
                // Notices were lost: everybody looks again.
                dirs.values().for_each(|dir| dir.send_modify(more));
            } else if let Some(dir) = dirs.get(&event.wd()) {
                dir.send_modify(more);
            }
            any.send_modify(more);
        }
    }
}
