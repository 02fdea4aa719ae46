//! Which commits are the agent's, where others commit in the same tree.
//!
//! Two sources: a file to which whoever commits for the agent adds each id, and
//! the stream, where a tool's result may name the commit it made. `git commit
//! -q` leaves no trace in the stream, which is why there is a file.

use std::fs;
use std::path::PathBuf;

use cr_event::Event;
use memchr::memmem::Finder;

/// Fewer digits than this name no commit.
const SHORTEST: usize = 7;

/// The ids that were noted.
#[derive(Debug)]
pub(crate) struct Noted {
    file: PathBuf,
    operation: Finder<'static>,
    ids: Vec<String>,
}

impl Noted {
    pub(crate) fn new(file: PathBuf) -> Self {
        Self {
            file,
            operation: Finder::new(br#""gitOperation""#),
            ids: Vec::new(),
        }
    }

    /// Notes the commit that a line of the stream names.
    pub(crate) fn look(&mut self, line: &[u8]) {
        if self.operation.find(line).is_none() {
            return;
        }
        let result = Event::parse(line).ok().and_then(|e| e.tool_result);
        let id = result.and_then(|r| r.at(&["gitOperation", "commit", "sha"])?.text());
        if let Some(id) = id {
            self.note(&id.decode());
        }
    }

    /// Notes the ids in the file; one that cannot be read has none.
    pub(crate) fn read(&mut self) {
        let text = fs::read_to_string(&self.file).unwrap_or_default();
        for line in text.lines() {
            self.note(line.trim());
        }
    }

    /// Whether the commit `id` was noted, by its first digits at least.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.ids.iter().any(|noted| id.starts_with(&**noted))
    }

    fn note(&mut self, id: &str) {
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
    fn a_commit_is_noted_from_a_tools_result_and_only_from_there() {
        let mut noted = Noted::new("/nonexistent".into());
        let real = r#"{"type":"user","tool_use_result":{"stdout":"","gitOperation":{"commit":{"sha":"6b4350e","kind":"committed"}}}}"#;
        noted.look(real.as_bytes());
        noted.look(
            br#"{"type":"assistant","message":{"gitOperation":{"commit":{"sha":"1111111"}}}}"#,
        );
        noted.look(
            br#"{"type":"user","tool_use_result":{"gitOperation":{"commit":{"sha":"xyz"}}}}"#,
        );
        noted.look(br#"{"type":"user","tool_use_result":{"gitOperation":{"commit":"#);
        noted.read();
        assert!(noted.has("6b4350e0000000"));
        assert_eq!(noted.ids.len(), 1);
    }
}
