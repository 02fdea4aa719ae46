//! Which lines of the stream are our own, and what this tool needs of them.

use cr_event::{Event, Kind, Raw, strip};
use memchr::memmem::Finder;

use crate::record::Start;

/// A line of our own.
#[derive(Debug)]
pub(crate) enum Ours {
    /// What `cr-git start` wrote, and the run it names.
    Start(Box<Start>, Option<String>),
    /// The supervisor's first line; it names the run.
    Run(Option<String>),
    /// The last line of a supervised run.
    Exit,
    /// Any other.
    Other,
}

/// Finds our own lines; one of them is made for a stream.
#[derive(Debug)]
pub(crate) struct Finds(Finder<'static>);

impl Finds {
    pub(crate) fn new() -> Self {
        Self(Finder::new(br#""cr""#))
    }

    /// Whether a line that begins with `head` may be one of ours. They all
    /// begin with their type, so a long line need not be held to know.
    pub(crate) fn may_be(head: &[u8]) -> bool {
        Kind::of_head(head) == Some(Kind::Cr)
    }

    /// What `line` is, `None` if it is not ours.
    pub(crate) fn read(&self, line: &[u8]) -> Option<Ours> {
        // Most lines end here.
        self.0.find(line)?;
        let event = Event::parse(line).ok()?;
        if event.kind != Kind::Cr {
            return None;
        }
        let run_id = event.run_id.map(|id| id.decode().into_owned());
        let phase = event.line.get("phase").and_then(Raw::text);
        Some(if event.is("exit") {
            Ours::Exit
        } else if event.is("start") {
            let grace = event.line.at(&["limits", "grace_ms"]);
            if let Some(grace) = grace.and_then(Raw::u64) {
                cr_io::expect_grace(grace);
            }
            Ours::Run(run_id)
        } else if event.is("git") && phase.is_some_and(|phase| phase.is("start")) {
            Ours::Start(serde_json::from_slice(strip(line)).ok()?, run_id)
        } else {
            Ours::Other
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_top_level_type_makes_a_line_ours() {
        let finds = Finds::new();
        for line in [
            r#"{"type":"assistant","text":"cr"}"#,
            r#"{"message":{"type":"cr","subtype":"exit"},"type":"user"}"#,
            r#"["cr","exit"]"#,
            r#"{"type":"cr","subtype":"exit""#,
            r#"{"type":"user","type":"cr","subtype":"exit"}"#,
            r#""cr""#,
        ] {
            assert!(finds.read(line.as_bytes()).is_none(), "{line}");
        }
        let exit = br#" {"subtype":"exit","new":[1,{"a":"\ud800"}],"type":"cr"}"#;
        assert!(matches!(finds.read(exit), Some(Ours::Exit)));
        let run = br#"{"type":"cr","subtype":"start","run_id":"x"}"#;
        assert!(matches!(finds.read(run), Some(Ours::Run(Some(id))) if id == "x"));
        let git = br#"{"type":"cr","subtype":"git","phase":"end","run_id":"x"}"#;
        assert!(matches!(finds.read(git), Some(Ours::Other)));
    }
}
