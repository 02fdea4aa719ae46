//! Commits of the agent, in a tree where others commit too.
//!
//! There are two sources: a file to which the agent's commit wrapper adds each
//! id, and the stream, where a tool's result may name the commit it made. The
//! file is needed because `git commit -q` leaves no trace in the stream.

use std::fs;
use std::path::PathBuf;

use cr_event::Event;
use memchr::memmem::Finder;

/// Fewer digits than this name no commit.
const SHORTEST: usize = 7;

/// The ids of the agent's commits.
#[derive(Debug)]
pub(crate) struct AgentCommits {
    file: PathBuf,
    operation: Finder<'static>,
    ids: Vec<String>,
}

impl AgentCommits {
    pub(crate) fn new(file: PathBuf) -> Self {
        Self {
            file,
            operation: Finder::new(br#""gitOperation""#),
            ids: Vec::new(),
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
        let text = fs::read_to_string(&self.file).unwrap_or_default();
        for line in text.lines() {
            self.add(line.trim());
        }
    }

    /// Whether `id` is a commit of the agent; known ids may be abbreviated.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.ids.iter().any(|known| id.starts_with(&**known))
    }

    fn add(&mut self, id: &str) {
        let digits = id.bytes().all(|b| b.is_ascii_hexdigit());
        if digits && id.len() >= SHORTEST {
            self.ids.push(id.to_ascii_lowercase());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_known_from_a_tool_result_only() {
        let mut commits = AgentCommits::new("/nonexistent".into());
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
        assert!(commits.has("6b4350e0000000"));
        assert_eq!(commits.ids.len(), 1);
    }
}
