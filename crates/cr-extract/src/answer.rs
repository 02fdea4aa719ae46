//! What a run answered, or why it did not.

use std::fmt;

use cr_event::{Raw, Text};

/// The answer, as far as there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// JSON that was given as such.
    pub(crate) structured: Option<String>,
    /// Words, maybe with JSON in them.
    pub(crate) text: Option<String>,
    /// Where the answer stood.
    pub(crate) origin: Origin,
    /// What keeps the text from being the answer.
    pub(crate) lack: Option<Lack>,
}

/// Where an answer stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Result,
    Message,
    Summary,
    Text,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Result => "the last result",
            Self::Message => "the last message",
            Self::Summary => "the summary",
            Self::Text => "the text",
        })
    }
}

/// Why there is no answer, or none that can be relied on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lack {
    /// The run failed, with these words.
    Failed(String),
    /// The summary holds only the beginning.
    Cut,
    /// The text is longer than may be held.
    TooLong,
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(words) => {
                let words = cr_io::sanitized(cr_io::first_chars(words, 300).0);
                write!(f, "the run failed: {words}")
            }
            Self::Cut => f.write_str("the answer is cut short here; use cr-summarize --full"),
            Self::TooLong => f.write_str("the text is too long; --max-line raises the limit"),
        }
    }
}

impl Answer {
    /// No answer.
    pub(crate) fn none(lack: Option<Lack>) -> Self {
        Self {
            structured: None,
            text: None,
            origin: Origin::Text,
            lack,
        }
    }

    /// Words alone.
    pub(crate) fn words(text: String, origin: Origin) -> Self {
        Self {
            structured: None,
            text: Some(text).filter(|text| !text.trim().is_empty()),
            origin,
            lack: None,
        }
    }

    /// What a summary says.
    pub(crate) fn of_summary(summary: Raw<'_>) -> Self {
        let cut = summary.get("truncated").map(Raw::items).unwrap_or_default();
        let is_cut = |name: &str| {
            let mut names = cut.iter().filter_map(|item| item.text());
            names.any(|cut| cut.is(name))
        };
        let structured = summary.get("structured_output").and_then(given);
        let text = summary.string("result").map(String::from);
        let mut answer = Self {
            structured,
            ..Self::words(text.unwrap_or_default(), Origin::Summary)
        };
        if answer.structured.is_some() {
            return answer;
        }
        let errors = summary.get("errors").map(Raw::items).unwrap_or_default();
        let mut errors = errors.into_iter().filter_map(Raw::text).map(Text::decode);
        let is_ok = summary.get("ok").and_then(Raw::bool) != Some(false);
        let first = errors.next().map(String::from);
        if is_cut("structured_output") || (is_cut("result") && first != answer.text) {
            answer.structured = summary.get("json").and_then(given);
            answer.text = None;
            answer.lack = Some(Lack::Cut);
        } else if !is_ok
            && let Some(error) = first
            && answer.text.as_ref().is_none_or(|text| *text == error)
        {
            answer.text = None;
            answer.lack = Some(Lack::Failed(error));
        }
        answer
    }
}

/// What a summary says of its run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// The exit code.
    pub(crate) code: u8,
    /// What went wrong and what to do.
    pub(crate) words: String,
}

impl Verdict {
    /// What `summary` says; `None` if it has no code.
    pub(crate) fn of(summary: Raw<'_>) -> Option<Self> {
        let code = summary.get("code").and_then(Raw::u64)?;
        let said = ["outcome", "why", "next"].map(|key| summary.string(key).unwrap_or_default());
        let [outcome, why, next] = said.map(|words| cr_io::sanitized(&words));
        Some(Self {
            code: u8::try_from(code).ok()?,
            words: format!("no answer: {outcome}: {why} {next}")
                .trim_end()
                .to_owned(),
        })
    }
}

/// `raw` if it is a value that says something, and strict JSON.
pub(crate) fn given(raw: Raw<'_>) -> Option<String> {
    let text = std::str::from_utf8(raw.bytes()).ok()?;
    (!raw.is_null() && cr_json::is_value(text)).then(|| text.to_owned())
}
