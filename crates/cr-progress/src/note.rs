//! What is said of an event, before it is formatted.

use std::borrow::Cow;

/// Characters of an agent's words that are shown.
pub(crate) const WORDS: usize = 200;

/// How much a note matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Only with `-v`.
    Detail,
    /// Shown unless `-q`.
    Normal,
    /// Always shown, also beyond `--limit`: commits, errors, limits, the end.
    Key,
}

/// What a note is, for colours and annotations.
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
pub struct Note {
    /// The word before the colon.
    pub label: Cow<'static, str>,
    /// All of it: a secret is masked before the cut, which could hide what
    /// makes it one.
    pub text: String,
    /// Characters of the text that are shown.
    pub most: usize,
    /// How many agents deep.
    pub depth: usize,
    /// How much it matters.
    pub weight: Weight,
    /// What it is, for colours and annotations.
    pub tone: Tone,
}

impl Note {
    /// A note of normal weight and plain tone, on the main thread.
    #[must_use]
    pub fn new(label: impl Into<Cow<'static, str>>, text: impl Into<String>) -> Self {
        let (label, text) = (label.into(), text.into());
        Self {
            label,
            text,
            most: WORDS,
            depth: 0,
            weight: Weight::Normal,
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
        self.weight = Weight::Detail;
        self
    }

    /// The same, always shown, in a tone.
    #[must_use]
    pub fn key(mut self, tone: Tone) -> Self {
        (self.weight, self.tone) = (Weight::Key, tone);
        self
    }

    /// The same, in a tone.
    #[must_use]
    pub fn tone(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }

    /// The same, under its agent.
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
