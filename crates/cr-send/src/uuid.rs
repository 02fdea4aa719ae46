//! The ids of messages. The agent takes UUIDs only.

/// `text`, if it is a UUID.
pub(crate) fn parse(text: &str) -> Result<String, String> {
    let parts = text.split('-').map(str::len);
    let is_hex = |b: u8| b == b'-' || b.is_ascii_hexdigit();
    if text.bytes().all(is_hex) && parts.eq([8, 4, 4, 4, 12]) {
        return Ok(text.to_owned());
    }
    Err("not a UUID, as in 6f0e9a52-3c1d-4b7e-9a60-2d5c8f1b7e43".to_owned())
}

/// A random UUID (version 4).
pub(crate) fn random() -> std::io::Result<String> {
    let mut bytes = [0_u8; 16];
    let mut filled = 0;
    while filled < bytes.len() {
        let flags = rustix::rand::GetRandomFlags::empty();
        match rustix::rand::getrandom(&mut bytes[filled..], flags) {
            Ok(count) => filled += count,
            Err(rustix::io::Errno::INTR) => {}
            Err(err) => return Err(err.into()),
        }
    }
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = format!("{:032x}", u128::from_be_bytes(bytes));
    let parts = [
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..],
    ];
    Ok(parts.join("-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_made_id_is_one_that_is_accepted() {
        let id = random().expect("random bytes");
        assert_eq!(parse(&id).as_deref(), Ok(&*id));
        assert_eq!(&id[14..15], "4");
        assert_ne!(random().expect("random bytes"), id);
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "7",
            "6f0e9a52-3c1d-4b7e-9a60-2d5c8f1b7e4g",
            "6f0e9a523c1d-4b7e-9a60-2d5c8f1b7e43-",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
