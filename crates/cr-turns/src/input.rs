//! The tasks in a text: where each of them is, and its fields.

use std::fmt;

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

/// What is wrong with the text, and the byte at which it is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    pub(crate) at: usize,
    pub(crate) cause: String,
}

impl Wrong {
    pub(crate) fn new(at: usize, cause: impl Into<String>) -> Self {
        let cause = cause.into();
        Self { at, cause }
    }
}

/// The fields of an object in their order, each value as it is written.
#[derive(Debug, Default)]
pub(crate) struct Object<'a> {
    pub(crate) fields: Vec<(String, &'a RawValue)>,
}

impl<'a> Object<'a> {
    /// The value of a field; of several with this name the last one counts.
    pub(crate) fn get(&self, name: &str) -> Option<&'a RawValue> {
        let mut last_first = self.fields.iter().rev();
        last_first
            .find(|(key, _)| key == name)
            .map(|(_, value)| *value)
    }
}

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Object<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut object = Object::default();
                while let Some(field) = map.next_entry()? {
                    object.fields.push(field);
                }
                Ok(object)
            }
        }
        from.deserialize_map(Fields)
    }
}

/// One task of a text.
#[derive(Debug)]
pub(crate) struct TaskText<'a> {
    /// Where it begins.
    pub(crate) at: usize,
    /// It, as it is written.
    pub(crate) json: &'a str,
    pub(crate) object: Object<'a>,
}

/// The tasks of `text`: objects one after the other, a list of them, or an object
/// with a list `tasks` or `steps`.
pub(crate) fn tasks(text: &str) -> Result<Vec<TaskText<'_>>, Wrong> {
    let json = text.trim_start_matches('\u{feff}');
    let skipped = text.len() - json.len();
    let begins_as_json = json.trim_start().starts_with(['{', '[']);
    if !begins_as_json && !json.trim().is_empty() {
        let cause = "expected JSON: tasks one after the other, a list, or {\"tasks\": [...]}";
        return Err(Wrong::new(skipped, cause));
    }
    let mut documents = Vec::new();
    let mut reader = serde_json::Deserializer::from_str(json).into_iter::<&RawValue>();
    let mut end = 0;
    while let Some(document) = reader.next() {
        let document = document.map_err(|err| not_json(text, skipped + end, &err))?;
        documents.push(document);
        end = reader.byte_offset();
    }
    if let [document] = documents.as_slice()
        && let Some(list) = list_of(text, document)?
    {
        documents = list;
    }
    documents
        .into_iter()
        .map(|document| {
            let (at, json) = (offset(text, document), document.get());
            let object = object(at, json)?;
            Ok(TaskText { at, json, object })
        })
        .collect()
}

/// Where in `text` the value, which is a part of it, begins.
pub(crate) fn offset(text: &str, value: &RawValue) -> usize {
    value.get().as_ptr() as usize - text.as_ptr() as usize
}

fn object(at: usize, json: &str) -> Result<Object<'_>, Wrong> {
    if !json.starts_with('{') {
        return Err(Wrong::new(at, "expected an object"));
    }
    // It is JSON; only a name that is no text can be wrong.
    serde_json::from_str(json).map_err(|err| Wrong::new(at, words(&err)))
}

/// The values of the list that `document` is, or has as `tasks` or `steps`.
fn list_of<'a>(text: &str, document: &'a RawValue) -> Result<Option<Vec<&'a RawValue>>, Wrong> {
    let at = |value| offset(text, value);
    let list = |value: &'a RawValue| {
        serde_json::from_str::<Vec<&RawValue>>(value.get())
            .map_err(|_| Wrong::new(at(value), "tasks: expected a list"))
    };
    if document.get().starts_with('[') {
        return list(document).map(Some);
    }
    let object = object(at(document), document.get())?;
    match (object.get("tasks"), object.get("steps")) {
        (Some(_), Some(_)) => {
            let cause = "tasks and steps: one of them, not both";
            Err(Wrong::new(at(document), cause))
        }
        (Some(tasks), None) | (None, Some(tasks)) => list(tasks).map(Some),
        (None, None) => Ok(None),
    }
}

/// The error about the value that begins after the byte `end`. The cause names
/// its own place, which may be on a later line.
fn not_json(text: &str, end: usize, err: &serde_json::Error) -> Wrong {
    let rest = &text[end..];
    let begin = end + rest.len() - rest.trim_start().len();
    let cause = if err.is_eof() {
        "it has no end".to_owned()
    } else {
        err.to_string()
    };
    Wrong::new(begin, format!("not JSON: {cause}"))
}

/// The cause without its place.
fn words(err: &serde_json::Error) -> String {
    let text = err.to_string();
    let place = format!(" at line {} column {}", err.line(), err.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}
