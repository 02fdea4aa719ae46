//! Masks what looks like a secret in text that a tool composes.
//!
//! There are two kinds of evidence: the values of environment variables with a
//! name that suggests a secret, and the shapes of the keys of known providers.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::packed::Searcher;
use memchr::memmem::find_iter;

/// A value shorter than this is a word and not a secret.
const SHORTEST: usize = 8;

/// No secret is longer than this.
const LONGEST: usize = 64 << 10;

/// Words in the name of a variable that make its value a secret.
const NAMES: [&str; 5] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"];

/// Finds secrets and replaces each by `[REDACTED:kind]`.
///
/// ```
/// use cr_io::Redactor;
///
/// let redactor = Redactor::from_vars([("MY_API_KEY".into(), "correct horse".into())]);
/// assert_eq!(redactor.redact("a correct horse"), "a [REDACTED:MY_API_KEY]");
/// assert_eq!(redactor.redact("id AKIAABCDEFGHIJKLMNOP"), "id [REDACTED:aws-key]");
/// ```
#[derive(Debug)]
pub struct Redactor {
    /// Made for the first text; many runs have none.
    known: OnceLock<Known>,
}

/// What to look for.
#[derive(Debug)]
struct Known {
    /// Finds candidates for all secrets in one pass; most text has none.
    any: Option<Searcher>,
    values: Vec<Value>,
    shapes: &'static [Shape],
}

/// A secret that is known by its value.
#[derive(Debug)]
struct Value {
    name: String,
    value: String,
}

/// A secret that is known by its shape.
#[derive(Debug)]
struct Shape {
    kind: &'static str,
    /// What it begins with.
    start: &'static str,
    /// Whether the start stays readable.
    keeps_start: bool,
    /// How many bytes after the start belong to it; `None` if it is no secret.
    length: Length,
}

/// The length of a secret, or of what holds none that starts in it.
type Length = fn(&[u8]) -> Result<usize, usize>;

#[rustfmt::skip]
static SHAPES: [Shape; 17] = [
    shape("anthropic-key",  "sk-ant-",     |rest| run(rest, SHORTEST, is_dashed)),
    shape("api-key",        "sk-",         |rest| with_digit(rest, run(rest, 20, is_dashed)?)),
    shape("github-token",   "ghp_",        |rest| run(rest, 20, is_word)),
    shape("github-token",   "gho_",        |rest| run(rest, 20, is_word)),
    shape("github-token",   "ghu_",        |rest| run(rest, 20, is_word)),
    shape("github-token",   "ghs_",        |rest| run(rest, 20, is_word)),
    shape("github-token",   "ghr_",        |rest| run(rest, 20, is_word)),
    shape("github-token",   "github_pat_", |rest| run(rest, 20, is_word)),
    shape("aws-key",        "AKIA",        aws),
    shape("aws-key",        "ASIA",        aws),
    shape("slack-token",    "xox",         slack),
    shape("google-key",     "AIza",        |rest| run(rest, 30, is_dashed)),
    shape("private-key",    "-----BEGIN ", private_key),
    kept("bearer",          "Bearer ",     bearer),
    kept("bearer",          "bearer ",     bearer),
    kept("bearer",          "BEARER ",     bearer),
    shape("jwt",            "eyJ",         jwt),
];

impl Redactor {
    /// Masks the secrets in this process's environment and every known shape.
    pub fn from_env() -> Self {
        let known = OnceLock::new();
        Self { known }
    }

    /// Masks the secrets among `vars` and every known shape.
    pub fn from_vars(vars: impl IntoIterator<Item = (String, String)>) -> Self {
        let known = Known::among(vars).into();
        Self { known }
    }

    /// Masks nothing.
    pub fn none() -> Self {
        let nothing = Known {
            any: None,
            values: Vec::new(),
            shapes: &[],
        };
        let known = nothing.into();
        Self { known }
    }

    /// `text` with every secret masked; borrowed when there is none.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.redact_bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            // A secret begins and ends between characters.
            Cow::Owned(masked) => Cow::Owned(String::from_utf8_lossy(&masked).into_owned()),
        }
    }

    /// [`Redactor::redact`] for bytes that may not be UTF-8, such as a line of
    /// the agent's.
    pub fn redact_bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let found = self.find(bytes);
        if found.is_empty() {
            return Cow::Borrowed(bytes);
        }
        let mut masked = Vec::with_capacity(bytes.len());
        let mut at = 0;
        for (range, kind) in found {
            masked.extend_from_slice(&bytes[at..range.start]);
            masked.extend_from_slice(b"[REDACTED:");
            masked.extend_from_slice(kind.as_bytes());
            masked.push(b']');
            at = range.end;
        }
        masked.extend_from_slice(&bytes[at..]);
        Cow::Owned(masked)
    }

    /// [`Redactor::redact_bytes`] for text that comes in pieces: takes from
    /// `held` what no later byte can change, and masks it.
    pub fn redact_some(&self, held: &mut Vec<u8>) -> Vec<u8> {
        let settled = held.len().saturating_sub(LONGEST);
        let mut found = self.find(held).into_iter().map(|(range, _)| range);
        let across = found.find(|range| range.contains(&settled));
        let end = match across {
            // It has all of `held`, and is not going to end.
            Some(range) if range.start == 0 && settled > LONGEST => range.end,
            Some(range) => range.start,
            None => settled,
        };
        let masked = self.redact_bytes(&held[..end]).into_owned();
        held.drain(..end);
        masked
    }

    /// Where the secrets are, in order and without overlap.
    fn find(&self, text: &[u8]) -> Vec<(Range<usize>, &str)> {
        let mut found = Vec::new();
        if text.len() < SHORTEST {
            return found;
        }
        let Known {
            any,
            values,
            shapes,
        } = self.known.get_or_init(Known::of_env);
        if any.as_ref().is_some_and(|any| any.find(text).is_none()) {
            return found;
        }
        for Value { name, value } in values {
            let starts = find_iter(text, value);
            found.extend(starts.map(|at| (at..at + value.len(), &**name)));
        }
        for shape in *shapes {
            // Text may be all starts and no end: none is looked at twice.
            let mut seen = 0;
            for at in find_iter(text, shape.start) {
                if at < seen || !can_start(&text[..at]) {
                    continue;
                }
                match shape.range(text, at) {
                    Ok(range) => {
                        seen = range.end;
                        found.push((range, shape.kind));
                    }
                    Err(end) => seen = end,
                }
            }
        }
        found.sort_by_key(|(range, _)| (range.start, usize::MAX - range.end));
        // The longest of those that start first wins; what reaches beyond it
        // is masked with it.
        let mut merged: Vec<(Range<usize>, &str)> = Vec::new();
        for (range, kind) in found {
            match merged.last_mut() {
                Some((last, _)) if range.start < last.end => last.end = last.end.max(range.end),
                _ => merged.push((range, kind)),
            }
        }
        merged
    }
}

impl Known {
    fn of_env() -> Self {
        let vars = std::env::vars_os();
        Self::among(vars.filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?))))
    }

    fn among(vars: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut values = Vec::new();
        for (name, value) in vars {
            if value.len() < SHORTEST || !is_telling(&name) {
                continue;
            }
            // Inside a JSON string the same value may look different.
            let escaped = escape(&value);
            if escaped != value {
                let name = name.clone();
                values.push(Value {
                    name,
                    value: escaped,
                });
            }
            values.push(Value { name, value });
        }
        let starts = SHAPES.iter().map(|shape| shape.start.as_bytes());
        let starts = starts.chain(values.iter().map(|value| value.value.as_bytes()));
        Self {
            // Not on every processor: then every text is searched for each.
            any: Searcher::new(starts),
            values,
            shapes: &SHAPES,
        }
    }
}

/// Whether the name of a variable says that its value is a secret.
fn is_telling(name: &str) -> bool {
    NAMES.iter().any(|word| {
        let mut parts = name.as_bytes().windows(word.len());
        parts.any(|part| part.eq_ignore_ascii_case(word.as_bytes()))
    })
}

impl Shape {
    /// The secret that starts at `at`, or up to where none does.
    fn range(&self, text: &[u8], at: usize) -> Result<Range<usize>, usize> {
        let rest = at + self.start.len();
        match (self.length)(&text[rest..]) {
            Ok(length) if self.keeps_start => Ok(rest..rest + length),
            Ok(length) => Ok(at..rest + length),
            Err(length) => Err(rest + length),
        }
    }
}

/// Whether a secret can start after `before`: `task-` ends in a start and begins
/// nothing. What ends an escape in a JSON string is no letter.
fn can_start(before: &[u8]) -> bool {
    !before.last().is_some_and(u8::is_ascii_alphanumeric) || ends_in_escape(before)
}

/// Whether `text` ends in `\n` or `\u000a`, as they are written in a JSON string.
fn ends_in_escape(text: &[u8]) -> bool {
    let short = matches!(text, [.., b'\\', b'b' | b'f' | b'n' | b'r' | b't']);
    let long = match text {
        [.., b'\\', b'u', a, b, c, d] => [a, b, c, d].iter().all(|b| b.is_ascii_hexdigit()),
        _ => false,
    };
    short || long
}

const fn shape(kind: &'static str, start: &'static str, length: Length) -> Shape {
    Shape {
        kind,
        start,
        keeps_start: false,
        length,
    }
}

const fn kept(kind: &'static str, start: &'static str, length: Length) -> Shape {
    Shape {
        kind,
        start,
        keeps_start: true,
        length,
    }
}

/// How many bytes of `rest` are of one kind, if they are at least `least`.
fn run(rest: &[u8], least: usize, is: fn(u8) -> bool) -> Result<usize, usize> {
    let length = rest.iter().take_while(|&&b| is(b)).count();
    if length >= least {
        Ok(length)
    } else {
        Err(length)
    }
}

/// `length`, if there is a digit in so much of `rest`: without one it is words.
fn with_digit(rest: &[u8], length: usize) -> Result<usize, usize> {
    if rest[..length].iter().any(u8::is_ascii_digit) {
        Ok(length)
    } else {
        Err(length)
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_dashed(byte: u8) -> bool {
    is_word(byte) || byte == b'-'
}

fn aws(rest: &[u8]) -> Result<usize, usize> {
    let length = run(rest, 16, |b| b.is_ascii_alphanumeric())?;
    let upper = run(rest, 16, |b| b.is_ascii_uppercase() || b.is_ascii_digit());
    if length == 16 { upper } else { Err(length) }
}

fn slack(rest: &[u8]) -> Result<usize, usize> {
    match rest {
        [
            b'a' | b'b' | b'e' | b'o' | b'p' | b'r' | b's',
            b'-',
            token @ ..,
        ] => {
            let is = |b: u8| b.is_ascii_alphanumeric() || b == b'-';
            run(token, 10, is).map(|length| 2 + length)
        }
        _ => Err(0),
    }
}

fn bearer(rest: &[u8]) -> Result<usize, usize> {
    let token = run(rest, 16, |b| is_dashed(b) || b".~+/=".contains(&b))?;
    with_digit(rest, token)
}

fn jwt(rest: &[u8]) -> Result<usize, usize> {
    let head = run(rest, SHORTEST, is_dashed)?;
    // A secret that starts later in the head continues in the same way.
    let body = rest[head..].strip_prefix(b".").ok_or(head)?;
    let claims = run(body, SHORTEST, is_dashed).map_err(|_| head)?;
    let signature = body[claims..].strip_prefix(b".").ok_or(head)?;
    Ok(head + 1 + claims + 1 + run(signature, 0, is_dashed)?)
}

/// A whole key, up to its end or, where that is missing, to the text's.
fn private_key(rest: &[u8]) -> Result<usize, usize> {
    const MARK: &[u8] = b"PRIVATE KEY";
    const DASHES: &[u8] = b"-----";
    let label = run(rest, 0, |b| {
        b.is_ascii_uppercase() || b.is_ascii_digit() || b == b' '
    })?;
    if !rest[..label].ends_with(MARK) || !rest[label..].starts_with(DASHES) {
        return Err(label);
    }
    let end = memchr::memmem::find(rest, b"-----END ");
    let closed = end.and_then(|end| {
        let after = end + DASHES.len();
        memchr::memmem::find(&rest[after..], DASHES).map(|at| after + at + DASHES.len())
    });
    Ok(closed.unwrap_or(rest.len()))
}

/// `value` as it is written inside a JSON string.
fn escape(value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            '"' | '\\' => escaped.extend(['\\', c]),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_masked_and_ordinary_text_is_not() {
        let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4";
        #[rustfmt::skip]
        let cases: &[(&str, &str)] = &[
            ("key sk-ant-api03-abcdef_0123-XYZ.", "key [REDACTED:anthropic-key]."),
            ("sk-proj-0123456789abcdefghij", "[REDACTED:api-key]"),
            ("ghp_0123456789abcdefghijABCDEFGHIJ012345", "[REDACTED:github-token]"),
            ("github_pat_11ABCDEFG0abcdefghij_xyz", "[REDACTED:github-token]"),
            ("AKIAIOSFODNN7EXAMPLE!", "[REDACTED:aws-key]!"),
            ("xoxb-123456789012-abcdef", "[REDACTED:slack-token]"),
            ("AIzaSyA0123456789012345678901234567890", "[REDACTED:google-key]"),
            ("Authorization: Bearer abcdef0123456789xyz", "Authorization: Bearer [REDACTED:bearer]"),
            (jwt, "[REDACTED:jwt]"),
            ("a\n-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----\nb", "a\n[REDACTED:private-key]\nb"),
            ("-----BEGIN PRIVATE KEY-----\nMIIB", "[REDACTED:private-key]"),
            ("two AKIAIOSFODNN7EXAMPLE AKIAIOSFODNN7EXAMPLF", "two [REDACTED:aws-key] [REDACTED:aws-key]"),
        ];
        let redactor = Redactor::from_vars([]);
        for (text, masked) in cases {
            assert_eq!(redactor.redact(text), *masked);
            assert_eq!(redactor.redact_bytes(text.as_bytes()), masked.as_bytes());
            assert_eq!(Redactor::none().redact(text), *text);
        }
        #[rustfmt::skip]
        let plain = [
            "", "task-0123456789abcdefghij", "sk-some-long-class-name-of-css", "the bearer of bad news brings them",
            "Bearer authentication-is-required", "AKIAIOSFODNN7EXAMPLES", "eyJhbGciOiJIUzI1NiJ9", "xoxo xoxz-1234567890",
            "-----BEGIN CERTIFICATE-----\nMIIB", "größer ghp_short",
        ];
        for text in plain {
            assert!(
                matches!(redactor.redact(text), Cow::Borrowed(same) if same == text),
                "{text}"
            );
        }
    }

    #[test]
    fn a_secret_after_an_escape_is_masked() {
        #[rustfmt::skip]
        let cases = [
            (r#"{"x":"a\nsk-ant-api03-0123"}"#, r#"{"x":"a\n[REDACTED:anthropic-key]"}"#),
            (r"\tAKIAIOSFODNN7EXAMPLE\r\nBearer abcdef0123456789xyz", r"\t[REDACTED:aws-key]\r\nBearer [REDACTED:bearer]"),
            (r"\u000aghp_0123456789abcdefghij", r"\u000a[REDACTED:github-token]"),
            (r"task-0123456789abcdefghij bash_u000ask-ant-0123", r"task-0123456789abcdefghij bash_u000ask-ant-0123"),
        ];
        let redactor = Redactor::from_vars([]);
        for (text, masked) in cases {
            assert_eq!(redactor.redact(text), masked);
        }
    }

    #[test]
    fn a_secret_is_masked_wherever_the_text_is_cut() {
        let key = "-----BEGIN PRIVATE KEY-----\nMIIB".to_owned() + &"x".repeat(3000);
        let key = key + "\n-----END PRIVATE KEY-----";
        let text = format!(" AKIAIOSFODNN7EXAMPLE {key} {}", "y z".repeat(100)).repeat(80);
        let redactor = Redactor::from_vars([]);
        let whole = redactor.redact_bytes(text.as_bytes());
        for piece in [9999, LONGEST - 1, LONGEST, 3 * LONGEST, text.len()] {
            let (mut held, mut masked) = (Vec::new(), Vec::new());
            for piece in text.as_bytes().chunks(piece) {
                held.extend_from_slice(piece);
                masked.extend(redactor.redact_some(&mut held));
            }
            masked.extend_from_slice(&redactor.redact_bytes(&held));
            assert!(masked == *whole, "{piece}");
        }
    }

    #[test]
    fn text_that_is_all_starts_is_read_once() {
        // Looked at from each start, a megabyte of them would take hours.
        let redactor = Redactor::from_vars([]);
        for start in [
            "sk-",
            "eyJ-",
            "-----BEGIN PRIVATE KEY-----",
            "xoxb-",
            "AIza-",
        ] {
            redactor.redact(&start.repeat((1 << 20) / start.len()));
        }
        let head = "eyJ-".repeat(1 << 18) + ".short";
        assert_eq!(redactor.redact(&head), head);
    }

    #[test]
    fn a_value_is_secret_by_its_variables_name() {
        let vars = [
            ("DB_PASSWORD", "pa\"ss wörd"),
            ("my_token", "12345678"),
            ("HOME", "/home/someone"),
            ("SHORT_KEY", "seven77"),
        ];
        let vars = vars.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let redactor = Redactor::from_vars(vars);
        #[rustfmt::skip]
        let cases = [
            ("x pa\"ss wörd y", "x [REDACTED:DB_PASSWORD] y"),
            (r#"{"x":"pa\"ss wörd"}"#, r#"{"x":"[REDACTED:DB_PASSWORD]"}"#),
            ("0123456789", "0[REDACTED:my_token]9"),
            ("/home/someone seven77", "/home/someone seven77"),
        ];
        for (text, masked) in cases {
            assert_eq!(redactor.redact(text), masked);
        }
    }

    #[test]
    fn overlapping_secrets_leave_nothing_readable() {
        let vars = [("A_KEY", "abcdefgh"), ("B_KEY", "efghijkl")];
        let vars = vars.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let redactor = Redactor::from_vars(vars);
        assert_eq!(redactor.redact("-abcdefghijkl-"), "-[REDACTED:A_KEY]-");
    }
}
