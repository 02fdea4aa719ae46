//! JSON whose objects keep their order.

use std::fmt;

/// A value.
#[derive(Clone, Debug)]
pub(crate) enum Json {
    /// As it is written.
    Raw(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub(crate) fn text(text: &str) -> Self {
        Self::Raw(serde_json::Value::from(text).to_string())
    }

    pub(crate) fn texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        Self::List(texts.into_iter().map(Self::text).collect())
    }

    pub(crate) fn object<const N: usize>(entries: [(&str, Self); N]) -> Self {
        Self::Object(entries.map(|(key, value)| (key.to_owned(), value)).into())
    }

    /// Adds an entry to an object.
    pub(crate) fn set(&mut self, key: &str, value: Self) {
        if let Self::Object(entries) = self {
            entries.push((key.to_owned(), value));
        }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, indent: usize) -> fmt::Result {
        match self {
            Self::Raw(text) => f.write_str(text),
            Self::List(list) => {
                f.write_str("[")?;
                for (i, value) in list.iter().enumerate() {
                    f.write_str(if i == 0 { "" } else { ", " })?;
                    value.write(f, indent + 1)?;
                }
                f.write_str("]")
            }
            Self::Object(entries) if entries.is_empty() => f.write_str("{}"),
            Self::Object(entries) => {
                let mut before = "{";
                for (key, value) in entries {
                    write!(
                        f,
                        "{before}\n{:indent$}{}: ",
                        "",
                        Self::text(key),
                        indent = indent + 1
                    )?;
                    value.write(f, indent + 1)?;
                    before = ",";
                }
                write!(f, "\n{:indent$}}}", "")
            }
        }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}
