//! Ids in the form of a UUID, which the agent takes as keys of sessions and
//! messages.

use rustix::rand::{GetRandomFlags, getrandom};

/// A new random id (version 4).
pub fn random() -> std::io::Result<String> {
    let mut bytes = [0_u8; 16];
    let mut filled = 0;
    while filled < bytes.len() {
        filled += getrandom(&mut bytes[filled..], GetRandomFlags::empty())?;
    }
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let mut text = String::with_capacity(36);
    for (index, byte) in bytes.iter().enumerate() {
        if [4, 6, 8, 10].contains(&index) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    Ok(text)
}

/// Whether `text` has the form of a UUID.
pub fn is_uuid(text: &str) -> bool {
    let lengths = text.split('-').map(str::len);
    lengths.eq([8, 4, 4, 4, 12]) && text.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_random_id_is_a_uuid_and_no_two_are_equal() {
        let (one, two) = (random().expect("random"), random().expect("random"));
        assert!(is_uuid(&one) && is_uuid(&two) && one != two);
        assert_eq!(&one[14..15], "4");
    }

    #[test]
    fn other_texts_are_not() {
        for text in ["", "x", "6f0e", "g0000000-0000-4000-8000-000000000000"] {
            assert!(!is_uuid(text), "{text}");
        }
    }
}
