//! One wait for everything there is to wait for.

use std::time::Duration;

use rustix::event::{PollFd, PollFlags};

use super::{Phase, Supervisor};
use crate::output::Fate;
use crate::poll_set::polled;
use crate::read_budget::BudgetedRead;

/// Who has something for us.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one that waits")]
pub(super) struct Ready {
    pub(super) signals: bool,
    pub(super) guard: bool,
    pub(super) stdout: bool,
    pub(super) stderr: bool,
    pub(super) feed: bool,
    pub(super) reader_left: bool,
    pub(super) starter_left: bool,
}

impl Supervisor<'_> {
    /// Waits for at most `limit`. While `blocked`, nothing is read.
    pub(super) fn poll(&self, limit: Duration, blocked: bool) -> Ready {
        let (stdout, input) = (std::io::stdout(), PollFlags::IN);
        let is_started = self.phase != Phase::Starting;
        let is_read = is_started && !blocked;
        let starter = self
            .starter
            .as_ref()
            .filter(|_| self.phase == Phase::Running);
        let feed = self.feed.as_ref().filter(|_| is_started);
        // A reader that is known to have left would only end every wait at once.
        let is_open = self.out.fate() == Fate::Open;
        let mut fds = vec![
            PollFd::new(&self.signals, input),
            PollFd::new(&self.out, input),
        ];
        let guard = add(
            &mut fds,
            (!self.is_alone).then(|| PollFd::new(&self.guard, input)),
        );
        // Asking for nothing still reports an error condition.
        let reader = add(
            &mut fds,
            is_open.then(|| PollFd::new(&stdout, PollFlags::empty())),
        );
        let starter = add(&mut fds, starter.map(|starter| PollFd::new(starter, input)));
        let (out, err) = (&self.stdout, &self.stderr);
        let stdout = add(
            &mut fds,
            (is_read && !out.is_over()).then(|| PollFd::new(out, input)),
        );
        let stderr = add(
            &mut fds,
            (is_read && !err.is_over()).then(|| PollFd::new(err, input)),
        );
        let feed = add(&mut fds, feed.map(|feed| PollFd::new(feed, PollFlags::OUT)));
        polled(&mut fds, limit);
        let is = |at: usize| fds.get(at).is_some_and(|fd| !fd.revents().is_empty());
        Ready {
            signals: is(0),
            guard: is(guard),
            stdout: is(stdout) || (is_read && out.is_waiting()),
            stderr: is(stderr) || (is_read && err.is_waiting()),
            feed: is(feed),
            reader_left: is(reader),
            starter_left: is(starter),
        }
    }
}

/// Adds `fd` and returns its place; that of one that is not there is beyond
/// the end, where nobody is.
fn add<'a>(fds: &mut Vec<PollFd<'a>>, fd: Option<PollFd<'a>>) -> usize {
    fd.map_or(usize::MAX, |fd| {
        fds.push(fd);
        fds.len() - 1
    })
}
