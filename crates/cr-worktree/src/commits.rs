//! The commits of a task.

use std::collections::HashMap;
use std::path::PathBuf;

use crate::repository::{Repository, names_in, path_of};

/// A commit, and the files that it changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its id.
    pub sha: String,
    /// The first line of its message.
    pub subject: String,
    /// The files, from the top of the work tree. Those of a merge are the ones
    /// that differ from all its parents.
    pub files: Vec<PathBuf>,
}

impl Repository {
    /// The commits of `head` that `base` does not have, oldest first.
    pub fn commits(&self, base: &str, head: &str) -> anyhow::Result<Vec<Commit>> {
        let range = format!("{}..{}", self.repo.commit(base)?, self.repo.commit(head)?);
        let options = ["log", "-z", "--reverse", "--topo-order", "--no-notes"];
        let args = [&options[..], &["--format=%H %s", &range]].concat();
        let log = self.repo.git.ask(&args)?;
        let log = String::from_utf8_lossy(&log).into_owned();
        let records = log.split('\0').filter_map(|record| record.split_once(' '));
        let records: Vec<(&str, &str)> = records.collect();
        // A last line without its end is not read.
        let ids: Vec<&str> = records.iter().flat_map(|(sha, _)| [sha, "\n"]).collect();
        let mut files = self.files_of(&ids.concat())?;
        let commits = records.into_iter().map(|(sha, subject)| Commit {
            sha: sha.to_owned(),
            subject: subject.to_owned(),
            files: files.remove(sha).unwrap_or_default(),
        });
        Ok(commits.collect())
    }

    /// The files of each commit of `ids`, which has one a line.
    fn files_of(&self, ids: &str) -> anyhow::Result<HashMap<String, Vec<PathBuf>>> {
        let args = [
            "diff-tree",
            "--stdin",
            "-r",
            "-c",
            "-z",
            "--root",
            "--raw",
            "--no-renames",
            "--no-ext-diff",
            "--no-textconv",
            "--ignore-submodules=none",
        ];
        let text = self.repo.git.ask_with(&args, ids.as_bytes())?;
        let mut files: HashMap<String, Vec<PathBuf>> = HashMap::new();
        let mut commit = String::new();
        let mut fields = names_in(&text);
        while let Some(field) = fields.next() {
            // A commit, or the modes and ids of a file, which its path follows.
            if field.starts_with(b":") {
                let path = fields.next().map(path_of);
                files.entry(commit.clone()).or_default().extend(path);
            } else {
                commit = String::from_utf8_lossy(field).trim().into();
            }
        }
        Ok(files)
    }
}
