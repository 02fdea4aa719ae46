//! How many wrong tokens are answered. The right one is never held up.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Wrong tokens in one second.
const MOST: u32 = 20;

/// The wrong tokens of the current second.
#[derive(Debug, Default)]
pub(crate) struct Guesses(Mutex<Option<(Instant, u32)>>);

impl Guesses {
    /// Counts one; says whether it is answered like the first.
    pub(crate) fn may_go_on(&self) -> bool {
        let mut second = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let (began, number) = match *second {
            Some((began, number)) if now - began < Duration::from_secs(1) => (began, number),
            _ => (now, 0),
        };
        *second = Some((began, number.saturating_add(1)));
        number < MOST
    }
}
