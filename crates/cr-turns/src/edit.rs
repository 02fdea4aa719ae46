//! Fields that are set in a text of JSON; everything else stays as it is written.

use std::ops::Range;

use serde_json::value::RawValue;

use crate::input::{TaskText, offset};

/// A part of a text, and what replaces it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    place: Range<usize>,
    new: String,
}

/// `text` with all edits, which are in the order of the text.
pub(crate) fn edited(text: &str, edits: &[Edit]) -> String {
    let mut new = String::with_capacity(text.len() + 64 * edits.len());
    let mut from = 0;
    for edit in edits {
        new += &text[from..edit.place.start];
        new += &edit.new;
        from = edit.place.end;
    }
    new += &text[from..];
    new
}

/// The edits that set `fields` of a task of `text`. A field that it has is
/// replaced, another is added at the end.
pub(crate) fn set(text: &str, task: &TaskText<'_>, fields: &[(&str, String)]) -> Vec<Edit> {
    let mut edits = Vec::new();
    let style = Style::of(text, task);
    let mut added = String::new();
    for (name, value) in fields {
        if let Some(old) = task.object.get(name) {
            edits.push(Edit {
                place: place(text, old),
                new: value.clone(),
            });
        } else {
            let is_first = task.object.fields.is_empty() && added.is_empty();
            let comma = if is_first { "" } else { "," };
            let Style { lead, blank } = style;
            added += &format!("{comma}{lead}\"{name}\":{blank}{value}");
        }
    }
    let last = task.object.fields.last();
    // After the last value, or after the brace.
    let end = last.map_or(task.at + 1, |(_, value)| place(text, value).end);
    edits.push(Edit {
        place: end..end,
        new: added,
    });
    edits.sort_by_key(|edit| (edit.place.start, edit.place.end));
    edits
}

fn place(text: &str, value: &RawValue) -> Range<usize> {
    let start = offset(text, value);
    start..start + value.get().len()
}

/// How a text is laid out.
#[derive(Clone, Copy, Debug, Default)]
struct Style<'a> {
    /// What is before the name of a field.
    lead: &'a str,
    /// What is before its value.
    blank: &'a str,
}

impl<'a> Style<'a> {
    fn of(text: &'a str, task: &TaskText<'a>) -> Self {
        let Some((_, first)) = task.object.fields.first() else {
            return Self::default();
        };
        let inside = &task.json[1..];
        let lead = &inside[..inside.len() - inside.trim_start().len()];
        let before = &text[..offset(text, first)];
        let blank = &before[before.trim_end_matches(' ').len()..];
        let is_on_lines = lead.contains('\n');
        Self {
            lead: if is_on_lines { lead } else { blank },
            blank,
        }
    }
}
