//! Text of an agent in a Markdown page: it is shown as it is, and is no Markdown, no
//! HTML and no terminal escape.

/// `text` on one line, with all that Markdown gives a meaning escaped.
pub(crate) fn escaped(text: &str) -> String {
    let text = cr_io::sanitized(text.trim());
    let mut out = String::with_capacity(text.len());
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let after = text[at + c.len_utf8()..].chars().next().unwrap_or(' ');
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '`' | '*' | '[' | ']' | '#' | '|' | '~' | '$' => out.extend(['\\', c]),
            // Within a word it is only a letter.
            '_' if !(before.is_alphanumeric() && after.is_alphanumeric()) => out.push_str("\\_"),
            // The beginning of a list, a rule or a heading.
            '-' | '+' | '=' if at == 0 => out.extend(['\\', c]),
            '.' | ')' if at == digits && digits > 0 => out.extend(['\\', c]),
            // Neither a name nor an address of which a site makes a link.
            '@' => out.push_str("&#64;"),
            ':' if text[at..].starts_with("://") => out.push_str("&#58;"),
            c => out.push(c),
        }
        before = c;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_agent_says_is_no_markdown() {
        for (text, expected) in [
            (
                "fix: plain words, 1.5 (x) a_b",
                "fix: plain words, 1.5 (x) a_b",
            ),
            ("![x](y)", "!\\[x\\](y)"),
            ("<script>&", "&lt;script&gt;&amp;"),
            ("`a` *b* _c_", "\\`a\\` \\*b\\* \\_c\\_"),
            ("# a | b", "\\# a \\| b"),
            ("- a - b", "\\- a - b"),
            ("12. a 3.", "12\\. a 3."),
            ("https://x @y", "https&#58;//x &#64;y"),
        ] {
            assert_eq!(escaped(text), expected);
        }
        let shown = escaped("a\n\n# b\x1b[2J\u{202e}");
        assert!(!shown.contains(['\n', '\x1b', '\u{202e}']), "{shown}");
        assert_eq!(escaped(""), "");
    }
}
