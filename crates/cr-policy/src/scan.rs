//! The commands that a text could start, as far as they can be seen.
//!
//! The search errs on the side of finding too many, because it serves rules that
//! deny: a text is read once with its quotes and once without them.

use std::iter::Peekable;
use std::str::Chars;

use crate::program;

/// How deep a text within a text is read.
const DEPTH: u32 = 3;

/// Words that could be a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Started {
    words: Vec<String>,
    /// Whether each word could be the first of a command, not only the first.
    anywhere: bool,
}

impl Started {
    /// Whether the command begins with `rule`: with its program by any path, and
    /// then its other words in this order, with any words between them.
    pub(crate) fn is(&self, rule: &[String]) -> bool {
        let Some((program, further)) = rule.split_first() else {
            return false;
        };
        let program = program::name_of(program);
        let most = if self.anywhere { self.words.len() } else { 1 };
        let mut candidates = self.words.iter().take(most);
        let Some(at) = candidates.position(|word| program::name_of(word) == program) else {
            return false;
        };
        let mut words = self.words[at + 1..].iter();
        further
            .iter()
            .all(|wanted| words.any(|word| word == wanted))
    }
}

/// What a simple command with these words could start.
pub(crate) fn started_by_words(words: &[String]) -> Vec<Started> {
    let mut found = Vec::new();
    add(words, false, 0, &mut found);
    found
}

/// What `text` could start.
pub(crate) fn started_by(text: &str) -> Vec<Started> {
    let mut found = Vec::new();
    add_text(text, 0, &mut found);
    found
}

fn add_text(text: &str, depth: u32, found: &mut Vec<Started>) {
    if depth > DEPTH {
        return;
    }
    let mut segments = Splitter::split(text, true);
    segments.extend(Splitter::split(text, false));
    // `echo 'rm x' | sh`: what a shell can read is not only its arguments.
    let has_shell = segments
        .iter()
        .flatten()
        .any(|word| program::is_shell(word));
    for words in &segments {
        add(words, has_shell, depth, found);
    }
}

/// Adds the command `words`, and the texts in it that could be commands.
fn add(words: &[String], anywhere: bool, depth: u32, found: &mut Vec<Started>) {
    let mut words = words;
    while let Some((first, rest)) = words.split_first() {
        match assigned(first) {
            Some(value) => add_text(value, depth + 1, found),
            None if program::is_before_a_command(first) => {}
            None => break,
        }
        words = rest;
    }
    let anywhere = anywhere || program::can_run_another(words);
    let texts = if anywhere {
        words.len()
    } else {
        words.len().min(1)
    };
    for word in words[..texts].iter().filter(|word| is_text(word)) {
        add_text(word, depth + 1, found);
        if let Some((_, value)) = word.split_once('=') {
            add_text(value, depth + 1, found);
        }
    }
    found.push(Started {
        words: words.to_vec(),
        anywhere,
    });
}

/// The value, if `word` is an assignment.
fn assigned(word: &str) -> Option<&str> {
    let (name, value) = word.split_once('=')?;
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.split('[').next()?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (!name.is_empty() && name.chars().all(is_name)).then_some(value)
}

/// Whether `word` is more than a name.
fn is_text(word: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_-./+".contains(c);
    !word.chars().all(is_name)
}

/// Splits a text into words and the words into commands, roughly as bash does.
struct Splitter<'a> {
    chars: Peekable<Chars<'a>>,
    /// Whether quotes hold a text together and an expansion is empty; otherwise
    /// quotes are dropped, and an expansion and a brace separate words.
    has_quotes: bool,
    commands: Vec<Vec<String>>,
    words: Vec<String>,
    word: String,
    /// Whether the words begin with the file of a redirection.
    is_redirected: bool,
}

impl<'a> Splitter<'a> {
    fn split(text: &'a str, has_quotes: bool) -> Vec<Vec<String>> {
        let mut splitter = Self {
            chars: text.chars().peekable(),
            has_quotes,
            commands: Vec::new(),
            words: Vec::new(),
            word: String::new(),
            is_redirected: false,
        };
        while let Some(c) = splitter.chars.next() {
            splitter.take(c);
        }
        splitter.end_command();
        splitter.commands
    }

    fn take(&mut self, c: char) {
        match c {
            '\'' | '"' if self.has_quotes => self.quoted(c),
            '\'' | '"' => {}
            '\\' => self.word.extend(self.chars.next().filter(|&c| c != '\n')),
            '$' => self.expansion(),
            '`' | ';' | '&' | '|' | '\n' | '(' | ')' => self.end_command(),
            '<' | '>' => {
                self.end_command();
                self.is_redirected = true;
            }
            '{' | '}' | ',' if !self.has_quotes => self.end_word(),
            c if c.is_whitespace() => self.end_word(),
            c if c.is_control() => {}
            c => self.word.push(c),
        }
    }

    fn quoted(&mut self, quote: char) {
        while let Some(c) = self.chars.next().filter(|&c| c != quote) {
            match c {
                '\\' if quote == '"' => self.word.extend(self.chars.next()),
                c => self.word.push(c),
            }
        }
    }

    /// What follows a `$`.
    fn expansion(&mut self) {
        match self.chars.peek() {
            Some('\'') => {
                self.chars.next();
                self.escaped();
            }
            Some('{') => {
                self.chars.next();
                self.parameter();
            }
            Some(c) if c.is_ascii_alphabetic() || *c == '_' => self.skip(is_of_name),
            Some(c) if c.is_ascii_digit() || "@*#?$!-".contains(*c) => drop(self.chars.next()),
            _ => return,
        }
        if !self.has_quotes {
            self.end_word();
        }
    }

    /// `${…}`: nothing, or the words in it after its name and operator.
    fn parameter(&mut self) {
        if self.has_quotes {
            self.skip(|c| c != '}');
            self.chars.next();
            return;
        }
        self.skip(|c| "!#".contains(c));
        self.skip(is_of_name);
        self.skip(|c| ":-=+?#%^@".contains(c));
    }

    /// `$'…'`
    fn escaped(&mut self) {
        while let Some(c) = self.chars.next().filter(|&c| c != '\'') {
            let c = if c == '\\' { self.escape() } else { Some(c) };
            self.word.extend(c);
        }
    }

    fn escape(&mut self) -> Option<char> {
        let c = self.chars.next()?;
        match c {
            'x' => self.digits(16, 2, 0),
            'u' => self.digits(16, 4, 0),
            'U' => self.digits(16, 8, 0),
            '0'..='7' => self.digits(8, 2, c.to_digit(8)?),
            'n' => Some('\n'),
            't' => Some('\t'),
            c => Some(c),
        }
    }

    fn digits(&mut self, radix: u32, most: usize, start: u32) -> Option<char> {
        let mut value = start;
        for _ in 0..most {
            let Some(digit) = self.chars.peek().and_then(|c| c.to_digit(radix)) else {
                break;
            };
            self.chars.next();
            value = value.wrapping_mul(radix).wrapping_add(digit);
        }
        char::from_u32(value)
    }

    fn skip(&mut self, is_skipped: impl Fn(char) -> bool) {
        while self.chars.next_if(|&c| is_skipped(c)).is_some() {}
    }

    fn end_word(&mut self) {
        if !self.word.is_empty() {
            self.words.push(std::mem::take(&mut self.word));
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        let words = std::mem::take(&mut self.words);
        if self.is_redirected && words.len() > 1 {
            self.commands.push(words[1..].to_vec());
        }
        if !words.is_empty() {
            self.commands.push(words);
        }
        self.is_redirected = false;
    }
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(text: &str, rule: &str) -> bool {
        let rule: Vec<String> = rule.split(' ').map(str::to_owned).collect();
        started_by(text).iter().any(|started| started.is(&rule))
    }

    #[test]
    fn a_command_is_found_wherever_it_could_be_started() {
        #[rustfmt::skip]
        let cases = [
            "rm", "rm x", "/bin/rm x", "./rm", "RM x", "rm.exe x", "ls; rm x", "ls && rm x",
            "ls || rm x", "ls | rm", "ls & rm x", "ls\nrm x", "ls |& rm", "(rm x)", "{ rm x; }",
            "ls $(rm x)", "ls `rm x`", "ls \"$(rm x)\"", "ls \"`rm x`\"", "ls <(rm x)", "ls >(rm x)",
            "ls \"$(ls \"$(rm x)\")\"", "if rm x; then ls; fi", "if ls; then rm x; fi",
            "while ls; do rm x; done", "for i in 1 2; do rm $i; done", "for i in rm ls; do $i; done",
            "case x in x) rm x;; esac", "f() { rm x; }; f", "function f { rm x; }", "! rm x",
            "time rm x", "time -p rm x", "coproc rm x", "env rm x", "env A=b rm x", "env -i rm x",
            "sudo rm x", "sudo -u a rm x", "xargs rm", "ls | xargs -0 rm", "nice -n 5 rm x",
            "timeout 5 rm x", "nohup rm x", "exec rm x", "command rm x", "builtin rm", "eval rm x",
            "eval 'rm x'", "eval \"rm x\"", "sh -c 'rm x'", "bash -c \"rm x\"", "sh -c 'ls; rm x'",
            "sh -c 'sh -c \"rm x\"'", "echo 'rm x' | sh", "bash <<< 'rm x'", "sh <<EOF\nrm x\nEOF",
            "trap 'rm x' EXIT", "alias ls='rm x'", "find . -exec rm {} \\;", "find . -ok rm {} +",
            "A=b rm x", "A='b c' rm x", "A+=b rm x", "x=rm; $x y", "PAGER='rm x' git log",
            "git -c core.pager='rm x' log", "git -c alias.a='!rm x' a", "git rebase -x 'rm x'",
            "r\\m x", "'rm' x", "r'm' x", "\"r\"m x", "r\"\"m x", "r$@m x", "r${a}m x", "r$*m x",
            "$'rm' x", "$'\\x72m' x", "$'\\162m' x", "$'\\u0072m' x", "${a:-rm} x", "${a:=/bin/rm} x",
            "rm$IFS-r", "rm${IFS}x", "{rm,x}", "{rm,-r,x}", "> a rm x", ">a rm x", "2>a rm x",
            "< a rm x", "rm>a", "rm\tx", "rm\u{a0}x", "ls\r\nrm x", "r\\\nm x", "  rm x",
            "[[ a ]] && rm x", "busybox rm x", "python3 -c 'import os; os.system(\"rm x\")'",
            "perl -e 'system(\"rm x\")'", "ls # \nrm x", "coproc { rm x; }", "until rm; do ls; done",
            "ssh host rm x", "flock a rm x", "parallel rm ::: x", "source <(echo rm x)",
        ];
        for text in cases {
            assert!(starts(text, "rm"), "{text:?}");
        }
    }

    #[test]
    fn an_argument_is_no_command() {
        #[rustfmt::skip]
        let cases = [
            "ls rm", "git commit -m 'rm x'", "git commit -m \"a; rm x\" -- y", "echo rm x",
            "grep rm x", "grep -c rm x", "rmdir x", "x/rm/y z", "ls --rm",
        ];
        for text in cases {
            let understood = crate::shell::simple_commands(text).expect("understood");
            for words in understood {
                let words: Vec<String> = words.into_iter().map(|word| word.text).collect();
                let found = started_by_words(&words);
                assert!(!found.iter().any(|s| s.is(&["rm".to_owned()])), "{text:?}");
            }
        }
    }

    #[test]
    fn further_words_are_found_in_their_order() {
        for text in [
            "git push",
            "git push x",
            "git -C a push",
            "git push -u x --force",
            "x; git push",
        ] {
            assert!(starts(text, "git push"), "{text}");
        }
        assert!(starts("git push -u x --force", "git push --force"));
        for text in ["git pull", "push git", "git log; push"] {
            assert!(!starts(text, "git push"), "{text}");
        }
    }

    #[test]
    fn long_texts_take_no_time() {
        let long = "xargs a='b c' ".repeat(5000);
        assert!(!starts(&long, "rm"));
        assert!(!starts(&"$(".repeat(50_000), "rm"));
        assert!(!starts(&"\"'".repeat(50_000), "rm"));
    }
}
