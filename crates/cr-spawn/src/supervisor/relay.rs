//! Lines on their way through.

use std::time::Instant;

use crate::activity::Activity;
use crate::output::Output;
use crate::stdout::Sink;

/// Where lines go while they are read: the output, with the activity beside.
pub(super) struct Relay<'a> {
    pub(super) out: &'a mut Output,
    pub(super) activity: Option<&'a mut Activity>,
    pub(super) now: Instant,
}

impl Sink for Relay<'_> {
    fn pass(&mut self, line: &[u8]) {
        if let Some(activity) = &mut self.activity {
            activity.line(line, self.now);
        }
        self.out.line(line);
    }

    fn replace(&mut self, line: &[u8]) {
        if let Some(activity) = &mut self.activity {
            activity.sign_of_life(self.now);
        }
        self.out.line(line);
    }

    fn is_full(&self) -> bool {
        self.out.is_full()
    }
}
