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
}

/// Whether a line is a piece of a block, by its first bytes alone. Of these
/// nothing is used, and there are more of them than of anything else.
pub(crate) fn is_piece(head: &[u8]) -> bool {
    head.starts_with(br#"{"type":"stream_event","event":{"type":"content_block_"#)
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
        if self.apart {
            self.choose(&event);
        }
        self.current.take(&event);
    }

    /// Whether a large line that begins with `head` is better not held. A
    /// tool's result tells only the time, unless somebody waits for it.
    pub(crate) fn can_pass(&self, head: &[u8]) -> bool {
        let is_user = Kind::of_head(head) == Some(Kind::User);
        is_piece(head) || (is_user && !self.apart && !self.current.calls.is_waiting())
    }

    /// Counts a line that was not looked into.
    pub(crate) fn pass(&mut self, is_whole: bool) {
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
        self.others.push(self.current);
        self.others
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
