//! The fields of a tool's input.

use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The fields of a JSON object, duplicates included. Nothing but one strict
/// JSON object is read as one.
pub(crate) struct Input(Vec<(String, Box<RawValue>)>);

impl Input {
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let mut json = serde_json::Deserializer::from_slice(bytes);
        let fields = json.deserialize_map(Fields).ok()?;
        json.end().ok()?;
        Some(Self(fields))
    }

    /// Whether two fields have one name. Readers differ in which they take.
    pub(crate) fn has_duplicates(&self) -> bool {
        let mut names: Vec<&str> = self.names().collect();
        names.sort_unstable();
        names.windows(2).any(|pair| pair[0] == pair[1])
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// Every field `name`, decoded; `None` in place of what is not a string.
    pub(crate) fn texts(&self, name: &str) -> Vec<Option<String>> {
        let fields = self.0.iter().filter(|(field, _)| field == name);
        let text = |value: &RawValue| serde_json::from_str(value.get()).ok();
        fields.map(|(_, value)| text(value)).collect()
    }

    /// The string in the one field `name`.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        let mut texts = self.texts(name);
        let text = texts.pop()?;
        if texts.is_empty() { text } else { None }
    }
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = Vec<(String, Box<RawValue>)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_strict_object_is_read() {
        #[rustfmt::skip]
        let broken: &[&[u8]] = &[
            b"", b"[]", b"null", b"\"x\"", b"{", b"{}x", b"{} {}", b"{\"a\":}", b"{\"a\":[}",
            b"{\"a\":{\"b\"}}", b"{a:1}", b"{\"a\":1,}", b"{\"a\":\"\xff\"}", b"{\"\\ud800\":1}",
            b"{\"a\":01}", b"{\"a\":\"\n\"}", b"\xef\xbb\xbf{}", b"{\"a\":tru}",
        ];
        for bytes in broken {
            assert!(
                Input::read(bytes).is_none(),
                "{}",
                String::from_utf8_lossy(bytes)
            );
        }
        assert!(Input::read(b" {} ").is_some());
    }

    #[test]
    fn names_and_texts_are_decoded_and_duplicates_kept() {
        let input = Input::read(br#"{"comm\u0061nd":"\u0072m","command":1,"x":{}}"#);
        let input = input.expect("an object");
        assert_eq!(input.texts("command"), [Some("rm".to_owned()), None]);
        assert_eq!(input.text("command"), None);
        assert!(input.has_duplicates());
        let input = Input::read(br#"{"a":"\ud800","b":"\ud83d\ude00"}"#).expect("an object");
        assert_eq!(input.text("a"), None);
        assert_eq!(input.text("b").as_deref(), Some("\u{1f600}"));
        assert!(!input.has_duplicates());
    }
}
