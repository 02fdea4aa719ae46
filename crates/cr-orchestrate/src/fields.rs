//! Reads the fields of a task; everything that is wrong is noted.

use std::fmt::Display;

use serde_json::{Map, Value};

use crate::task::Commit;

/// The longest id.
const MAX_ID_LENGTH: usize = 64;

/// Whether `id` may become part of a file's name.
pub(crate) fn is_id(id: &str) -> bool {
    cr_rundir::RunId::parse(id).is_some() && id.len() <= MAX_ID_LENGTH
}

/// Reads the fields of one task; errors go to `errors`.
pub(crate) struct Fields<'a> {
    pub(crate) origin: String,
    pub(crate) map: Map<String, Value>,
    pub(crate) errors: &'a mut Vec<String>,
}

impl Fields<'_> {
    pub(crate) fn wrong(&mut self, what: impl Display) {
        self.errors.push(format!("{}: {what}", self.origin));
    }

    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        let value = self.map.remove(name).filter(|value| !value.is_null())?;
        // A prompt is a file's, the rest becomes part of a command line.
        let texts = value
            .as_array()
            .map_or(std::slice::from_ref(&value), Vec::as_slice);
        let mut texts = texts.iter().filter_map(Value::as_str);
        if name != "prompt" && texts.any(|text| text.contains('\0')) {
            self.wrong(format_args!("{name}: contains a NUL byte"));
            return None;
        }
        Some(value)
    }

    pub(crate) fn text(&mut self, name: &str) -> Option<String> {
        match self.take(name)? {
            Value::String(text) if text.trim().is_empty() => {
                self.wrong(format_args!("{name}: empty"));
                None
            }
            Value::String(text) => Some(text),
            Value::Number(number) if name == "id" => Some(number.to_string()),
            _ => {
                self.wrong(format_args!("{name}: expected text"));
                None
            }
        }
    }

    /// A list of texts; a single one may stand alone.
    pub(crate) fn list(&mut self, name: &str) -> Option<Vec<String>> {
        let values = match self.take(name)? {
            Value::Array(values) => values,
            value => vec![value],
        };
        let mut list = Vec::new();
        for value in values {
            match value {
                Value::String(text) if !text.trim().is_empty() => list.push(text),
                Value::Number(number) if name == "depends_on" => list.push(number.to_string()),
                _ => self.wrong(format_args!("{name}: expected a list of texts")),
            }
        }
        Some(list)
    }

    pub(crate) fn number(&mut self, name: &str, least: u64) -> Option<u64> {
        let number = self.take(name)?.as_u64().filter(|&number| number >= least);
        if number.is_none() {
            self.wrong(format_args!("{name}: expected a whole number from {least}"));
        }
        number
    }

    pub(crate) fn dollars(&mut self, name: &str) -> Option<f64> {
        let number = self.take(name)?.as_f64().filter(|&number| number > 0.0);
        if number.is_none() {
            self.wrong(format_args!("{name}: expected dollars, more than 0"));
        }
        number
    }

    /// Seconds, from a number or a text such as 2h30m.
    pub(crate) fn seconds(&mut self, name: &str) -> Option<f64> {
        let text = match self.take(name)? {
            Value::Number(number) => number.to_string(),
            Value::String(text) => text,
            _ => "no text".to_owned(),
        };
        match cr_io::parse_duration(&text) {
            Ok(duration) => Some(duration.as_secs_f64()),
            Err(err) => {
                self.wrong(format_args!("{name}: {err}"));
                None
            }
        }
    }

    pub(crate) fn flag(&mut self, name: &str) -> Option<bool> {
        let flag = self.take(name)?.as_bool();
        if flag.is_none() {
            self.wrong(format_args!("{name}: expected true or false"));
        }
        flag
    }

    pub(crate) fn commit(&mut self, name: &str) -> Option<Commit> {
        let commit = serde_json::from_value(self.take(name)?).ok();
        if commit.is_none() {
            self.wrong(format_args!("{name}: expected required, optional or none"));
        }
        commit
    }

    /// The id of the task; errors about the other fields name it.
    pub(crate) fn id(&mut self) -> Option<String> {
        let id = self.text("id");
        match &id {
            None => self.wrong("no id"),
            Some(id) if !is_id(id) => self.wrong(format_args!(
                "id `{}`: 1 to {MAX_ID_LENGTH} letters, digits, dots, dashes and underlines, \
                 the first a letter or a digit, no two dots together",
                cr_io::sanitized(id)
            )),
            Some(_) => {}
        }
        let shown = cr_io::sanitized(id.as_deref().unwrap_or_default());
        self.origin = format!("{} (`{shown}`)", self.origin);
        id
    }

    /// A field that was not taken is an error.
    pub(crate) fn finish(mut self) {
        let unknown: Vec<String> = self.map.keys().cloned().collect();
        for name in unknown {
            let name = cr_io::sanitized(&name);
            self.wrong(format_args!("no field is called `{name}`"));
        }
    }
}
