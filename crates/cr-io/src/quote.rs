//! Quoting for a shell: a command that a person pastes must keep its meaning.

/// `word` as one word of a POSIX shell. `None` for a NUL byte, which no
/// argument can hold.
///
/// ```
/// use cr_io::quote;
///
/// assert_eq!(quote("plain-1.2/x").as_deref(), Some("plain-1.2/x"));
/// assert_eq!(quote("it's $HOME").as_deref(), Some(r"'it'\''s $HOME'"));
/// ```
pub fn quote(word: &str) -> Option<String> {
    if word.contains('\0') {
        return None;
    }
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"_-./:@%+,".contains(&b);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return Some(word.to_owned());
    }
    Some(format!("'{}'", word.replace('\'', r"'\''")))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn every_shell_reads_back_the_word_that_was_quoted() {
        let words = [
            "",
            " ",
            "a b",
            "'",
            "''",
            "\"",
            "$(touch x)",
            "`id`",
            "!!",
            "!x",
            "\\",
            "\\'",
            "a\nb",
            "-n",
            "--",
            "*",
            "~",
            "~root",
            "#x",
            "a;b",
            "a&b",
            "a|b",
            "a>b",
            "{a,b}",
            "[a]",
            "\t",
            "größe",
            "\u{1b}[2J",
            "=x",
            "a=b",
            "\r",
            "%s",
            "\u{2028}",
        ];
        for shell in ["sh", "dash", "bash"] {
            for word in words {
                let script = format!("printf '%s' {}", quote(word).expect("no NUL"));
                let Ok(output) = Command::new(shell).arg("-c").arg(script).output() else {
                    continue;
                };
                assert_eq!(output.stdout, word.as_bytes(), "{shell}: {word:?}");
            }
        }
        assert_eq!(quote("a\0b"), None);
    }
}
