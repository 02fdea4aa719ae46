//! Standard error of a child: passed on, and its end kept for messages.

use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The most that is kept, in bytes.
const KEPT: usize = 2048;

/// The end of what a child wrote.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tail {
    inner: Arc<Mutex<Kept>>,
}

#[derive(Debug, Default)]
struct Kept {
    bytes: Vec<u8>,
    is_over: bool,
}

impl Tail {
    /// Passes `from` on to our standard error, on a thread.
    pub(crate) fn of(mut from: impl Read + Send + 'static) -> io::Result<Self> {
        let tail = Self::default();
        let shared = tail.clone();
        thread::Builder::new().spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = from.read(&mut buffer) {
                let _ = io::stderr().write_all(&buffer[..count]);
                shared.add(&buffer[..count]);
            }
            shared.lock().is_over = true;
        })?;
        Ok(tail)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, bytes: &[u8]) {
        let kept = &mut self.lock().bytes;
        kept.extend_from_slice(bytes);
        let surplus = kept.len().saturating_sub(KEPT);
        kept.drain(..surplus);
    }

    /// The last line that is not empty. What a child wrote before its end may
    /// still be on its way, so its end is waited for, a moment.
    pub(crate) fn last_line(&self) -> Option<String> {
        let until = Instant::now() + Duration::from_millis(200);
        while !self.lock().is_over && Instant::now() < until {
            thread::sleep(Duration::from_millis(5));
        }
        let text = String::from_utf8_lossy(&self.lock().bytes).into_owned();
        let last = text.lines().rfind(|line| !line.trim().is_empty())?;
        Some(cr_io::sanitized(last.trim()))
    }
}
