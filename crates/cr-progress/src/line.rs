//! One line of progress, before it is formatted.

use std::borrow::Cow;
use std::time::Duration;

/// Characters of an agent's text that are shown.
pub(crate) const TEXT_CHARS: usize = 200;

/// How much a line matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Only with `-v`.
    Detail,
    /// Shown unless `-q`.
    Normal,
    /// Always shown, also beyond `--limit`: commits, errors, limits, the end.
    Key,
}

/// What a line is, for colours and annotations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Nothing to stress.
    Plain,
    /// Something went well.
    Good,
    /// Something that may need attention.
    Warning,
    /// Something went wrong.
    Error,
}

/// One line of progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgressLine {
    /// The word before the colon.
    pub label: Cow<'static, str>,
    /// The whole text: a secret is masked before the text is cut, because a part
    /// of a secret may not look like one.
    pub text: String,
    /// Characters of the text that are shown.
    pub most: usize,
    /// How many agents deep: 0 is the main thread.
    pub depth: usize,
    /// How much it matters.
    pub level: Level,
    /// What it is, for colours and annotations.
    pub tone: Tone,
}

impl ProgressLine {
    /// A line of normal level and plain tone, on the main thread.
    #[must_use]
    pub fn new(label: impl Into<Cow<'static, str>>, text: impl Into<String>) -> Self {
        let (label, text) = (label.into(), text.into());
        Self {
            label,
            text,
            most: TEXT_CHARS,
            depth: 0,
            level: Level::Normal,
            tone: Tone::Plain,
        }
    }

    /// The same, cut after so many characters.
    #[must_use]
    pub fn most(mut self, characters: usize) -> Self {
        self.most = characters;
        self
    }

    /// The same, only with `-v`.
    #[must_use]
    pub fn detail(mut self) -> Self {
        self.level = Level::Detail;
        self
    }

    /// The same, always shown, in a tone.
    #[must_use]
    pub fn key(mut self, tone: Tone) -> Self {
        (self.level, self.tone) = (Level::Key, tone);
        self
    }

    /// The same, in a tone.
    #[must_use]
    pub fn tone(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }

    /// The same, indented under its agent.
    #[must_use]
    pub fn under(mut self, depth: usize) -> Self {
        self.depth = depth;
        self
    }
}

/// Seconds for a person: `59s`, `1m1s`, `2h5m`.
pub(crate) fn duration(seconds: u64) -> String {
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s}s"),
        (0, m, s) => format!("{m}m{s}s"),
        (h, m, _) => format!("{h}h{m}m"),
    }
}

/// How long something took, rounded as in the summary.
pub(crate) fn elapsed(ms: u64) -> String {
    duration(ms.saturating_add(500) / 1000)
}

/// The length of a clock. A short one is exact: `0.5s`.
pub(crate) fn setting(ms: u64) -> String {
    if ms < 60_000 {
        cr_io::show_duration(Duration::from_millis(ms))
    } else {
        duration(ms / 1000)
    }
}
