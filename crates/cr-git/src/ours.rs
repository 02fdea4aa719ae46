//! Which lines of the stream are our own, and what this tool needs of them.

use std::borrow::Cow;

use memchr::memmem::Finder;
use serde::Deserialize;

use crate::record::Start;

/// A line of our own.
#[derive(Debug)]
pub(crate) enum Ours {
    /// What `cr-git start` wrote.
    Start(Box<Start>, Option<String>),
    /// The supervisor's first line; it names the run.
    Run(Option<String>),
    /// The last line of a supervised run.
    Exit,
    /// Any other.
    Other,
}

#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    r#type: Option<Text<'a>>,
    #[serde(borrow)]
    subtype: Option<Text<'a>>,
    #[serde(borrow)]
    phase: Option<Text<'a>>,
    #[serde(borrow)]
    run_id: Option<Text<'a>>,
}

/// An `Option<Cow>` would copy.
#[derive(Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// Finds our own lines; one of them is made for a stream.
#[derive(Debug)]
pub(crate) struct Finds(Finder<'static>);

impl Finds {
    pub(crate) fn new() -> Self {
        Self(Finder::new(br#""cr""#))
    }

    /// Whether a line that begins with `bytes` may be one of ours. They all
    /// begin with their type, so a long line need not be held to know.
    pub(crate) fn may_be(bytes: &[u8]) -> bool {
        bytes.starts_with(br#"{"type":"cr""#)
    }

    /// What `line` is, `None` if it is not ours.
    pub(crate) fn read(&self, line: &[u8]) -> Option<Ours> {
        // Most lines end here.
        self.0.find(line)?;
        if line.trim_ascii_start().first() != Some(&b'{') {
            return None;
        }
        let head: Head<'_> = serde_json::from_slice(line).ok()?;
        if head.r#type?.0 != "cr" {
            return None;
        }
        let run_id = head.run_id.map(|id| id.0.into_owned());
        let phase = head.phase.map(|phase| phase.0);
        Some(match (&*head.subtype?.0, phase.as_deref()) {
            ("git", Some("start")) => Ours::Start(serde_json::from_slice(line).ok()?, run_id),
            ("start", _) => Ours::Run(run_id),
            ("exit", _) => Ours::Exit,
            _ => Ours::Other,
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
            r#"{"type":"cr","type":"cr","subtype":"exit"}"#,
            r#""cr""#,
        ] {
            assert!(finds.read(line.as_bytes()).is_none(), "{line}");
        }
        let exit = br#" {"subtype":"exit","new":[1,{"a":"\ud800"}],"type":"cr"}"#;
        assert!(matches!(finds.read(exit), Some(Ours::Exit)));
        let run = br#"{"type":"cr","subtype":"start","run_id":"x"}"#;
        assert!(matches!(finds.read(run), Some(Ours::Run(Some(id))) if id == "x"));
    }
}
