//! Which paths a glob allows.
//!
//! A glob is anchored at a directory, the top of a work tree for instance, and
//! matches whole paths:
//!
//! * `*` is any run of bytes but `/`, `?` one character but `/`;
//! * `**` as a whole part is any number of directories, none included;
//! * a `/` at the end means everything below that directory;
//! * `\` takes the next character as it is;
//! * every other character stands for itself, `[` and `{` too.

/// A glob, taken apart at its slashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// `**`
    Any,
    One(Vec<Token>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    /// `*`
    Run,
    /// `?`
    Character,
    Byte(u8),
}

impl Glob {
    /// Takes `text` apart. `./` or `/` in front changes nothing.
    pub fn new(text: &[u8]) -> Self {
        let below = text.ends_with(b"/");
        let text = text.strip_prefix(b"./").unwrap_or(text);
        let text = text.strip_prefix(b"/").unwrap_or(text);
        let mut parts: Vec<Part> = text
            .split(|&b| b == b'/')
            .filter(|part| !part.is_empty())
            .map(|part| match part {
                b"**" => Part::Any,
                part => Part::One(tokens(part)),
            })
            .collect();
        if below {
            parts.push(Part::Any);
        }
        if parts.last() == Some(&Part::Any) {
            // Something below, not the directory itself.
            parts.push(Part::One(vec![Token::Run]));
        }
        Self { parts }
    }

    /// Whether the glob allows `path`.
    pub fn allows(&self, path: &[u8]) -> bool {
        self.states(path.split(|&b| b == b'/'))[self.parts.len()]
    }

    /// Whether the glob allows every path below the directory `dir`; the empty
    /// one is the directory where the glob is anchored.
    pub fn allows_all_below(&self, dir: &[u8]) -> bool {
        let names = dir.split(|&b| b == b'/').filter(|name| !name.is_empty());
        let states = self.states(names);
        // `Glob::new` writes a `**` at the end as these two parts.
        let rest = [Part::Any, Part::One(vec![Token::Run])];
        self.parts.ends_with(&rest) && states[self.parts.len() - rest.len()]
    }

    /// Whether a path, or one of its directories, may be allowed by both globs. A
    /// glob without a `/` at the end counts as a directory too.
    pub fn overlaps(&self, other: &Self) -> bool {
        let (rows, columns) = (self.parts.len(), other.parts.len());
        // From the end: whether the rests from here may name the same.
        let mut rests = vec![vec![false; columns + 1]; rows + 1];
        for i in (0..=rows).rev() {
            for j in (0..=columns).rev() {
                rests[i][j] = match (self.parts.get(i), other.parts.get(j)) {
                    // One of them is a directory of the other.
                    (None, _) | (_, None) => true,
                    (Some(Part::Any), _) | (_, Some(Part::Any)) => {
                        rests[i + 1][j] || rests[i][j + 1]
                    }
                    (Some(Part::One(one)), Some(Part::One(two))) => {
                        rests[i + 1][j + 1] && may_be_equal(one, two)
                    }
                };
            }
        }
        rests[0][0]
    }

    /// Which parts may come next after `names`.
    fn states<'a>(&self, names: impl Iterator<Item = &'a [u8]>) -> Vec<bool> {
        // Name by name: linear where trying every way would not be.
        let mut next = vec![false; self.parts.len() + 1];
        next[0] = true;
        self.skip_any(&mut next);
        for name in names {
            let mut after = vec![false; next.len()];
            for (i, part) in self.parts.iter().enumerate() {
                match part {
                    _ if !next[i] => {}
                    Part::Any => after[i] = true,
                    Part::One(tokens) => after[i + 1] |= matches(tokens, name),
                }
            }
            self.skip_any(&mut after);
            next = after;
        }
        next
    }

    /// A `**` may stand for nothing.
    fn skip_any(&self, next: &mut [bool]) {
        for (i, part) in self.parts.iter().enumerate() {
            if next[i] && *part == Part::Any {
                next[i + 1] = true;
            }
        }
    }
}

fn tokens(part: &[u8]) -> Vec<Token> {
    let mut bytes = part.iter().copied();
    let mut tokens = Vec::new();
    while let Some(byte) = bytes.next() {
        tokens.push(match byte {
            b'*' => Token::Run,
            b'?' => Token::Character,
            b'\\' => Token::Byte(bytes.next().unwrap_or(b'\\')),
            byte => Token::Byte(byte),
        });
    }
    tokens
}

/// Whether some name matches both.
fn may_be_equal(one: &[Token], two: &[Token]) -> bool {
    let mut rests = vec![vec![false; two.len() + 1]; one.len() + 1];
    for i in (0..=one.len()).rev() {
        for j in (0..=two.len()).rev() {
            let after = |di: usize, dj: usize| rests.get(i + di).and_then(|row| row.get(j + dj));
            let after = |di, dj| after(di, dj).copied().unwrap_or(false);
            rests[i][j] = match (one.get(i), two.get(j)) {
                (None, None) => true,
                (Some(Token::Run), Some(_)) | (Some(_), Some(Token::Run)) => {
                    after(1, 0) || after(0, 1)
                }
                (Some(Token::Run), None) => after(1, 0),
                (None, Some(Token::Run)) => after(0, 1),
                (None, _) | (_, None) => false,
                (Some(Token::Byte(a)), Some(Token::Byte(b))) => a == b && after(1, 1),
                // A character may be several bytes.
                (Some(Token::Character), Some(_)) | (Some(_), Some(Token::Character)) => {
                    after(1, 1) || after(1, 0) || after(0, 1)
                }
            };
        }
    }
    rests[0][0]
}

/// Whether `tokens` match the whole of `name`, going back only to the last `*`.
fn matches(tokens: &[Token], name: &[u8]) -> bool {
    let (mut t, mut n) = (0, 0);
    let mut back = None;
    loop {
        let length = match tokens.get(t) {
            Some(Token::Run) => {
                back = Some((t, n));
                t += 1;
                continue;
            }
            Some(Token::Character) if n < name.len() => character(&name[n..]),
            Some(Token::Byte(byte)) if name.get(n) == Some(byte) => 1,
            None if n == name.len() => return true,
            _ => 0,
        };
        if length > 0 {
            t += 1;
            n += length;
            continue;
        }
        let Some((run, from)) = back else {
            return false;
        };
        if from >= name.len() {
            return false;
        }
        back = Some((run, from + 1));
        (t, n) = (run + 1, from + 1);
    }
}

/// How many bytes the first character has; a byte that begins none is one.
fn character(bytes: &[u8]) -> usize {
    let length = match bytes.first() {
        Some(0xc2..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf4) => 4,
        _ => 1,
    };
    let whole = bytes
        .get(..length)
        .is_some_and(|c| str::from_utf8(c).is_ok());
    if whole { length } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_overlap_if_a_path_may_be_meant_by_both() {
        let cases = [
            ("src/a.rs", "src/a.rs", true),
            ("src/a.rs", "src/b.rs", false),
            ("src/", "src/a.rs", true),
            ("src", "src/a.rs", true),
            ("src/", "srcs/a.rs", false),
            ("src/*.rs", "src/a.rs", true),
            ("src/*.rs", "src/a.md", false),
            ("src/*.rs", "src/b/a.rs", false),
            ("**/*.rs", "src/b/a.rs", true),
            ("**/*.rs", "docs/**", true),
            ("docs/**", "src/**", false),
            ("a*c", "ab*", true),
            ("a*c", "b*c", false),
            ("?.txt", "ab.txt", true),
            ("?.txt", "a.md", false),
            ("**", "anything/at/all", true),
        ];
        for (one, two, expected) in cases {
            let (a, b) = (Glob::new(one.as_bytes()), Glob::new(two.as_bytes()));
            assert_eq!(a.overlaps(&b), expected, "{one} {two}");
            assert_eq!(b.overlaps(&a), expected, "{two} {one}");
        }
    }

    #[test]
    fn globs() {
        #[rustfmt::skip]
        let cases: &[(&str, &[&str], &[&str])] = &[
            // glob           allowed                              outside
            ("src/",          &["src/a", "src/b/c"],               &["src", "srcs/a", "x/src/a"]),
            ("src/**",        &["src/a", "src/b/c"],               &["src", "srcs/a"]),
            ("src",           &["src"],                            &["src/a"]),
            ("./a.md",        &["a.md"],                           &["b/a.md", "a.mdx"]),
            ("/a.md",         &["a.md"],                           &["b/a.md"]),
            ("*.md",          &["a.md", ".md"],                    &["b/a.md", "a.mdx"]),
            ("**/*.md",       &["a.md", "b/a.md", "b/c/a.md"],     &["a.rs"]),
            ("**",            &["a", "a/b"],                       &[]),
            ("a/**/z",        &["a/z", "a/b/z", "a/b/c/z"],        &["az", "a/b", "z"]),
            ("a/**/b/**/c",   &["a/b/c", "a/x/b/y/z/c"],           &["a/c", "a/b/c/d"]),
            ("a/**/**/z",     &["a/z", "a/b/z"],                   &["a"]),
            ("src/*.rs",      &["src/a.rs"],                       &["src/b/a.rs", "src/a.rs/b"]),
            ("src/*/*",       &["src/a/b"],                        &["src/a", "src/a/b/c"]),
            ("?.rs",          &["a.rs", "ä.rs"],                   &[".rs", "ab.rs", "/.rs"]),
            ("a*b*c",         &["abc", "a-b-b-c", "abbc"],         &["ab", "acb", "abcd"]),
            (r"\*.md",        &["*.md"],                           &["a.md"]),
            ("a[b]{c,d}",     &["a[b]{c,d}"],                      &["ab", "abc"]),
            ("a b\n",         &["a b\n"],                          &["a b"]),
            ("a//b",          &["a/b"],                            &["a", "a/x/b"]),
            ("",              &[],                                 &["a", "a/b"]),
            ("/",             &["a", "a/b"],                       &[]),
        ];
        for (glob, allowed, outside) in cases {
            let parsed = Glob::new(glob.as_bytes());
            for path in *allowed {
                assert!(parsed.allows(path.as_bytes()), "{glob} allows {path}");
            }
            for path in *outside {
                assert!(
                    !parsed.allows(path.as_bytes()),
                    "{glob} does not allow {path}"
                );
            }
        }
        assert!(Glob::new(b"?").allows(b"\xff"));
    }

    #[test]
    fn a_directory_is_allowed_only_with_everything_below_it() {
        #[rustfmt::skip]
        let cases: &[(&str, &[&str], &[&str])] = &[
            // glob      all below is allowed          not all
            ("src/**",   &["src", "src/a", "src/a/b"], &["", "srcs", "a/src"]),
            ("src/",     &["src", "src/a"],            &["", "a"]),
            ("**",       &["", "a", "a/b"],            &[]),
            ("src/*",    &[],                          &["", "src", "src/a"]),
            ("src/**/a", &[],                          &["src", "src/a"]),
            ("**/a/**",  &["a", "b/a", "b/a/c"],       &["", "b"]),
            ("src",      &[],                          &["src", ""]),
            ("",         &[],                          &["", "a"]),
        ];
        for (glob, all, not_all) in cases {
            let parsed = Glob::new(glob.as_bytes());
            for dir in *all {
                assert!(parsed.allows_all_below(dir.as_bytes()), "{glob} {dir}");
            }
            for dir in *not_all {
                assert!(!parsed.allows_all_below(dir.as_bytes()), "{glob} {dir}");
            }
        }
    }

    #[test]
    fn many_stars_take_no_time() {
        let glob = Glob::new("**/".repeat(40).as_bytes());
        assert!(glob.allows("a/".repeat(500).as_bytes()));
        let glob = Glob::new("*a".repeat(40).as_bytes());
        assert!(!glob.allows("a".repeat(5000).replace('a', "ab").as_bytes()));
    }
}
