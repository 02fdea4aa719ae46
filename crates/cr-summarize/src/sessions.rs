//! Gives lines to collectors: one for all sessions, or one for each.

use std::mem;

use cr_event::{Event, Kind, strip};
use cr_stream::Subtype;

use crate::collector::Collector;
use crate::counts::Fate;

/// Sessions with a summary of their own in one input; further ones are counted with the last.
const SESSIONS: usize = 10_000;

/// The collectors of an input.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    /// Whether each session has a collector of its own.
    apart: bool,
    /// Whether texts are kept whole.
    keeps_all: bool,
    current: Collector,
    /// The others, in the order they were left.
    others: Vec<Collector>,
    /// The last skipped line that has a time.
    timed: Vec<u8>,
    /// A skipped line that is not known to be whole yet.
    kept: Vec<u8>,
}

/// Lines of this size and more are held only if they must be. It is at most the
/// size up to which lines are lent at once: the result must not depend on how
/// the input is cut into reads.
pub(crate) const LARGE: usize = 64 << 10;

/// Whether a line is a piece of a block, by its first bytes. Nothing in them is
/// used, and there are more of them than of all others.
fn is_piece(head: &[u8]) -> bool {
    head.starts_with(br#"{"type":"stream_event","event":{"type":"content_block_"#)
}

fn is_user(head: &[u8]) -> bool {
    Kind::of_head(head) == Some(Kind::User)
}

impl Sessions {
    /// Starts with nothing.
    pub(crate) fn new(apart: bool, keeps_all: bool) -> Self {
        let mut sessions = Self {
            apart,
            keeps_all,
            ..Self::default()
        };
        sessions.current = sessions.fresh();
        sessions
    }

    /// Takes one line in.
    pub(crate) fn line(&mut self, line: &[u8]) {
        let line = strip(line);
        if line.is_empty() {
            return self.current.count(Fate::Blank);
        }
        let Ok(event) = Event::parse(line) else {
            return self.current.broken(line);
        };
        if event.at.is_some() {
            self.timed.clear();
        }
        if self.apart {
            self.choose(&event);
        }
        self.current.take(&event);
    }

    /// Whether a line that begins with `head` need not be parsed. A tool's result
    /// is needed only for its time, unless a question waits for it, and a large
    /// one is not held for that. Of a large line `head` may be the beginning.
    pub(crate) fn can_skip(&self, head: &[u8]) -> bool {
        let is_large = head.len() >= LARGE;
        let is_needed = || self.apart || self.current.needs_users(is_large);
        is_piece(head) || (is_user(head) && !is_needed())
    }

    /// Keeps a skipped line for its time, which counts only if no later line has
    /// one.
    pub(crate) fn keep_time(&mut self, line: &[u8]) {
        if line.len() < LARGE && is_user(line) {
            self.kept.extend_from_slice(line);
        }
    }

    /// Counts a line that was skipped.
    pub(crate) fn skip(&mut self, is_whole: bool) {
        if is_whole && !self.kept.is_empty() {
            mem::swap(&mut self.kept, &mut self.timed);
        }
        self.kept.clear();
        if is_whole {
            // Before the first known line only pieces of a message are skipped.
            self.current.is_known = true;
            self.current.count(Fate::Ignored);
        } else {
            self.current.broken(b"{");
        }
    }

    /// Counts a line that is too long.
    pub(crate) fn oversize(&mut self) {
        self.current.count(Fate::Oversize);
    }

    /// From here on the lines are those of a subagent of the session.
    pub(crate) fn begin_subagents(&mut self) {
        self.take_kept_time();
        self.current.is_subagent = true;
    }

    /// Reading ended before the input did.
    pub(crate) fn cut(&mut self) {
        self.current.is_cut = true;
    }

    /// Whether the lines so far are a session's log.
    pub(crate) fn is_log(&self) -> bool {
        self.current.session.is_log
    }

    /// The sessions, in order.
    pub(crate) fn finish(mut self) -> Vec<Collector> {
        self.take_kept_time();
        self.others.push(self.current);
        self.others
    }

    fn take_kept_time(&mut self) {
        if let Ok(event) = Event::parse(&mem::take(&mut self.timed)) {
            self.current.session.line(&event);
        }
    }

    /// Makes the session of `event` the current one. A line without an id belongs
    /// to the session before it, except `cr/start`, which begins a run.
    fn choose(&mut self, event: &Event<'_>) {
        if event.kind == Kind::Cr {
            if Subtype::of(event) == Some(Subtype::Start)
                && self.current.session.session_id.is_some()
            {
                self.leave();
            }
            return;
        }
        let Some(id) = event.session_id.map(cr_event::Text::decode) else {
            return;
        };
        match &self.current.session.session_id {
            Some(current) if *current == id => return,
            None => return,
            Some(_) => {}
        }
        let is_it = |other: &Collector| other.session.session_id.as_deref() == Some(&*id);
        match self.others.iter().rposition(is_it) {
            Some(at) => mem::swap(&mut self.current, &mut self.others[at]),
            None => self.leave(),
        }
    }

    fn leave(&mut self) {
        if self.others.len() + 1 < SESSIONS {
            let fresh = self.fresh();
            self.others.push(mem::replace(&mut self.current, fresh));
        }
    }

    fn fresh(&self) -> Collector {
        Collector::new(self.keeps_all)
    }
}
