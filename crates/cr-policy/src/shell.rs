//! The simple commands of a command line, for the part of the grammar of bash
//! in which every word is what it looks like.
//!
//! The result of anything else is `None`. That is no judgement about the text:
//! it means that this reader cannot say what bash would run.

use crate::program;

/// A word after its quotes are removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The word; as it was written where it has a pattern or a `~`.
    pub text: String,
    /// Whether bash can put other text in its place: file names or a home.
    pub expands: bool,
}

/// The words of every simple command in `text`, in order. `None` if bash could
/// do anything else with `text` than to run these commands, each of them or,
/// after `&&` and `||`, some of them.
pub fn simple_commands(text: &str) -> Option<Vec<Vec<Word>>> {
    let mut lexer = Lexer {
        text,
        at: 0,
        commands: Vec::new(),
        words: Vec::new(),
        needs_command: false,
    };
    lexer.list()?;
    (!lexer.commands.is_empty()).then_some(lexer.commands)
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    commands: Vec<Vec<Word>>,
    words: Vec<Word>,
    /// After `&&`, `||` and `|`.
    needs_command: bool,
}

impl Lexer<'_> {
    fn list(&mut self) -> Option<()> {
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' => self.at += 1,
                b'\n' if self.words.is_empty() => self.at += 1,
                b'\n' | b';' => self.end_command(1, false)?,
                b'&' => self.joined("&&")?,
                b'|' if self.rest().starts_with("||") => self.joined("||")?,
                b'|' if self.rest().starts_with("|&") => return None,
                b'|' => self.joined("|")?,
                _ if self.is_error_to_output() => self.at += "2>&1".len(),
                _ => self.word()?,
            }
        }
        if !self.words.is_empty() {
            self.end_command(0, false)?;
        }
        (!self.needs_command).then_some(())
    }

    fn joined(&mut self, operator: &str) -> Option<()> {
        self.rest().starts_with(operator).then_some(())?;
        self.end_command(operator.len(), true)
    }

    /// Ends the command and goes behind its operator of `length` bytes.
    fn end_command(&mut self, length: usize, needs_command: bool) -> Option<()> {
        let (first, further) = self.words.split_first()?;
        let further = further.iter().map(|word| &word.text);
        if program::is_evaluated(&first.text, further) {
            return None;
        }
        self.commands.push(std::mem::take(&mut self.words));
        self.needs_command = needs_command;
        self.at += length;
        Some(())
    }

    /// Whether `2>&1` comes next, as a token of its own: the one redirection that
    /// opens no file.
    fn is_error_to_output(&self) -> bool {
        let after = self.rest().strip_prefix("2>&1");
        let is_alone = after.is_some_and(|rest| rest.bytes().next().is_none_or(ends_word));
        is_alone && !self.words.is_empty()
    }

    fn word(&mut self) -> Option<()> {
        let mut word = Word {
            text: String::new(),
            expands: false,
        };
        let mut is_quoted = false;
        while let Some(byte) = self.peek().filter(|&byte| !ends_word(byte)) {
            match byte {
                b'\'' | b'"' => {
                    is_quoted = true;
                    word.text.push_str(self.quoted(byte)?);
                    continue;
                }
                b'*' | b'?' | b'[' | b']' | b'~' => word.expands = true,
                // zsh expands `=name`.
                b'=' | b'^' if word.text.is_empty() && !is_quoted => return None,
                byte if is_plain(byte) => {}
                _ => return None,
            }
            word.text.push(char::from(byte));
            self.at += 1;
        }
        let is_program = || !is_quoted && !word.expands && is_program(&word.text);
        if self.words.is_empty() && !is_program() {
            return None;
        }
        self.words.push(word);
        Some(())
    }

    /// The text between the quote here and the next one.
    fn quoted(&mut self, quote: u8) -> Option<&str> {
        let start = self.at + 1;
        let rest = self.text.get(start..)?;
        let length = rest.find(char::from(quote))?;
        let inner = &rest[..length];
        self.at = start + length + 1;
        let is_literal = |byte: u8| match byte {
            b'$' | b'`' | b'\\' | b'!' => quote == b'\'',
            b'\n' | b'\t' => true,
            byte => !byte.is_ascii_control(),
        };
        inner.bytes().all(is_literal).then_some(inner)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// What is left. `at` is never inside a character: only ASCII is stepped over
    /// byte by byte.
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }
}

fn ends_word(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|')
}

/// Whether `byte` stands for itself outside quotes. Others than ASCII do not:
/// some locales have blanks among them.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-./:,+@%=^".contains(&byte)
}

/// Whether `word`, as the first of a command, is the name of a program or of a
/// command of the shell that runs no other one.
fn is_program(word: &str) -> bool {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./+".contains(&byte);
    word.bytes().all(is_name) && !program::is_reserved(word) && !program::is_wrapper(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Option<Vec<Vec<String>>> {
        let commands = simple_commands(text)?;
        let texts = |words: Vec<Word>| words.into_iter().map(|word| word.text).collect();
        Some(commands.into_iter().map(texts).collect())
    }

    #[test]
    fn lists_and_pipelines_are_taken_apart() {
        #[rustfmt::skip]
        let cases: &[(&str, &[&[&str]])] = &[
            ("git status",                   &[&["git", "status"]]),
            ("  git\t status  ",             &[&["git", "status"]]),
            ("\n\ngit status\n\n",           &[&["git", "status"]]),
            ("git status;",                  &[&["git", "status"]]),
            ("a && b || c | d; e\nf",        &[&["a"], &["b"], &["c"], &["d"], &["e"], &["f"]]),
            ("a &&\n\n b",                   &[&["a"], &["b"]]),
            ("a|b",                          &[&["a"], &["b"]]),
            ("a;b",                          &[&["a"], &["b"]]),
            ("a ''",                         &[&["a", ""]]),
            ("a 'b c'd\"e f\"",              &[&["a", "b cde f"]]),
            ("a '$(x)`y`\\'",                &[&["a", "$(x)`y`\\"]]),
            ("a \"b;c && d\"",               &[&["a", "b;c && d"]]),
            ("a \"b\nc\"",                   &[&["a", "b\nc"]]),
            ("a 'ü €'",                      &[&["a", "ü €"]]),
            ("a 2>&1 | b 2>&1",              &[&["a"], &["b"]]),
            ("a 2>&1&& b",                   &[&["a"], &["b"]]),
            ("a HEAD^ HEAD~1 --x=y",         &[&["a", "HEAD^", "HEAD~1", "--x=y"]]),
            ("./a/b.sh x",                   &[&["./a/b.sh", "x"]]),
        ];
        for (text, wanted) in cases {
            let wanted: Vec<Vec<String>> = wanted
                .iter()
                .map(|words| words.iter().map(|&word| word.to_owned()).collect())
                .collect();
            assert_eq!(words(text), Some(wanted), "{text:?}");
        }
    }

    #[test]
    fn patterns_and_homes_are_marked() {
        for text in ["a *.rs", "a b?", "a [x]", "a ~", "a ~/x", "a x=~"] {
            let commands = simple_commands(text).expect("understood");
            assert!(commands[0][1].expands, "{text}");
        }
        let commands = simple_commands("a '*.rs' \"~\"").expect("understood");
        assert!(!commands[0].iter().any(|word| word.expands));
    }

    #[test]
    fn what_is_not_understood_is_refused_as_a_whole() {
        #[rustfmt::skip]
        let cases = [
            "", " ", ";", "&", "|", "a &", "a && ", "a ||", "a |", "a |& b", "&& a", "a ;; b",
            "a ; ; b", "a &&& b", "a ||| b", "a $x", "a ${x}", "a $(b)", "a `b`", "a \"$x\"",
            "a \"`b`\"", "a \"\\\"\"", "a \\b", "a \\", "a \\\n b", "a 'b", "a \"b", "a > b", "a >b",
            "a < b", "a << b", "a <<< b", "a <(b)", "a >(b)", "a 2> b", "a 2>&1b", "a 2>&1-",
            "a 2>&1&", "a b2>&1", "2>&1 a", "a >& b", "a &> b", "(a)", "a (b)", "{ a; }", "a {b,c}",
            "a#b", "# a", "a # b", "! a", "a !b", "a \"!b\"", "a\r", "a \r b", "a\0", "a 'b\0'",
            "a \u{1}", "a 'b\u{7f}'", "a\u{a0}b", "a \u{2003}b", "ä", "a ü", "a=b c", "a+=b c",
            "'a' b", "\"a\" b", "a\"\" b", "a* b", "~/a b", "if a; then b; fi", "for a in b; do c; done",
            "while a; do b; done", "time a", "coproc a", "a; }", "[[ a ]]", "[ a ]", "function a",
            "env a", "sudo a", "sh -c a", "eval a", "exec a", "command a", ". a", "source a",
            "xargs a", "/usr/bin/env a", "a | sh", "a =b", "a ^b", "a $'b'", "a $\"b\"", "unset 'a[$(b)]'", "read a", "export A=b",
            "test -v 'a[$(b)]'", "printf -v 'a[$(b)]' c", "printf -va b", "let 1",
        ];
        for text in cases {
            assert_eq!(words(text), None, "{text:?}");
        }
    }
}
