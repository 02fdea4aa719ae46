//! The work tree: what differs from HEAD, read from `git status`.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::git::GitError;
use crate::repo::Repo;

/// How deep submodules of submodules are looked into.
const DEEPEST: usize = 8;

/// HEAD and everything in the work tree that is not as it says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// The commit of HEAD, `None` before the first.
    pub head: Option<String>,
    /// The branch, `None` when HEAD is detached.
    pub branch: Option<Vec<u8>>,
    /// What differs.
    pub entries: Vec<Entry>,
}

/// One entry of the status: a file, a directory of new files, a submodule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// From the top of the work tree; a directory ends in `/`.
    pub path: Vec<u8>,
    /// The letters of index and work tree, `??` when new.
    pub letters: String,
    /// Everything else the record says: modes and ids.
    pub detail: Vec<u8>,
    /// Where it was, when it was renamed.
    pub from: Option<Vec<u8>>,
}

/// How new files are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Untracked {
    /// A directory with nothing but new files is one entry.
    Directories,
    /// Each file is an entry.
    Files,
}

impl Entry {
    /// Whether git does not know the path yet.
    pub fn is_new(&self) -> bool {
        self.letters == "??"
    }
}

impl Status {
    /// Asks git, and each submodule by itself: git would do so with programs
    /// named in the submodule's own configuration.
    pub fn read(repo: &Repo, untracked: Untracked) -> Result<Self, GitError> {
        Self::read_at(repo, untracked, 0)
    }

    fn read_at(repo: &Repo, untracked: Untracked, depth: usize) -> Result<Self, GitError> {
        let text = repo.git.ask(&[
            "status",
            "--porcelain=v2",
            "-z",
            "--branch",
            "--no-ahead-behind",
            match untracked {
                Untracked::Directories => "--untracked-files=normal",
                Untracked::Files => "--untracked-files=all",
            },
            "--ignore-submodules=dirty",
            "--find-renames",
        ])?;
        let mut status = Self::parse(&text);
        if depth < DEEPEST && repo.top.join(".gitmodules").symlink_metadata().is_ok() {
            submodules(repo, depth, &mut status.entries)?;
        }
        Ok(status)
    }

    fn parse(text: &[u8]) -> Self {
        let mut status = Self::default();
        let mut records = text.split(|&b| b == 0);
        while let Some(record) = records.next() {
            let Some((&kind, rest)) = record.split_first() else {
                continue;
            };
            let rest = rest.get(1..).unwrap_or_default();
            match kind {
                b'#' => status.header(rest),
                b'1' => status.entry(rest, 7),
                b'2' => {
                    status.entry(rest, 8);
                    let from = records.next().map(<[u8]>::to_vec);
                    if let Some(entry) = status.entries.last_mut() {
                        entry.from = from;
                    }
                }
                b'u' => status.entry(rest, 9),
                b'?' => status.entries.push(Entry {
                    path: rest.to_vec(),
                    letters: "??".to_owned(),
                    detail: Vec::new(),
                    from: None,
                }),
                _ => {}
            }
        }
        status
    }

    fn header(&mut self, text: &[u8]) {
        if let Some(id) = text.strip_prefix(b"branch.oid ") {
            let id = String::from_utf8_lossy(id).into_owned();
            self.head = (id != "(initial)").then_some(id);
        } else if let Some(name) = text.strip_prefix(b"branch.head ") {
            self.branch = (name != b"(detached)").then(|| name.to_vec());
        }
    }

    /// A record of `fields` words and a path.
    fn entry(&mut self, record: &[u8], fields: usize) {
        let mut spaces = record.iter().enumerate().filter(|&(_, &b)| b == b' ');
        let Some((end, _)) = spaces.nth(fields - 1) else {
            return;
        };
        let (detail, path) = (&record[..end], &record[end + 1..]);
        let letters = detail.get(..2).unwrap_or_default();
        self.entries.push(Entry {
            path: path.to_vec(),
            letters: String::from_utf8_lossy(letters).into_owned(),
            detail: detail.to_vec(),
            from: None,
        });
    }
}

/// Adds the submodules whose work tree is not clean.
fn submodules(repo: &Repo, depth: usize, entries: &mut Vec<Entry>) -> Result<(), GitError> {
    let index = repo.git.ask(&["ls-files", "--stage", "-z"])?;
    for record in index.split(|&b| b == 0) {
        let Some(tab) = record.iter().position(|&b| b == b'\t') else {
            continue;
        };
        let path = &record[tab + 1..];
        let known = |e: &Entry| e.path == path;
        if !record.starts_with(b"160000 ") || entries.iter().any(known) {
            continue;
        }
        let dir = repo.top.join(Path::new(std::ffi::OsStr::from_bytes(path)));
        if dir.join(".git").symlink_metadata().is_err() {
            continue;
        }
        // A `.git` that points nowhere is a broken submodule, not an error here.
        let Ok(inner) = Repo::open(&dir, repo.git.limit()) else {
            continue;
        };
        let inner = Status::read_at(&inner, Untracked::Directories, depth + 1)?;
        if !inner.entries.is_empty() {
            let detail = inner.entries.iter().flat_map(|e| {
                let parts = [&e.detail[..], e.letters.as_bytes(), &e.path];
                parts.join(&b' ')
            });
            entries.push(Entry {
                path: path.to_vec(),
                letters: ".M".to_owned(),
                detail: detail.collect(),
                from: None,
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_record_is_read_and_a_rename_is_one_entry() {
        let zero = "0".repeat(40);
        let text = [
            "# branch.oid 1234".to_owned(),
            "# branch.head ma in".to_owned(),
            "# stash 3".to_owned(),
            format!("1 .M N... 100644 100644 100644 {zero} {zero} a b\nc"),
            format!("2 R. N... 100644 100644 100644 {zero} {zero} R100 new name"),
            "? not a record but the old name".to_owned(),
            format!("u UU N... 1 2 3 4 {zero} {zero} {zero} both"),
            "? d/".to_owned(),
            "x unknown".to_owned(),
            "1 short".to_owned(),
            String::new(),
        ];
        let status = Status::parse(text.join("\0").as_bytes());
        assert_eq!(status.head.as_deref(), Some("1234"));
        assert_eq!(status.branch.as_deref(), Some(&b"ma in"[..]));
        let found: Vec<_> = status
            .entries
            .iter()
            .map(|e| (&*e.letters, str::from_utf8(&e.path).expect("text")))
            .collect();
        let expected = [
            (".M", "a b\nc"),
            ("R.", "new name"),
            ("UU", "both"),
            ("??", "d/"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn no_commit_and_no_branch_are_nothing() {
        let status = Status::parse(b"# branch.oid (initial)\0# branch.head (detached)\0");
        assert_eq!(status, Status::default());
    }
}
