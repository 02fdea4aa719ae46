//! Commits of the agent, in a tree where others commit too.
//!
//! A commit is the agent's only with evidence. There are three sources: the
//! stream, where a tool's result may name the commit it made; a file to which the
//! agent's commit wrapper adds each id; and the trace of the agent's git commands,
//! because `git commit -q` leaves nothing in the stream.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

use cr_event::Event;
use cr_repository::{GitError, Repo};
use memchr::memmem::Finder;

use crate::reflog;
use crate::trace::CommitCommand;

/// Fewer digits than this name no commit.
const SHORTEST: usize = 7;

/// The evidence of the agent's commits.
#[derive(Debug)]
pub(crate) struct AgentCommits {
    file: Option<PathBuf>,
    operation: Finder<'static>,
    ids: Vec<String>,
    commands: Vec<CommitCommand>,
}

impl AgentCommits {
    pub(crate) fn new(file: Option<PathBuf>) -> Self {
        Self {
            file,
            operation: Finder::new(br#""gitOperation""#),
            ids: Vec::new(),
            commands: Vec::new(),
        }
    }

    /// Adds the commit that a line of the stream names.
    pub(crate) fn read_line(&mut self, line: &[u8]) {
        if self.operation.find(line).is_none() {
            return;
        }
        let result = Event::parse(line).ok().and_then(|e| e.tool_result);
        let id = result.and_then(|r| r.at(&["gitOperation", "commit", "sha"])?.text());
        if let Some(id) = id {
            self.add(&id.decode());
        }
    }

    /// Adds the ids in the file; an unreadable file has none.
    pub(crate) fn read_file(&mut self) {
        let Some(file) = &self.file else {
            return;
        };
        let text = fs::read_to_string(file).unwrap_or_default();
        for line in text.lines() {
            self.add(line.trim());
        }
    }

    /// Adds git commands of the agent that made commits.
    pub(crate) fn add_commands(&mut self, commands: Vec<CommitCommand>) {
        self.commands.extend(commands);
        self.commands.sort_by_key(|command| command.start);
    }

    /// The agent's commits in `repo`.
    pub(crate) fn in_repository(&self, repo: &Repo) -> Result<KnownCommits<'_>, GitError> {
        Ok(KnownCommits {
            abbreviated: &self.ids,
            traced: reflog::commits_of(repo, &self.commands)?,
        })
    }

    fn add(&mut self, id: &str) {
        let digits = id.bytes().all(|b| b.is_ascii_hexdigit());
        if digits && id.len() >= SHORTEST {
            self.ids.push(id.to_ascii_lowercase());
        }
    }
}

/// The agent's commits in one repository.
#[derive(Debug)]
pub(crate) struct KnownCommits<'a> {
    abbreviated: &'a [String],
    traced: HashSet<String>,
}

impl KnownCommits<'_> {
    /// Whether `id` is a commit of the agent.
    pub(crate) fn has(&self, id: &str) -> bool {
        let is_named = |known: &String| id.starts_with(&**known);
        self.traced.contains(id) || self.abbreviated.iter().any(is_named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_known_from_a_tool_result_only() {
        let mut commits = AgentCommits::new(Some("/nonexistent".into()));
        let real = r#"{"type":"user","tool_use_result":{"stdout":"","gitOperation":{"commit":{"sha":"6b4350e","kind":"committed"}}}}"#;
        commits.read_line(real.as_bytes());
        commits.read_line(
            br#"{"type":"assistant","message":{"gitOperation":{"commit":{"sha":"1111111"}}}}"#,
        );
        commits.read_line(
            br#"{"type":"user","tool_use_result":{"gitOperation":{"commit":{"sha":"xyz"}}}}"#,
        );
        commits.read_line(br#"{"type":"user","tool_use_result":{"gitOperation":{"commit":"#);
        commits.read_file();
        assert_eq!(commits.ids, ["6b4350e"]);
    }
}
