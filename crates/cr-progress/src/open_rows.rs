//! The rows of calls whose result has not come, oldest first.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use jiff::Timestamp;

use crate::row::Row;

/// Open calls that are kept until their result comes.
const MOST: usize = 10_000;

/// The row of an open call.
#[derive(Debug)]
pub(crate) struct OpenRow {
    pub(crate) row: Row,
    /// The call's own time; its row may have the time of an earlier line.
    pub(crate) called_at: Option<Timestamp>,
    /// A `[branch sha]` in its output is from git.
    pub(crate) may_commit: bool,
}

/// The open calls by age and by id: no step looks at all of them.
#[derive(Debug, Default)]
pub(crate) struct OpenRows {
    by_age: BTreeMap<Age, Entry>,
    /// The oldest and the newest call of an id: a log may repeat a call.
    by_id: HashMap<Rc<[u8]>, (Age, Age)>,
    next: u64,
}

#[derive(Debug)]
struct Entry {
    id: Rc<[u8]>,
    /// The next call of the same id.
    next: Option<Age>,
    open: Box<OpenRow>,
}

impl OpenRows {
    /// Adds a call; returns the row of the oldest one if there are too many.
    pub(crate) fn open(&mut self, id: &[u8], open: OpenRow) -> Option<Row> {
        let oldest = if self.by_age.len() == MOST {
            self.by_age.pop_first()
        } else {
            None
        };
        let oldest = oldest.map(|(_, entry)| self.forget(entry).row);
        let id: Rc<[u8]> = id.into();
        let age = Age(self.next);
        self.next += 1;
        let (_, newest) = self.by_id.entry(Rc::clone(&id)).or_insert((age, age));
        let before = std::mem::replace(newest, age);
        if let Some(before) = self.by_age.get_mut(&before) {
            before.next = Some(age);
        }
        let (next, open) = (None, Box::new(open));
        self.by_age.insert(age, Entry { id, next, open });
        oldest
    }

    /// Takes the call that a result answers.
    pub(crate) fn close(&mut self, id: &[u8]) -> Option<OpenRow> {
        let (oldest, _) = self.by_id.get(id)?;
        let entry = self.by_age.remove(oldest)?;
        Some(self.forget(entry))
    }

    /// Takes all calls, oldest first.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Row> + use<> {
        self.by_id.clear();
        let open = std::mem::take(&mut self.by_age);
        open.into_values().map(|entry| entry.open.row)
    }

    /// Removes the oldest call of an id, `entry`, from the index.
    fn forget(&mut self, entry: Entry) -> OpenRow {
        match entry.next {
            None => drop(self.by_id.remove(&entry.id)),
            Some(next) => {
                if let Some((oldest, _)) = self.by_id.get_mut(&entry.id) {
                    *oldest = next;
                }
            }
        }
        *entry.open
    }
}

/// The number of a call. Tests count the comparisons.
#[derive(Clone, Copy, Debug)]
struct Age(u64);

impl Ord for Age {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        #[cfg(test)]
        tests::COMPARISONS.set(tests::COMPARISONS.get() + 1);
        self.0.cmp(&other.0)
    }
}

impl PartialOrd for Age {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Age {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Age {}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        pub(super) static COMPARISONS: Cell<usize> = const { Cell::new(0) };
    }

    fn call(line: u64) -> OpenRow {
        let row = Row {
            line,
            ..Row::default()
        };
        OpenRow {
            row,
            called_at: None,
            may_commit: false,
        }
    }

    #[test]
    fn the_work_grows_with_the_calls_and_not_with_those_that_are_open() {
        let calls = 4 * MOST as u64;
        let mut open = OpenRows::default();
        let mut rows = Vec::new();
        for line in 0..calls {
            rows.extend(open.open(&line.to_ne_bytes(), call(line)));
        }
        // The newest first: a search from the oldest one would see them all.
        for line in (calls - MOST as u64..calls).rev() {
            rows.extend(open.close(&line.to_ne_bytes()).map(|open| open.row));
        }
        assert_eq!((rows.len() as u64, open.drain().count()), (calls, 0));
        // Four searches for a call, in a tree of at most five levels of 11 keys.
        let most = usize::try_from(calls).expect("it fits") * 4 * 55;
        assert!(COMPARISONS.get() < most, "{}", COMPARISONS.get());
    }

    #[test]
    fn calls_with_one_id_are_answered_in_their_order() {
        let mut open = OpenRows::default();
        for line in 1..=3 {
            assert!(open.open(b"same", call(line)).is_none());
        }
        let lines = |row: Option<OpenRow>| row.map(|open| open.row.line);
        assert_eq!(lines(open.close(b"same")), Some(1));
        assert_eq!(lines(open.close(b"same")), Some(2));
        assert_eq!(open.drain().map(|row| row.line).collect::<Vec<_>>(), [3]);
        assert_eq!(lines(open.close(b"same")), None);
    }
}
