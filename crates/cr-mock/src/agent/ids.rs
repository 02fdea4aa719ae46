//! Ids and times in the forms that the real CLI uses.

use std::fmt::Write as _;

use jiff::Timestamp;
use rustix::rand::{GetRandomFlags, getrandom};

/// `count` random bytes as hexadecimal digits.
pub(crate) fn hex(count: usize) -> String {
    let mut bytes = vec![0; count];
    // It cannot fail for so few bytes.
    let _ = getrandom(&mut bytes, GetRandomFlags::empty());
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A random UUID, version 4.
pub(crate) fn uuid() -> String {
    let digits = hex(16);
    format!(
        "{}-{}-4{}-a{}-{}",
        &digits[..8],
        &digits[8..12],
        &digits[13..16],
        &digits[17..20],
        &digits[20..]
    )
}

/// The id of one run of a background task.
pub(crate) fn run_id() -> String {
    format!("0{}-{}", hex(4), hex(4))
}

/// The time now, in milliseconds, as in the CLI's lines.
pub(crate) fn now() -> String {
    Timestamp::now()
        .strftime("%Y-%m-%dT%H:%M:%S.%3fZ")
        .to_string()
}

/// The time now, in milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    Timestamp::now().as_millisecond()
}
