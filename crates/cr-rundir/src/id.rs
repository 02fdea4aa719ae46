//! The id of a run.

use std::fmt;

use jiff::Timestamp;

/// The id of a run: its start in UTC and eight random hex digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunId(String);

impl RunId {
    /// A name that no other run has.
    pub fn new() -> Self {
        let mut random = [0_u8; 4];
        // Without a source of randomness the time and the pid have to do.
        let filled = rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty());
        if filled != Ok(random.len()) {
            random = std::process::id().to_be_bytes();
        }
        let time = Timestamp::now().strftime("%Y%m%dT%H%M%SZ");
        Self(format!("{time}-{:08x}", u32::from_be_bytes(random)))
    }

    /// A name that was given; it becomes a file's name, so it must look like one
    /// that cannot lead anywhere else.
    pub fn parse(text: &str) -> Option<Self> {
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
        let first = text.bytes().next()?;
        let fits = text.len() <= 64 && text.bytes().all(plain) && !text.contains("..");
        (fits && first.is_ascii_alphanumeric()).then(|| Self(text.to_owned()))
    }

    /// The name that `CR_RUN_ID` gives, if it is set.
    pub fn given() -> Result<Option<Self>, Refused> {
        let Some(text) = std::env::var_os("CR_RUN_ID").filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        let parsed = text.to_str().and_then(Self::parse);
        parsed
            .map(Some)
            .ok_or_else(|| Refused(text.to_string_lossy().into_owned()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What `CR_RUN_ID` says is no name for a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused(String);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = &self.0;
        write!(
            f,
            "{text:?} is no run id: 1 to 64 letters, digits, dots, dashes and underlines, \
             the first a letter or a digit, no two dots together"
        )
    }
}

impl std::error::Error for Refused {}

impl Default for RunId {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_made_name_is_one_that_would_be_accepted() {
        let id = RunId::new();
        assert_eq!(id.as_str().len(), 25, "{id}");
        assert_eq!(RunId::parse(id.as_str()), Some(id));
    }

    #[test]
    fn a_name_that_leads_elsewhere_is_refused() {
        for name in [
            "", ".", "..", "a..b", "../x", "/x", "a/b", "-x", "a b", "a\n", "ä",
        ] {
            assert_eq!(RunId::parse(name), None, "{name}");
        }
        assert_eq!(RunId::parse(&"x".repeat(65)), None);
    }
}
