//! Commits and the differences between them.

use std::collections::BTreeMap;

use cr_repository::{GitError, Repo, Status, Untracked, both};
use cr_stream::ChangedFile;

use crate::text::{self, Name};

/// Most refs that are remembered.
const REFS: usize = 1000;

/// Where every branch, tag, remote branch and stash points, by full name.
pub(crate) type Refs = BTreeMap<String, String>;

/// The refs of `repo`, and whether these are all.
pub(crate) fn refs(repo: &Repo) -> Result<(Refs, bool), GitError> {
    let most = format!("--count={}", REFS + 1);
    let text = repo.git.ask(&[
        "for-each-ref",
        &most,
        "--format=%(objectname) %(refname)",
        "refs/heads",
        "refs/remotes",
        "refs/stash",
        "refs/tags",
    ])?;
    let text = String::from_utf8_lossy(&text);
    let pairs = text.lines().filter_map(|line| line.split_once(' '));
    let refs: Refs = pairs
        .take(REFS)
        .map(|(id, name)| (name.to_owned(), id.to_owned()))
        .collect();
    let complete = text.lines().count() <= REFS;
    Ok((refs, complete))
}

/// What is not clean, and where every ref points: two questions at one time.
pub(crate) fn state(repo: &Repo) -> (Result<Status, GitError>, Result<(Refs, bool), GitError>) {
    let status = || Status::read(repo, Untracked::Directories);
    let (refs, status) = both(|| refs(repo), status);
    (status, refs)
}

/// What to list: everything reachable from `tips` and not from `without`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range<'a> {
    pub(crate) tips: &'a [&'a str],
    pub(crate) without: &'a [&'a str],
}

impl Range<'_> {
    /// By standard input, since there may be a thousand of them.
    fn input(&self) -> Vec<u8> {
        let tips = self.tips.iter().map(|id| format!("{id}\n"));
        let without = self.without.iter().map(|id| format!("^{id}\n"));
        tips.chain(without).collect::<String>().into_bytes()
    }

    /// How many commits there are.
    pub(crate) fn count(&self, repo: &Repo) -> Result<u64, GitError> {
        if self.tips.is_empty() {
            return Ok(0);
        }
        let args = ["rev-list", "--ignore-missing", "--count", "--stdin"];
        let text = repo.git.ask_with(&args, &self.input())?;
        let text = String::from_utf8_lossy(&text);
        let text = text.trim();
        text.parse()
            .map_err(|_| GitError::Other(format!("git rev-list: no number: {text:?}")))
    }

    /// The first `most` commits, newest first: id and subject.
    pub(crate) fn commits(
        &self,
        repo: &Repo,
        most: usize,
    ) -> Result<Vec<(String, String)>, GitError> {
        // Nothing to ask git, which takes as long to start as to answer.
        if self.tips.iter().all(|tip| self.without.contains(tip)) {
            return Ok(Vec::new());
        }
        let most = format!("--max-count={most}");
        let args = [
            "rev-list",
            "--ignore-missing",
            &most,
            "--format=%s",
            "--stdin",
        ];
        let text = repo.git.ask_with(&args, &self.input())?;
        let mut lines = text.split(|&b| b == b'\n');
        let mut found = Vec::new();
        // Two lines a commit; git folds a subject into one.
        while let (Some(head), Some(subject)) = (lines.next(), lines.next()) {
            let Some(id) = head.strip_prefix(b"commit ") else {
                break;
            };
            let id = String::from_utf8_lossy(id).into_owned();
            found.push((id, text::subject(subject)));
        }
        Ok(found)
    }

    /// The first `most` commits, and how many more there are.
    pub(crate) fn listed(
        &self,
        repo: &Repo,
        most: usize,
    ) -> Result<(Vec<(String, String)>, u64), GitError> {
        let commits = self.commits(repo, most)?;
        let more = if commits.len() < most {
            0
        } else {
            self.count(repo)?.saturating_sub(most as u64)
        };
        Ok((commits, more))
    }
}

/// A commit as it is shown: `sha subject`.
pub(crate) fn shown((id, subject): &(String, String)) -> String {
    format!("{} {subject}", text::short(id))
}

/// The difference of two trees.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) insertions: u64,
    pub(crate) deletions: u64,
    pub(crate) files: Vec<(Vec<u8>, ChangedFile<'static>)>,
}

impl Difference {
    /// Compares two commits or trees; a renamed file is one change.
    pub(crate) fn between(repo: &Repo, from: &str, to: &str) -> Result<Self, GitError> {
        if from == to {
            return Ok(Self::default());
        }
        let text = repo.git.ask(&[
            "diff-tree",
            "-r",
            "-z",
            "--raw",
            "--numstat",
            "-M",
            "-l1000",
            "--no-ext-diff",
            "--no-textconv",
            "--submodule=short",
            "--ignore-submodules=none",
            from,
            to,
            "--",
        ])?;
        Ok(Self::parse(&text))
    }

    /// First a record for each file's kind of change, in the same order then
    /// one for its lines.
    fn parse(text: &[u8]) -> Self {
        let mut difference = Self::default();
        let mut counted = 0;
        let mut records = text.split(|&b| b == 0);
        while let Some(record) = records.next() {
            if record.starts_with(b":") {
                let status = record.rsplit(|&b| b == b' ').next().unwrap_or_default();
                let mut path = records.next().unwrap_or_default();
                let mut from = None;
                if matches!(status.first(), Some(b'R' | b'C')) {
                    from = Some(Name::of(path));
                    path = records.next().unwrap_or_default();
                }
                let (from, from_b64) = from.map_or((None, None), |n| (Some(n.path), n.path_b64));
                let name = Name::of(path);
                let letter = String::from_utf8_lossy(&status[..status.len().min(1)]);
                let file = ChangedFile {
                    path: name.path.into(),
                    path_b64: name.path_b64.map(Into::into),
                    status: letter.into_owned().into(),
                    from: from.map(Into::into),
                    from_b64: from_b64.map(Into::into),
                    committed: true,
                    ..ChangedFile::default()
                };
                difference.files.push((path.to_vec(), file));
            } else if let Some((inserted, deleted, path)) = numbers(record) {
                if path.is_empty() {
                    // A rename: both names follow.
                    records.next();
                    records.next();
                }
                difference.count(counted, inserted, deleted);
                counted += 1;
            }
        }
        difference
    }

    fn count(&mut self, index: usize, inserted: Option<u64>, deleted: Option<u64>) {
        self.insertions += inserted.unwrap_or(0);
        self.deletions += deleted.unwrap_or(0);
        if let Some((_, file)) = self.files.get_mut(index) {
            file.insertions = inserted;
            file.deletions = deleted;
        }
    }
}

/// `3<tab>1<tab>path`, with `-` for both numbers of a binary file.
fn numbers(record: &[u8]) -> Option<(Option<u64>, Option<u64>, &[u8])> {
    let mut parts = record.splitn(3, |&b| b == b'\t');
    let mut number = || {
        let text = str::from_utf8(parts.next()?).ok()?;
        match text {
            "-" => Some(None),
            digits => digits.parse().ok().map(Some),
        }
    };
    let (inserted, deleted) = (number()?, number()?);
    Some((inserted, deleted, parts.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rename_a_binary_and_a_name_like_a_count_are_one_file_each() {
        let text = b":100644 100644 1 1 R100\0old\0new\0:000000 100644 0 2 A\0bin\0\
                     :000000 100644 0 3 A\x003\t1\tx\0\
                     0\t0\t\0old\0new\0-\t-\tbin\x005\t2\t3\t1\tx\0";
        let difference = Difference::parse(text);
        let found: Vec<_> = difference
            .files
            .iter()
            .map(|(_, f)| (&*f.path, &*f.status, f.insertions, f.deletions))
            .collect();
        let expected = [
            ("new", "R", Some(0), Some(0)),
            ("bin", "A", None, None),
            ("3\t1\tx", "A", Some(5), Some(2)),
        ];
        assert_eq!(found, expected);
        assert_eq!((difference.insertions, difference.deletions), (5, 2));
        assert_eq!(difference.files[0].1.from.as_deref(), Some("old"));
    }
}
