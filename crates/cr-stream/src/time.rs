//! The form of a time in a line.

use jiff::Timestamp;

/// The current time: RFC 3339, UTC, with milliseconds.
pub fn now() -> String {
    timestamp(Timestamp::now())
}

/// A moment in the same form.
pub fn timestamp(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_has_milliseconds_and_is_utc() {
        let time = now();
        assert_eq!(time.len(), "2026-11-18T01:54:43.123Z".len(), "{time}");
        assert!(time.ends_with('Z') && time.as_bytes()[19] == b'.', "{time}");
    }
}
