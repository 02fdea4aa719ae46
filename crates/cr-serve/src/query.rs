//! The words after `?` of an address.

/// The value of `key` in a query, with its escapes resolved.
pub(crate) fn value(query: &str, key: &str) -> Option<String> {
    let mut pairs = query
        .split('&')
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs
        .find(|(name, _)| *name == key)
        .map(|(_, value)| decode(value))
}

fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let hex = bytes.get(at + 1..at + 3).filter(|_| byte == b'%');
        let hex = hex.and_then(|hex| std::str::from_utf8(hex).ok());
        let number = hex.filter(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
        if let Some(number) = number.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            out.push(number);
            at += 3;
        } else {
            out.push(if byte == b'+' { b' ' } else { byte });
            at += 1;
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_by_its_key_and_unescaped() {
        let query = "run=a&kinds=cr%2Fask,x&q=a+b%20%C3%A9&odd=%zz%4&flag";
        assert_eq!(value(query, "kinds").as_deref(), Some("cr/ask,x"));
        assert_eq!(value(query, "q").as_deref(), Some("a b é"));
        assert_eq!(value(query, "odd").as_deref(), Some("%zz%4"));
        assert_eq!(value(query, "flag").as_deref(), Some(""));
        assert_eq!(value(query, "un"), None);
    }
}
