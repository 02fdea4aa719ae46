//! JSON objects with their fields in the order of the real CLI.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::value::RawValue;

/// JSON that is written as it is.
pub(crate) type Json = Box<RawValue>;

/// A JSON object under construction.
#[derive(Debug, Default)]
pub(crate) struct Object(String);

impl Object {
    /// Adds a field.
    pub(crate) fn put<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) {
        let value = serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned());
        let comma = if self.0.is_empty() { "" } else { "," };
        let _ = write!(self.0, "{comma}\"{key}\":{value}");
    }

    /// Adds a field, if there is a value.
    pub(crate) fn put_some<T: Serialize>(&mut self, key: &str, value: Option<&T>) {
        if let Some(value) = value {
            self.put(key, value);
        }
    }

    /// The finished object.
    pub(crate) fn json(self) -> Json {
        raw(format!("{{{}}}", self.0))
    }
}

/// `text`, which is JSON, as a value.
pub(crate) fn raw(text: String) -> Json {
    RawValue::from_string(text).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// Any value as JSON.
pub(crate) fn json<T: Serialize + ?Sized>(value: &T) -> Json {
    serde_json::value::to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// `object! { "key": value, … }`, an [`Object`] with these fields.
macro_rules! object {
    () => { $crate::agent::object::Object::default() };
    ($($key:literal : $value:expr),+ $(,)?) => {{
        let mut object = $crate::agent::object::Object::default();
        $(object.put($key, &$value);)+
        object
    }};
}

pub(crate) use object;
