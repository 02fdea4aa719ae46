//! Times as milliseconds since 1970.

use jiff::Timestamp;

/// The time in milliseconds.
pub fn to_ms(time: Timestamp) -> i64 {
    time.as_millisecond()
}

/// The time; `None` outside of the years that there are.
pub fn from_ms(ms: i64) -> Option<Timestamp> {
    Timestamp::from_millisecond(ms).ok()
}
