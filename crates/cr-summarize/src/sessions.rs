//! Lines to sessions: one for all, or one each.

use std::mem;

use cr_event::{Event, Kind, strip};

use crate::counts::Fate;
use crate::gather::Gather;

/// Sessions told apart in one input; further ones are counted with the last.
const SESSIONS: usize = 10_000;

/// Where lines go.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    /// Whether sessions are told apart.
    apart: bool,
    /// Whether texts are kept whole.
    keeps_all: bool,
    current: Gather,
    /// The others, in the order they were left.
    others: Vec<Gather>,
    /// The last line that was passed over and tells a time.
    timed: Vec<u8>,
    /// The same, before it is known to be whole.
    kept: Vec<u8>,
}

/// Lines of this size and more are held only if they must be. At most the size
/// at which lines are no longer lent at once, or it would matter how the input
/// is cut into reads.
pub(crate) const LARGE: usize = 64 << 10;

/// Whether a line is a piece of a block, by its first bytes alone. Of these
/// nothing is used, and there are more of them than of anything else.
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
            return self.current.count(Fate::BadJson);
        };
        if event.at.is_some() {
            self.timed.clear();
        }
        if self.apart {
            self.choose(&event);
        }
        self.current.take(&event);
    }

    /// Whether a line that begins with `head` need not be looked into. A tool's
    /// result tells only the time, unless somebody waits for it, and a large one
    /// is not held for that. Of a large line `head` may be the beginning.
    pub(crate) fn can_pass(&self, head: &[u8]) -> bool {
        let is_large = head.len() >= LARGE;
        let is_needed = || self.apart || self.current.needs_users(is_large);
        is_piece(head) || (is_user(head) && !is_needed())
    }

    /// Keeps a line that is passed over for the time it tells, which counts
    /// only if nothing later tells one.
    pub(crate) fn keep_time(&mut self, line: &[u8]) {
        if line.len() < LARGE && is_user(line) {
            self.kept.extend_from_slice(line);
        }
    }

    /// Counts a line that was not looked into.
    pub(crate) fn pass(&mut self, is_whole: bool) {
        if is_whole && !self.kept.is_empty() {
            mem::swap(&mut self.kept, &mut self.timed);
        }
        self.kept.clear();
        self.current.count(if is_whole {
            Fate::Ignored
        } else {
            Fate::BadJson
        });
    }

    /// Counts a line that is too long.
    pub(crate) fn oversize(&mut self) {
        self.current.count(Fate::Oversize);
    }

    /// From here on the lines are those of a subagent of the session.
    pub(crate) fn join(&mut self) {
        self.tell_time();
        self.current.is_joining = true;
    }

    /// Reading ended before the input did.
    pub(crate) fn cut(&mut self) {
        self.current.is_cut = true;
    }

    /// Whether the lines so far are a session's log.
    pub(crate) fn is_log(&self) -> bool {
        self.current.about.is_log
    }

    /// The sessions, in order.
    pub(crate) fn finish(mut self) -> Vec<Gather> {
        self.tell_time();
        self.others.push(self.current);
        self.others
    }

    fn tell_time(&mut self) {
        if let Ok(event) = Event::parse(&mem::take(&mut self.timed)) {
            self.current.about.line(&event);
        }
    }

    /// Makes the session that `event` belongs to the current one. A line
    /// without an id belongs to the one before it, but for our first line of a
    /// run, which comes before the agent's.
    fn choose(&mut self, event: &Event<'_>) {
        if event.kind == Kind::Cr {
            if event.is("start") && self.current.about.session_id.is_some() {
                self.leave();
            }
            return;
        }
        let Some(id) = event.session_id.map(cr_event::Text::decode) else {
            return;
        };
        match &self.current.about.session_id {
            Some(current) if *current == id => return,
            None => return,
            Some(_) => {}
        }
        let is_it = |other: &Gather| other.about.session_id.as_deref() == Some(&*id);
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

    fn fresh(&self) -> Gather {
        Gather::new(self.keeps_all)
    }
}
