//! Waits with a limit.

use std::io::BufRead;
use std::os::fd::AsFd;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The limit of one wait. It is generous: it ends what hangs, and measures
/// nothing.
pub fn limit() -> Duration {
    let seconds = std::env::var("CR_TEST_LIMIT").ok();
    let seconds = seconds.and_then(|text| text.parse().ok());
    Duration::from_secs(seconds.unwrap_or(60))
}

/// How often a condition is looked at that no descriptor announces.
const POLL_INTERVAL: Duration = Duration::from_millis(3);

/// Waits until `holds`; panics after the [`limit`].
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let limit = limit();
    let end = Instant::now() + limit;
    while !holds() {
        assert!(Instant::now() < end, "not after {limit:?}: {what}");
        thread::sleep(POLL_INTERVAL);
    }
}

/// Waits until there is a file at `path`.
pub fn appears(path: &Path) {
    until(&format!("there is {}", path.display()), || path.exists());
}

/// Reads on to a line that contains `text`; returns all that it has read. Panics
/// at the end of file. The limit is that of the reader.
pub fn line_with(reader: &mut impl BufRead, text: &str) -> String {
    let mut seen = String::new();
    loop {
        let start = seen.len();
        let count = reader.read_line(&mut seen).expect("a line");
        assert!(count > 0, "no line with `{text}` in:\n{seen}");
        if seen[start..].contains(text) {
            return seen;
        }
    }
}

/// Waits until `fd` can be read, or its other end is closed; `false` at `end`.
pub(crate) fn readable(fd: &impl AsFd, end: Instant) -> bool {
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).expect("a short time");
        let mut fds = [PollFd::new(fd, PollFlags::IN)];
        match poll(&mut fds, Some(&left)) {
            Ok(ready) => return ready > 0,
            Err(rustix::io::Errno::INTR) => {}
            Err(err) => panic!("poll: {err}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_that_stays_silent_is_waited_for_no_longer_than_told() {
        let (read, write) = std::io::pipe().expect("a pipe");
        let soon = Instant::now() + Duration::from_millis(20);
        assert!(!readable(&read, soon));
        drop(write);
        assert!(readable(&read, soon + limit()));
    }
}
