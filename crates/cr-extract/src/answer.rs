//! The answer of a run, or why there is none.

use std::fmt;

use cr_event::Raw;
use cr_io::{Exit, NewerSchema};
use cr_summary::{SCHEMA, Summary};
use serde_json::value::RawValue;

/// The answer, as far as there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// JSON that was given as such.
    pub(crate) structured: Option<String>,
    /// Text, maybe with JSON in it.
    pub(crate) text: Option<String>,
    /// Where the answer was found.
    pub(crate) origin: Origin,
    /// Why there is no answer.
    pub(crate) missing: Option<Missing>,
    /// The last line of the stream is cut off: it may have been a later answer.
    pub(crate) is_cut: bool,
}

/// Where an answer was found.
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
pub(crate) enum Missing {
    /// The run failed with this error.
    Failed(String),
    /// The summary holds only the beginning.
    Truncated,
    /// The text is longer than the limit.
    TooLong,
    /// A newer version wrote the summary.
    Newer(NewerSchema),
    /// No line is Claude Code's; it looks like this.
    Foreign(&'static str),
    /// The output of `--output-format json` is cut off.
    Torn,
}

impl Missing {
    /// The exit code.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Failed(_) => Exit::No,
            Self::Truncated | Self::TooLong | Self::Foreign(_) | Self::Torn => Exit::Data,
            Self::Newer(_) => Exit::Config,
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(error) => {
                let error = cr_io::sanitized(cr_io::first_chars(error, 300).0);
                write!(f, "the run failed: {error}")
            }
            Self::Truncated => f.write_str("the answer is cut short here; use cr-summarize --full"),
            Self::Newer(schema) => write!(f, "the summary: {schema}"),
            Self::Torn => f.write_str("the end of the document is missing"),
            Self::Foreign(name) => {
                write!(f, "no line of it is Claude Code's; it looks like {name}")
            }
            Self::TooLong => f.write_str("the text is too long; --max-line raises the limit"),
        }
    }
}

impl Answer {
    /// No answer.
    pub(crate) fn none(missing: Option<Missing>) -> Self {
        Self {
            structured: None,
            text: None,
            origin: Origin::Text,
            missing,
            is_cut: false,
        }
    }

    /// A text.
    pub(crate) fn text(text: String, origin: Origin) -> Self {
        Self {
            structured: None,
            text: Some(text).filter(|text| !text.trim().is_empty()),
            origin,
            missing: None,
            is_cut: false,
        }
    }

    /// The same answer, of a stream whose last line is cut off if `is_cut`.
    #[must_use]
    pub(crate) fn cut_if(mut self, is_cut: bool) -> Self {
        self.is_cut |= is_cut;
        self
    }

    /// The answer in a summary.
    pub(crate) fn of_summary(summary: &Summary) -> Self {
        if summary.schema > SCHEMA {
            let (found, known) = (summary.schema, SCHEMA);
            return Self::none(Some(Missing::Newer(NewerSchema { found, known })));
        }
        let is_truncated = |name: &str| summary.truncated.iter().any(|field| field == name);
        let mut answer = Self {
            structured: summary.structured_output.as_deref().and_then(strict),
            ..Self::text(summary.result.clone().unwrap_or_default(), Origin::Summary)
        };
        if answer.structured.is_some() {
            return answer;
        }
        let error = summary.errors.first().cloned();
        // Its `result` holds the last words of the model.
        let is_limit = summary
            .subtype
            .as_ref()
            .is_some_and(|subtype| subtype.starts_with("error_"));
        if is_truncated("structured_output")
            || (is_truncated("result") && !is_limit && error != answer.text)
        {
            answer.structured = summary.json.as_deref().and_then(strict);
            answer.text = None;
            answer.missing = Some(Missing::Truncated);
        } else if summary.ok == Some(false)
            && let Some(error) = error
            && (is_limit || answer.text.as_ref().is_none_or(|text| *text == error))
        {
            answer.text = None;
            answer.missing = Some(Missing::Failed(error));
        }
        answer
    }
}

/// How a run ended, as its summary says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// The exit code.
    pub(crate) code: u8,
    /// What went wrong and what to do.
    pub(crate) message: String,
}

impl Verdict {
    /// The verdict in `summary`; `None` if it has no code.
    pub(crate) fn of(summary: &Summary) -> Option<Self> {
        let outcome = summary.outcome.as_deref().unwrap_or_default();
        let texts = [outcome, &summary.why, &summary.next].map(cr_io::sanitized);
        let [outcome, why, next] = texts;
        Some(Self {
            code: summary.code?,
            message: format!("no answer: {outcome}: {why} {next}")
                .trim_end()
                .to_owned(),
        })
    }
}

/// `json`, if a strict reader takes it.
fn strict(json: &RawValue) -> Option<String> {
    cr_json::is_value(json.get()).then(|| json.get().to_owned())
}

/// `raw`, if it is not null and a strict reader takes it.
pub(crate) fn given(raw: Raw<'_>) -> Option<String> {
    let text = std::str::from_utf8(raw.bytes()).ok()?;
    (!raw.is_null() && cr_json::is_value(text)).then(|| text.to_owned())
}
