//! The rows of our own lines about a session of many turns.

use std::borrow::Cow;

use cr_event::Event;
use cr_stream::{AskState, InputState, OwnLine};

use crate::row::Row;

/// `row` with what the line says, if it is one of a session; its kind is set.
pub(crate) fn fill(event: &Event<'_>, row: Row) -> Row {
    let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let own = |text: Option<Cow<'_, str>>| text.map(Cow::into_owned);
    match OwnLine::read(event) {
        Some(OwnLine::Input(line)) => Row {
            target: own(line.from),
            text: text(&joined(line.state.as_str(), line.reason.as_deref())),
            ok: match line.state.known() {
                Some(InputState::Done) => Some(true),
                Some(InputState::Rejected | InputState::Cancelled) => Some(false),
                _ => None,
            },
            ..row
        },
        Some(OwnLine::Ask(line)) => Row {
            agent: own(line.agent),
            tool: own(line.tool),
            target: text(&line.text),
            ok: line.answer.as_ref().map(|answer| answer != "deny"),
            text: match (line.state.known(), line.answer) {
                (Some(AskState::Answered), Some(answer)) => {
                    text(&joined(&answer, line.answered_by.as_deref()))
                }
                _ => text(line.state.as_str()),
            },
            ..row
        },
        Some(OwnLine::State(line)) => Row {
            target: text(line.state.as_str()),
            text: line.cause.and_then(|cause| text(cause.as_str())),
            duration_ms: line.silent_ms,
            ..row
        },
        Some(OwnLine::Limit(line)) => Row {
            target: text(line.clock.as_str()),
            text: text(&line.action),
            duration_ms: line.elapsed_ms,
            ..row
        },
        Some(OwnLine::Exit(line)) => Row {
            target: own(line.completed_by),
            duration_ms: line.duration_ms,
            ..row
        },
        _ => row,
    }
}

fn joined(first: &str, second: Option<&str>) -> String {
    second.map_or_else(|| first.to_owned(), |second| format!("{first}: {second}"))
}
