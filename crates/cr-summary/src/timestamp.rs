//! A moment in the summary: RFC 3339, UTC, always with milliseconds.

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serializer};

#[expect(clippy::ref_option, reason = "serde calls it so")]
pub(crate) fn serialize<S: Serializer>(
    at: &Option<Timestamp>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match at {
        Some(at) => serializer.collect_str(&at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ")),
        None => serializer.serialize_none(),
    }
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Timestamp>, D::Error> {
    Option::deserialize(deserializer)
}
