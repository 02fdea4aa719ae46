//! The class of a line: an event, a summary, or text.

use cr_event::{Event, Kind, strip};
use cr_io::NewerSchema;
use cr_stream::{Finder, OwnLine, Subtype};
use cr_summary::Summary;

use crate::Form;

/// The line before the summary in a report.
const DELIMITER: &[u8] = b"---CLAUDE-RUNNER-RESULT---";

/// What a line is. It depends on the line alone, so that an input may be read
/// from either end.
#[derive(Debug)]
pub(crate) enum Class<'a> {
    /// Text, which does not tell what the input is.
    Text,
    /// The line before a summary.
    Delimiter,
    /// A summary; of one with a newer schema only the schema is known.
    Summary(Box<Summary>),
    /// An event that holds no answer.
    Passed,
    /// Another attempt begins: an earlier answer does not count.
    Attempt,
    /// An event that may hold one, the banner of a session, or the end of a run
    /// whose last line is cut off.
    Event(Box<Event<'a>>),
}

/// Whether a line that begins with `head` is an event that holds no answer, by
/// its first bytes. It is then never read, however long it is.
pub(crate) fn is_passed(head: &[u8]) -> bool {
    // A banner says which session begins.
    if head.starts_with(br#"{"type":"system","subtype":"init""#) {
        return false;
    }
    let kind = Kind::of_head(head);
    !matches!(
        kind,
        None | Some(Kind::Assistant | Kind::Result | Kind::Other)
    )
}

/// Classifies `line`, for an input of the form `form`.
pub(crate) fn class(line: &[u8], form: Form) -> Class<'_> {
    let class = class_of(line);
    let counts = match &class {
        Class::Text => true,
        Class::Delimiter => matches!(form, Form::Auto | Form::Report),
        Class::Summary(_) => matches!(form, Form::Auto | Form::Summary),
        Class::Passed | Class::Attempt | Class::Event(_) => {
            matches!(form, Form::Auto | Form::Stream)
        }
    };
    if counts { class } else { Class::Text }
}

fn class_of(line: &[u8]) -> Class<'_> {
    if is_passed(line) {
        return own_class(line).unwrap_or(Class::Passed);
    }
    if line.trim_ascii_end() == DELIMITER {
        return Class::Delimiter;
    }
    let line = strip(line);
    // An array with one event a line has commas behind them.
    let line = line.strip_suffix(b",").unwrap_or(line);
    if line.first() != Some(&b'{') {
        return Class::Text;
    }
    let Ok(event) = Event::parse(line) else {
        return Class::Text;
    };
    let raw = event.line;
    let has = |key: &str| raw.get(key).is_some();
    let is_event = match event.kind {
        Kind::Result => event.subtype.is_some() || has("result") || has("structured_output"),
        Kind::Assistant | Kind::User => cr_event::is_claudes(&event),
        Kind::Other => return summary(&event).map_or(Class::Text, Class::Summary),
        Kind::StreamEvent => has("event"),
        Kind::System | Kind::Cr => event.subtype.is_some(),
        _ => event.session_id.is_some(),
    };
    match event.kind {
        _ if !is_event => Class::Text,
        Kind::Result | Kind::Assistant => Class::Event(Box::new(event)),
        Kind::System if event.is("init") => Class::Event(Box::new(event)),
        _ => Class::Passed,
    }
}

/// The class of a line of our own, if it says anything about the answer: an
/// attempt begins, or the agent's last line is cut off.
fn own_class(line: &[u8]) -> Option<Class<'_>> {
    if !Finder::may_be_own(line) {
        return None;
    }
    let event = Event::parse(line).ok()?;
    if cr_stream::begins_attempt(&event) {
        return Some(Class::Attempt);
    }
    let is_exit = Subtype::of(&event) == Some(Subtype::Exit);
    match OwnLine::read(&event).filter(|_| is_exit)? {
        OwnLine::Exit(exit) if exit.has_cut_line() => Some(Class::Event(Box::new(event))),
        _ => None,
    }
}

/// Whether a last line without a newline is cut off. A crash of the machine may
/// leave zeros where its bytes should be.
pub(crate) fn is_cut(line: &[u8]) -> bool {
    let line = strip(line);
    matches!(line.first(), Some(b'{' | 0)) && Event::parse(line).is_err()
}

/// The summary in the line, if it is one: it has an outcome, a place for the
/// answer, and a schema or a session.
fn summary(event: &Event<'_>) -> Option<Box<Summary>> {
    let raw = event.line;
    let has = |key: &str| raw.get(key).is_some();
    let is_summary = event.name.bytes().is_empty()
        && raw.string("outcome").is_some()
        && (has("result") || has("structured_output"))
        && (has("schema") || has("session_id") || has("ok"));
    if !is_summary {
        return None;
    }
    match Summary::parse(raw.bytes()) {
        Ok(summary) => Some(Box::new(summary)),
        Err(err) => {
            let newer: &NewerSchema = err.downcast_ref()?;
            Some(Box::new(Summary {
                schema: newer.found,
                ..Summary::default()
            }))
        }
    }
}
