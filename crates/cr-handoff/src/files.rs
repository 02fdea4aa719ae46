//! Files that the session changed or read.

use cr_io::counted;

use crate::call::Access;

/// Changed files that are kept.
const CHANGED: usize = 200;
/// Files that were only read and are kept.
const READ: usize = 50;

/// A file that the session worked on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct File {
    /// Its path, as the agent wrote it.
    pub path: String,
    /// How often it was edited.
    pub edits: u64,
    /// How often it was written anew.
    pub writes: u64,
    /// How often it was read.
    pub reads: u64,
    /// The number of the last call, by which the files are sorted.
    last: u64,
}

impl File {
    /// Whether it was changed, and not only read.
    pub fn is_changed(&self) -> bool {
        self.edits + self.writes > 0
    }

    /// The counts and the path.
    pub(crate) fn line(&self) -> String {
        let counts = [
            (self.edits, "edit"),
            (self.writes, "write"),
            (self.reads, "read"),
        ];
        let counts = counts.iter().filter(|(number, _)| *number > 0);
        let counts: Vec<_> = counts
            .map(|(number, what)| counted(*number, what))
            .collect();
        format!("{}: {}", counts.join(", "), self.path)
    }
}

/// The files so far.
#[derive(Debug, Default)]
pub(crate) struct Files {
    files: Vec<File>,
    /// How many changed ones were dropped, and how many that were only read.
    pub(crate) dropped: (u64, u64),
}

impl Files {
    /// The call with this number used a file.
    pub(crate) fn touch(&mut self, path: &str, access: Access, call: u64) {
        let at = self.files.iter().position(|file| file.path == path);
        let at = at.unwrap_or_else(|| {
            self.files.push(File {
                path: path.to_owned(),
                ..File::default()
            });
            self.files.len() - 1
        });
        let file = &mut self.files[at];
        match access {
            Access::Read => file.reads += 1,
            Access::Edit => file.edits += 1,
            Access::Write => file.writes += 1,
        }
        file.last = file.last.max(call);
        let is_changed = file.is_changed();
        self.drop_oldest(is_changed);
    }

    fn drop_oldest(&mut self, is_changed: bool) {
        let files = self.files.iter().enumerate();
        let same = files.filter(|(_, file)| file.is_changed() == is_changed);
        let (most, dropped) = if is_changed {
            (CHANGED, &mut self.dropped.0)
        } else {
            (READ, &mut self.dropped.1)
        };
        if same.clone().count() <= most {
            return;
        }
        if let Some((oldest, _)) = same.min_by_key(|(_, file)| file.last) {
            self.files.remove(oldest);
            *dropped += 1;
        }
    }

    /// All of them, the last touched last.
    pub(crate) fn sorted(mut self) -> Vec<File> {
        // Calls at the same time may end in any order.
        self.files.sort_by_key(|file| file.last);
        self.files
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_there_once_with_its_counts_and_the_last_touched_is_last() {
        let mut files = Files::default();
        let calls = [
            ("a", Access::Read, 1),
            ("b", Access::Write, 3),
            ("a", Access::Edit, 2),
            ("a", Access::Edit, 4),
            ("c", Access::Read, 5),
        ];
        for (path, access, call) in calls {
            files.touch(path, access, call);
        }
        let lines: Vec<_> = files.sorted().iter().map(File::line).collect();
        assert_eq!(lines, ["1 write: b", "2 edits, 1 read: a", "1 read: c"]);
    }

    #[test]
    fn files_that_are_read_do_not_displace_changed_ones() {
        let mut files = Files::default();
        files.touch("changed", Access::Edit, 0);
        for call in 1..1000 {
            files.touch(&format!("read {call}"), Access::Read, call);
        }
        assert_eq!(files.dropped, (0, 999 - READ as u64));
        assert_eq!(files.sorted()[0].path, "changed");
    }
}
