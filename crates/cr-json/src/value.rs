//! Strict JSON in a text: where a value ends, or where it breaks.

/// Why there is no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Broken {
    /// The byte that does not belong there.
    pub(crate) at: usize,
    /// A `:` or `,` was passed, so JSON was meant.
    pub(crate) is_meant: bool,
}

/// The end of the value that starts at `start`, after blanks, by RFC 8259 and
/// at any depth: the open containers are on the heap.
pub(crate) fn value(text: &str, start: usize) -> Result<usize, Broken> {
    let mut walk = Walk {
        bytes: text.as_bytes(),
        at: start,
        is_meant: false,
    };
    // The bracket that closes each container that is open.
    let mut open = Vec::new();
    loop {
        walk.blanks();
        match walk.peek() {
            Some(b'{') => {
                walk.at += 1;
                if !walk.takes(b'}') {
                    walk.key()?;
                    open.push(b'}');
                    continue;
                }
            }
            Some(b'[') => {
                walk.at += 1;
                if !walk.takes(b']') {
                    open.push(b']');
                    continue;
                }
            }
            _ => walk.scalar()?,
        }
        // A value is over, and maybe others with it.
        loop {
            let Some(&closing) = open.last() else {
                return Ok(walk.at);
            };
            if walk.takes(closing) {
                open.pop();
                continue;
            }
            walk.separator(b',')?;
            if closing == b'}' {
                walk.key()?;
            }
            break;
        }
    }
}

struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    is_meant: bool,
}

impl Walk<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.peek() {
            self.at += 1;
        }
    }

    /// Consumes `byte` after blanks, if it is next.
    fn takes(&mut self, byte: u8) -> bool {
        self.blanks();
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn separator(&mut self, byte: u8) -> Result<(), Broken> {
        if !self.takes(byte) {
            return self.fail();
        }
        self.is_meant = true;
        Ok(())
    }

    fn key(&mut self) -> Result<(), Broken> {
        self.blanks();
        if self.peek() != Some(b'"') {
            return self.fail();
        }
        self.string()?;
        self.separator(b':')
    }

    fn scalar(&mut self) -> Result<(), Broken> {
        match self.peek() {
            Some(b'"') => self.string(),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => {
                let words = ["true", "false", "null"].iter();
                let rest = &self.bytes[self.at..];
                let mut found = words.filter(|word| rest.starts_with(word.as_bytes()));
                let Some(word) = found.next() else {
                    return self.fail();
                };
                self.at += word.len();
                self.word_ends()
            }
        }
    }

    fn string(&mut self) -> Result<(), Broken> {
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => {
                    self.at += 1;
                    self.escape()?;
                }
                None | Some(0..=0x1f) => return self.fail(),
                Some(_) => self.at += 1,
            }
        }
    }

    fn escape(&mut self) -> Result<(), Broken> {
        let digits = match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 0,
            Some(b'u') => 4,
            _ => return self.fail(),
        };
        self.at += 1;
        for _ in 0..digits {
            if !self.peek().is_some_and(|b| b.is_ascii_hexdigit()) {
                return self.fail();
            }
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), Broken> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        self.word_ends()
    }

    fn digits(&mut self) -> Result<(), Broken> {
        let start = self.at;
        while self.peek().is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start {
            return self.fail();
        }
        Ok(())
    }

    /// `42nd` and `nullable` are no values.
    fn word_ends(&self) -> Result<(), Broken> {
        let goes_on = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'+' | b'-');
        if self.peek().is_some_and(goes_on) {
            return self.fail();
        }
        Ok(())
    }

    fn fail<T>(&self) -> Result<T, Broken> {
        Err(Broken {
            at: self.at,
            is_meant: self.is_meant,
        })
    }
}

/// Whether `text` is one value, with nothing but blanks around it.
pub fn is_value(text: &str) -> bool {
    value(text, 0).is_ok_and(|end| text[end..].bytes().all(|b| b.is_ascii_whitespace()))
}

/// Whether the value `json` is an object or an array.
pub(crate) fn is_container(json: &str) -> bool {
    json.starts_with(['{', '['])
}

/// The value `json` without the blanks between its tokens.
pub fn compact(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let (mut in_string, mut is_escaped) = (false, false);
    for c in json.chars() {
        if in_string {
            in_string = c != '"' || is_escaped;
            is_escaped = c == '\\' && !is_escaped;
        } else if matches!(c, ' ' | '\t' | '\r' | '\n') {
            continue;
        } else {
            in_string = c == '"';
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::IgnoredAny;

    fn strict(text: &str) -> bool {
        serde_json::from_str::<IgnoredAny>(text).is_ok()
    }

    /// Random numbers that are the same in every run.
    pub(crate) struct Dice(u64);

    impl Dice {
        fn roll(&mut self, sides: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            usize::try_from(self.0 % 1_000_003).expect("small") % sides
        }
    }

    #[test]
    fn a_value_is_what_a_strict_reader_takes() {
        #[rustfmt::skip]
        let cases = [
            "{}", "[]", "[1,2]", "{\"a\":[{\"b\":null}]}", " [ 1 , -2.5e+3 ] ", "\"\\ud800\"", "\"\\u12\"",
            "01", "1.", ".5", "-", "1e", "1e5", "NaN", "Infinity", "tru", "nullx", "[1,]", "{\"a\":1,}", "{a:1}",
            "{'a':1}", "[1 2]", "{\"a\" 1}", "{\"a\":}", "\"\t\"", "\"\\x\"", "", "  ", "[", "]", "{\"a\":1]", "[}",
            "// x\n1", "[1]/**/", "\u{feff}[]", "[1]\u{a0}", "1e400", "\"é\u{2028}\"", "[[[[]]]]", "-0", "-01", "\"a\\",
        ];
        for text in cases {
            assert_eq!(is_value(text), strict(text), "{text:?}");
        }
    }

    #[test]
    fn chance_finds_no_text_on_which_a_strict_reader_disagrees() {
        let seed =
            r#" {"a":[1,-2.5e+3,"x\"\\\u00e9\n",true,false,null,{"b":{}}],"c":[ [] , {} ]} "#;
        let alphabet: Vec<char> = r#"{}[]":,\ u0123e.+-tfn"#.chars().collect();
        let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
        for _ in 0..40_000 {
            let mut text: Vec<char> = seed.chars().collect();
            for _ in 0..=dice.roll(3) {
                let at = dice.roll(text.len());
                match dice.roll(3) {
                    0 => drop(text.remove(at)),
                    1 => text[at] = alphabet[dice.roll(alphabet.len())],
                    _ => text.insert(at, alphabet[dice.roll(alphabet.len())]),
                }
            }
            let text: String = text.into_iter().collect();
            assert_eq!(is_value(&text), strict(&text), "{text}");
        }
    }

    #[test]
    fn depth_takes_no_stack() {
        let deep = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
        assert!(is_value(&deep));
    }

    #[test]
    fn what_is_compact_has_the_same_tokens() {
        let json = "{ \"a b\" :\r\n\t[ 1.50 , \"x \\\" y\" ] }";
        assert_eq!(compact(json), r#"{"a b":[1.50,"x \" y"]}"#);
    }
}
