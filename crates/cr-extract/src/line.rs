//! What a line says about the input it stands in.

use cr_event::{Event, Kind, Raw, strip};

use crate::Form;

/// Stands before the summary in a report.
const DELIMITER: &[u8] = b"---CLAUDE-RUNNER-RESULT---";

/// What a line is. It depends on nothing but the line, so that an input may be
/// read from either end.
#[derive(Debug)]
pub(crate) enum Class<'a> {
    /// Nothing that tells.
    Noise,
    /// The line before a summary.
    Delimiter,
    /// A summary.
    Summary(Raw<'a>),
    /// An event that holds no answer.
    Passed,
    /// Another attempt begins: what came before is no answer any more.
    Attempt,
    /// An event that may.
    Event(Box<Event<'a>>),
}

/// Whether a line that begins with `head` is an event that holds no answer, by
/// its first bytes. It is then never read, however long it is.
pub(crate) fn is_passed(head: &[u8]) -> bool {
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
        Class::Noise => true,
        Class::Delimiter => matches!(form, Form::Auto | Form::Report),
        Class::Summary(_) => matches!(form, Form::Auto | Form::Summary),
        Class::Passed | Class::Attempt | Class::Event(_) => {
            matches!(form, Form::Auto | Form::Stream)
        }
    };
    if counts { class } else { Class::Noise }
}

fn class_of(line: &[u8]) -> Class<'_> {
    if is_passed(line) {
        return if begins_attempt(line) {
            Class::Attempt
        } else {
            Class::Passed
        };
    }
    if line.trim_ascii_end() == DELIMITER {
        return Class::Delimiter;
    }
    let line = strip(line);
    // An array with one event a line has commas behind them.
    let line = line.strip_suffix(b",").unwrap_or(line);
    if line.first() != Some(&b'{') {
        return Class::Noise;
    }
    let Ok(event) = Event::parse(line) else {
        return Class::Noise;
    };
    let raw = event.line;
    let has = |key: &str| raw.get(key).is_some();
    let is_event = match event.kind {
        Kind::Result => event.subtype.is_some() || has("result") || has("structured_output"),
        Kind::Assistant | Kind::User => event.message.is_some(),
        Kind::Other => return summary(&event).map_or(Class::Noise, Class::Summary),
        Kind::StreamEvent => has("event"),
        Kind::System | Kind::Cr => event.subtype.is_some(),
        _ => event.session_id.is_some(),
    };
    match event.kind {
        _ if !is_event => Class::Noise,
        Kind::Result | Kind::Assistant => Class::Event(Box::new(event)),
        _ => Class::Passed,
    }
}

/// Whether an attempt begins: when it ends, the line has an outcome.
fn begins_attempt(line: &[u8]) -> bool {
    line.starts_with(br#"{"type":"cr","subtype":"task","#)
        && Event::parse(line).is_ok_and(|event| event.line.get("outcome").is_none())
}

/// The line, if it is a summary: it has a verdict, an answer's place, and the
/// number of its format or whose it is.
fn summary<'a>(event: &Event<'a>) -> Option<Raw<'a>> {
    let raw = event.line;
    let has = |key: &str| raw.get(key).is_some();
    let is_summary = event.name.bytes().is_empty()
        && raw.string("outcome").is_some()
        && (has("result") || has("structured_output"))
        && (has("schema") || has("session_id") || has("ok"));
    is_summary.then_some(raw)
}
