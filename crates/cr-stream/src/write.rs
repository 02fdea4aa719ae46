//! Writing a line.

use serde::Serialize;

use crate::time::now;
use crate::{Named, Subtype};

/// The content of one kind of line.
pub trait LineBody: Serialize {
    /// Its kind.
    const SUBTYPE: Subtype;
    /// Which of two lines of one kind it is: `cr/git` has a start and an end.
    const PHASE: Option<&'static str> = None;
}

#[derive(Serialize)]
struct Line<'a, T> {
    /// The type of our own lines.
    ///
    /// Values: `cr`
    r#type: &'static str,
    /// The kind of the line.
    subtype: &'static str,
    /// When it was written.
    ///
    /// Example: `"2026-11-18T03:15:00.000Z"`
    at: String,
    /// The run.
    ///
    /// Null: if it has no name.
    /// Example: `"20261118T031500Z-1f0c22ab"`
    run_id: Option<&'a str>,
    /// Which of two lines of one kind it is.
    ///
    /// Absent: if there is only one.
    /// Example: `"start"`
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<&'static str>,
    /// Its content.
    #[serde(flatten)]
    body: &'a T,
}

/// The line of `body`, without its newline. Texts from outside must have been
/// masked before.
#[expect(
    clippy::missing_panics_doc,
    reason = "strings, numbers and JSON that was checked can be written"
)]
pub fn compose<T: LineBody>(run_id: Option<&str>, body: &T) -> Vec<u8> {
    let line = Line {
        r#type: cr_event::OWN_TYPE,
        subtype: T::SUBTYPE.as_str(),
        at: now(),
        run_id,
        phase: T::PHASE,
        body,
    };
    serde_json::to_vec(&line).expect("it can be written")
}

/// The same with its newline, as it stands in a file.
pub fn compose_line<T: LineBody>(run_id: Option<&str>, body: &T) -> Vec<u8> {
    let mut line = compose(run_id, body);
    line.push(b'\n');
    line
}
