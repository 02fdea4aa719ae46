//! The sessions of an input other than the current one, with `--per-session`.
//!
//! Any of them may come back. So that memory is bounded, those that were left
//! longest ago are taken out when there are many.

use std::collections::{HashMap, HashSet};
use std::mem;

use cr_usage::key;

use crate::collector::Collector;

/// Sessions that are kept.
pub(crate) const MOST: usize = 10_000;

/// The sessions, in the order in which they were first left.
#[derive(Debug, Default)]
pub(crate) struct LeftSessions {
    list: Vec<Slot>,
    /// Where each one is in the list; a search for each line would take the
    /// square of their number.
    places: HashMap<String, usize>,
    /// The ids of those that were taken out: eight bytes for each.
    taken_out: HashSet<u64>,
    /// How often a session was left.
    time: u64,
}

/// A session, and when it was left.
#[derive(Debug)]
struct Slot {
    collector: Collector,
    left_at: u64,
}

impl Slot {
    /// The session. Tests count how often one is looked at.
    fn id(&self) -> Option<&str> {
        #[cfg(test)]
        tests::LOOKS.set(tests::LOOKS.get() + 1);
        self.collector.session.session_id.as_deref()
    }

    fn left_at(&self) -> u64 {
        #[cfg(test)]
        tests::LOOKS.set(tests::LOOKS.get() + 1);
        self.left_at
    }
}

impl LeftSessions {
    /// Puts `current` in the place of the session `id`, and that into `current`;
    /// returns whether it was there.
    pub(crate) fn swap(&mut self, id: &str, current: &mut Collector) -> bool {
        let Some(place) = self.places.remove(id) else {
            return false;
        };
        let Some(slot) = self.list.get_mut(place) else {
            return false;
        };
        self.time += 1;
        slot.left_at = self.time;
        mem::swap(&mut slot.collector, current);
        self.note(place);
        true
    }

    /// Adds a session.
    pub(crate) fn push(&mut self, collector: Collector) {
        self.time += 1;
        let left_at = self.time;
        self.list.push(Slot { collector, left_at });
        self.note(self.list.len() - 1);
    }

    /// Whether some have to be taken out.
    pub(crate) fn is_full(&self) -> bool {
        self.list.len() >= MOST
    }

    /// Takes out those that were left longest ago, in their order: half of them,
    /// so that the work for each session is the same however many there are.
    pub(crate) fn take_oldest(&mut self) -> Vec<Collector> {
        let mut times: Vec<u64> = self.list.iter().map(Slot::left_at).collect();
        times.sort_unstable();
        let middle = times.get(times.len() / 2).copied().unwrap_or_default();
        let slots = mem::take(&mut self.list).into_iter();
        let (kept, oldest): (Vec<_>, Vec<_>) = slots.partition(|slot| slot.left_at() >= middle);
        self.list = kept;
        self.places.clear();
        for place in 0..self.list.len() {
            self.note(place);
        }
        let ids = oldest.iter().filter_map(Slot::id);
        self.taken_out.extend(ids.map(|id| key(&[id.as_bytes()])));
        oldest.into_iter().map(|slot| slot.collector).collect()
    }

    /// Whether a part of the session was taken out.
    pub(crate) fn is_taken_out(&self, id: &str) -> bool {
        !self.taken_out.is_empty() && self.taken_out.contains(&key(&[id.as_bytes()]))
    }

    /// All of them.
    pub(crate) fn into_all(self) -> Vec<Collector> {
        let slots = self.list.into_iter();
        slots.map(|slot| slot.collector).collect()
    }

    fn note(&mut self, place: usize) {
        if let Some(id) = self.list.get(place).and_then(Slot::id) {
            self.places.insert(id.to_owned(), place);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        pub(super) static LOOKS: Cell<usize> = const { Cell::new(0) };
    }

    fn session(id: usize) -> Collector {
        let mut collector = Collector::default();
        collector.session.session_id = Some(id.to_string());
        collector
    }

    fn ids(collectors: &[Collector]) -> Vec<usize> {
        let ids = collectors.iter().map(|collector| {
            let id = collector.session.session_id.as_deref();
            id.and_then(|id| id.parse().ok()).expect("a number")
        });
        ids.collect()
    }

    #[test]
    fn the_work_grows_with_the_lines_and_not_with_the_sessions_that_are_kept() {
        let sessions = 10 * MOST;
        let mut left = LeftSessions::default();
        let mut all = Vec::new();
        let mut current = session(0);
        for id in 1..sessions {
            left.push(mem::replace(&mut current, session(id)));
            // One that was left long ago comes back, and goes again.
            let back = id.saturating_sub(MOST / 4);
            if left.swap(&back.to_string(), &mut current) {
                assert!(left.swap(&id.to_string(), &mut current));
            }
            if left.is_full() {
                all.extend(ids(&left.take_oldest()));
            }
        }
        all.extend(ids(&left.into_all()));
        all.extend(ids(&[current]));
        assert_eq!(all, (0..sessions).collect::<Vec<_>>());
        // Two swaps and a push for each, and a share of taking out the oldest.
        // To look at all that are kept would be 5,000 for each.
        let looks = LOOKS.get();
        assert!(looks < 15 * sessions, "{looks}");
    }

    #[test]
    fn those_that_were_left_longest_ago_are_taken_out() {
        let mut left = LeftSessions::default();
        for id in 0..4 {
            left.push(session(id));
        }
        let mut current = session(4);
        assert!(left.swap("0", &mut current));
        assert!(left.swap("4", &mut current));
        assert_eq!(ids(&left.take_oldest()), [1, 2]);
        assert!(left.is_taken_out("1") && !left.is_taken_out("0"));
        assert!(!left.swap("1", &mut current));
        assert!(left.swap("3", &mut current));
        assert_eq!(ids(&[current]), [3]);
        assert_eq!(ids(&left.into_all()), [0, 4]);
    }
}
