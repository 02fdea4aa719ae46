//! Bytes from git as text in our lines.
//!
//! Names and subjects are any bytes. A line is UTF-8, so they are shown as far
//! as they can be, and a path that cannot is also given whole in base64.

use std::sync::LazyLock;

use cr_io::{Redactor, first_chars};

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Longest subject that is shown.
const SUBJECT: usize = 200;

/// A path as text, and its bytes where text does not do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) path: String,
    pub(crate) path_b64: Option<String>,
}

impl Name {
    /// The name to show for `path`.
    pub(crate) fn of(path: &[u8]) -> Self {
        let text = shown(path);
        let hidden = *text != *String::from_utf8_lossy(path);
        Self {
            // Base64 would give away what was masked.
            path_b64: (!hidden && str::from_utf8(path).is_err()).then(|| base64(path)),
            path: text,
        }
    }
}

/// `bytes` as text for a line, secrets masked: everything that we compose
/// passes here.
pub(crate) fn shown(bytes: &[u8]) -> String {
    static REDACTOR: LazyLock<Redactor> = LazyLock::new(Redactor::from_env);
    let text = String::from_utf8_lossy(bytes);
    REDACTOR.redact(&text).into_owned()
}

/// A commit's subject as text, not longer than a line of a terminal or two.
pub(crate) fn subject(bytes: &[u8]) -> String {
    let text = shown(bytes);
    match first_chars(&text, SUBJECT) {
        (start, true) => format!("{start}…"),
        (_, false) => text,
    }
}

/// The first seven digits of a commit's id.
pub(crate) fn short(id: &str) -> String {
    first_chars(id, 7).0.to_owned()
}

/// `bytes` in base64 with padding.
pub(crate) fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |i: usize| u32::from(group.get(i).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * i)) as usize & 63];
            text.push(if i <= group.len() { digit.into() } else { '=' });
        }
    }
    text
}

/// The bytes that `text` stands for, `None` if it is no base64.
pub(crate) fn unbase64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=').as_bytes();
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    for group in digits.chunks(4) {
        let mut bits = 0_u32;
        for &digit in group {
            let value = DIGITS.iter().position(|&d| d == digit)?;
            bits = bits << 6 | u32::try_from(value).ok()?;
        }
        bits <<= 6 * (4 - group.len());
        bytes.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_any_bytes_comes_back() {
        assert_eq!(base64(b"foobar"), "Zm9vYmFy");
        assert_eq!(base64(b"fooba"), "Zm9vYmE=");
        assert_eq!(base64(b"foob"), "Zm9vYg==");
        let bytes: Vec<u8> = (0..=255).collect();
        for length in 0..bytes.len() {
            let text = base64(&bytes[..length]);
            assert_eq!(unbase64(&text).as_deref(), Some(&bytes[..length]));
        }
        assert_eq!(unbase64("a b"), None);
    }

    #[test]
    fn only_a_name_that_is_no_text_has_its_bytes_beside_it() {
        assert_eq!(Name::of("ä\n".as_bytes()).path_b64, None);
        let name = Name::of(b"a\xff");
        assert_eq!(name.path, "a\u{fffd}");
        assert_eq!(name.path_b64.as_deref(), Some("Yf8="));
    }

    #[test]
    fn a_long_subject_is_cut_between_characters() {
        let text = subject("ä".repeat(300).as_bytes());
        assert_eq!(text.chars().count(), SUBJECT + 1);
        assert_eq!(subject(b"short"), "short");
    }
}
