//! A repository: its directories, its commits, and operations in progress.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::git::{Git, GitError, both};

/// A repository with a work tree.
#[derive(Clone, Debug)]
pub struct Repo {
    /// git at the top of the work tree.
    pub git: Git,
    /// The top of the work tree.
    pub top: PathBuf,
    /// This work tree's own directory, where its index is.
    pub own: PathBuf,
    /// The directory that all work trees of the repository share.
    pub shared: PathBuf,
    /// Whether its history is cut off.
    pub shallow: bool,
    /// The name of its hash: `sha1` or `sha256`.
    pub format: String,
}

/// Operations that git can leave unfinished, and the file that shows it.
const UNDER_WAY: &[(&str, &str)] = &[
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
];

impl Repo {
    /// The repository that `dir` is in.
    pub fn open(dir: &Path, limit: Duration) -> Result<Self, GitError> {
        let git = Git::at(dir, limit)?;
        let comparison = [
            "--show-toplevel",
            "--absolute-git-dir",
            "--git-common-dir",
            "--is-shallow-repository",
            "--show-object-format",
        ];
        // Neither call reads the work tree, so both run at the same time.
        let ask = || git.ask(&[&["rev-parse"], &comparison[..]].concat());
        let (filters, answer) = both(|| git.filters(), ask);
        let (filters, answer) = (filters?, answer?);
        let mut lines: Vec<Vec<u8>> = line_of(&answer)
            .split(|&b| b == b'\n')
            .map(<[u8]>::to_vec)
            .collect();
        if lines.len() != comparison.len() {
            // A path contains a newline: ask for one path at a time.
            lines = comparison
                .iter()
                .map(|what| Ok(line_of(&git.ask(&["rev-parse", what])?).to_vec()))
                .collect::<Result<_, GitError>>()?;
        }
        let path = |i: usize| dir.join(Path::new(std::ffi::OsStr::from_bytes(&lines[i])));
        let top = path(0);
        let shared = path(2);
        Ok(Self {
            git: git.moved(&top, filters),
            own: path(1),
            shared: fs::canonicalize(&shared).unwrap_or(shared),
            shallow: lines[3] == b"true",
            format: String::from_utf8_lossy(&lines[4]).into_owned(),
            top,
        })
    }

    /// Whether this is a work tree beside the repository's main one.
    pub fn is_linked(&self) -> bool {
        fs::canonicalize(&self.own).is_ok_and(|own| own != self.shared)
    }

    /// The unfinished operation, for example a rebase.
    pub fn operation_in_progress(&self) -> Option<&'static str> {
        let there = |name: &str| self.own.join(name).symlink_metadata().is_ok();
        let found = UNDER_WAY.iter().find(|(file, _)| there(file));
        found.map(|&(_, operation)| operation)
    }

    /// The empty tree.
    pub fn empty_tree(&self) -> &'static str {
        if self.format == "sha256" {
            "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
        } else {
            "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
        }
    }

    /// The full id of the commit that `name` stands for.
    pub fn commit(&self, name: &str) -> Result<String, GitError> {
        let commit = format!("{name}^{{commit}}");
        let args = ["rev-parse", "--verify", "--quiet", "--end-of-options"];
        let answer = self.git.answer(&[&args[..], &[&commit]].concat(), b"")?;
        if !answer.yes {
            return Err(GitError::Other(format!("{name}: no such commit")));
        }
        let text = String::from_utf8_lossy(&answer.text);
        // With `--end-of-options` some versions print that word too.
        let id = text.lines().last().unwrap_or_default();
        Ok(id.to_owned())
    }

    /// Whether `one` is `other` or comes before it.
    pub fn is_ancestor(&self, one: &str, other: &str) -> Result<bool, GitError> {
        let args = ["merge-base", "--is-ancestor", one, other];
        Ok(self.git.answer(&args, b"")?.yes)
    }
}

/// `text` without the newline that ends it.
fn line_of(text: &[u8]) -> &[u8] {
    text.strip_suffix(b"\n").unwrap_or(text)
}
