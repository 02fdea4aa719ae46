//! The own lines that this tool reads.

use std::borrow::Cow;

use cr_stream::{Finder, OwnLine};

use crate::start_record::Start;

/// A line of our own.
#[derive(Debug)]
pub(crate) enum Found {
    /// What `cr-git start` wrote, and the run it names.
    GitStart(Box<Start>, Option<String>),
    /// The supervisor's first line; it names the run and its directory.
    RunStart {
        run_id: Option<String>,
        run_dir: Option<String>,
    },
    /// The last line of a supervised run.
    Exit,
    /// Another line.
    Other,
}

/// What `line` is; `None` if it is not a line of our own.
pub(crate) fn read(finder: &Finder, line: &[u8]) -> Option<Found> {
    let event = finder.find(line)?;
    let run_id = event.run_id.map(|id| id.decode().into_owned());
    Some(match OwnLine::read(&event)? {
        OwnLine::Exit(_) => Found::Exit,
        OwnLine::Start(start) => {
            if let Some(grace) = start.limits.grace_ms {
                cr_io::expect_grace(grace);
            }
            let run_dir = start.run_dir.map(Cow::into_owned);
            Found::RunStart { run_id, run_dir }
        }
        // Without a directory there is nothing to compare with.
        OwnLine::GitStart(start) if !start.cwd.is_empty() => {
            Found::GitStart(Box::new(start.into_owned()), run_id)
        }
        _ => Found::Other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_by_its_kind() {
        let finder = Finder::new();
        let read = |line: &str| read(&finder, line.as_bytes());
        assert!(read(r#"{"type":"assistant","text":"cr"}"#).is_none());
        let exit = r#" {"subtype":"exit","new":[1,{"a":"\ud800"}],"type":"cr"}"#;
        assert!(matches!(read(exit), Some(Found::Exit)));
        let start = r#"{"type":"cr","subtype":"start","run_id":"x"}"#;
        assert!(matches!(read(start), Some(Found::RunStart { run_id: Some(id), .. }) if id == "x"));
        let end = r#"{"type":"cr","subtype":"git","phase":"end","run_id":"x"}"#;
        assert!(matches!(read(end), Some(Found::Other)));
        let bad = r#"{"type":"cr","subtype":"git","phase":"start","cwd":1}"#;
        assert!(matches!(read(bad), Some(Found::Other)));
    }
}
