//! Gives lines to collectors: one for all sessions, or one for each.

use std::mem;

use cr_event::{Event, Kind, strip};
use cr_stream::Subtype;

use crate::collector::{CollectOptions, Collector};
use crate::counts::Fate;
use crate::left_sessions::LeftSessions;
use crate::owners::Owners;

/// The collectors of an input.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    options: CollectOptions,
    /// Which messages the files before this one count.
    owners: Owners,
    current: Collector,
    others: LeftSessions,
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

/// Whether a line is of the type `user`, as [`Kind::of_head`] says: this is asked
/// for every line.
fn is_user(head: &[u8]) -> bool {
    head.starts_with(br#"{"type":"user""#)
}

impl Sessions {
    /// Starts with nothing but what other files count.
    pub(crate) fn new(options: CollectOptions, owners: Owners) -> Self {
        let mut sessions = Self {
            options,
            owners,
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
        } else if event.kind == Kind::RateLimit || event.is("compact_boundary") {
            self.take_kept_time();
        }
        if self.options.apart {
            self.choose(&event);
        }
        self.current.take(&event, &mut self.owners);
    }

    /// Whether a line that begins with `head` need not be parsed. A tool's result
    /// is needed only for its time, unless a question waits for it, and a large
    /// one is not held for that. Of a large line `head` may be the beginning.
    pub(crate) fn can_skip(&self, head: &[u8]) -> bool {
        let is_large = head.len() >= LARGE;
        let is_needed = || self.options.apart || self.current.needs_users(is_large);
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
            self.current.origin.skipped();
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

    /// Whether a line is Claude Code's, or our own.
    pub(crate) fn is_known(&self) -> bool {
        self.current.origin.is_known()
    }

    /// The end of the input is missing.
    pub(crate) fn tear(&mut self) {
        self.current.is_torn = true;
    }

    /// Whether the lines so far are a session's log.
    pub(crate) fn is_log(&self) -> bool {
        self.current.session.is_log
    }

    /// Whether so many sessions are open that some have to be taken out.
    pub(crate) fn are_many(&self) -> bool {
        self.others.is_full()
    }

    /// Takes out the sessions that were left longest ago.
    pub(crate) fn take_oldest(&mut self) -> Vec<Collector> {
        let mut oldest = self.others.take_oldest();
        continue_totals(&mut oldest, &self.owners);
        oldest
    }

    /// The sessions, in order, and what they count.
    pub(crate) fn finish(mut self) -> (Vec<Collector>, Owners) {
        self.take_kept_time();
        let mut all = self.others.into_all();
        all.push(self.current);
        continue_totals(&mut all, &self.owners);
        (all, self.owners)
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
        match self.current.session.session_id.as_deref() {
            None => return,
            Some(current) if *current == *id => return,
            Some(_) => {}
        }
        if !self.others.swap(&id, &mut self.current) {
            self.leave();
            self.current.is_rest = self.others.is_taken_out(&id);
        }
    }

    fn leave(&mut self) {
        let fresh = self.fresh();
        self.others.push(mem::replace(&mut self.current, fresh));
    }

    fn fresh(&mut self) -> Collector {
        Collector::new(self.options, self.owners.begin())
    }
}

/// The total of a log goes on from that of the session that it copies.
fn continue_totals(collectors: &mut [Collector], owners: &Owners) {
    let copies = collectors.iter_mut().filter(|one| one.share.copied > 0);
    for collector in copies {
        let before = owners.total_before(&collector.share);
        collector.usage.continues(before.as_ref());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::left_sessions::MOST;

    fn apart() -> CollectOptions {
        CollectOptions {
            apart: true,
            ..CollectOptions::default()
        }
    }

    fn line(session: u64) -> String {
        format!(r#"{{"type":"result","subtype":"success","result":"x","session_id":"{session}"}}"#)
    }

    #[test]
    fn a_session_that_comes_back_is_found_among_many() {
        let mut sessions = Sessions::new(apart(), Owners::default());
        let numbers = 0..MOST as u64;
        for session in numbers.clone().chain(numbers.clone().rev()).chain(numbers) {
            sessions.line(line(session).as_bytes());
        }
        let (all, _) = sessions.finish();
        assert_eq!(all.len(), MOST);
        assert!(all.iter().all(|session| session.turns.results == 3));
    }
}
