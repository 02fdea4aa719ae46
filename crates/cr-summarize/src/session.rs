//! The session that the lines belong to.

use cr_event::{Event, Raw, Text};
use jiff::Timestamp;

/// Facts of the session.
#[derive(Debug, Default)]
pub(crate) struct SessionFacts {
    pub(crate) session_id: Option<String>,
    pub(crate) cwd: Option<String>,
    /// The version of the CLI, as it says itself.
    pub(crate) version: Option<String>,
    /// The input is a session's log.
    pub(crate) is_log: bool,
    /// The agent has the tool for an answer to a schema.
    pub(crate) schema_asked: bool,
    /// The `user` lines have no time, as in old releases.
    pub(crate) is_timeless: bool,
    first_at: String,
    last_at: String,
}

impl SessionFacts {
    /// Takes the time and the id, which nearly every line has.
    pub(crate) fn line(&mut self, event: &Event<'_>) {
        self.is_log |= event.is_log;
        self.at(event.at);
        if let Some(version) = event.cli_version.filter(|_| event.is_log) {
            self.version(version);
        }
        let Some(id) = event.session_id else {
            return;
        };
        if self.session_id.as_deref().map(str::as_bytes) != Some(id.bytes()) {
            self.session_id = Some(id.prefix(1024).into_owned());
        }
    }

    fn version(&mut self, version: Text<'_>) {
        if self.version.as_deref().map(str::as_bytes) != Some(version.bytes()) {
            self.version = Some(version.prefix(100).into_owned());
        }
    }

    /// Takes a time; the earliest and the latest one count.
    pub(crate) fn at(&mut self, at: Option<Text<'_>>) {
        // The longest spelling of a moment is far shorter.
        let Some(at) = at.filter(|at| at.bytes().len() <= 64) else {
            return;
        };
        // Lines are not always in order. Times of one spelling compare as text;
        // `ended` takes care of the others.
        let at = at.decode();
        if *at >= *self.last_at {
            self.last_at.clear();
            self.last_at.push_str(&at);
        }
        if self.first_at.is_empty() || *at < *self.first_at {
            self.first_at.clear();
            self.first_at.push_str(&at);
        }
    }

    /// Whether the line belongs to another session.
    pub(crate) fn is_other(&self, event: &Event<'_>) -> bool {
        let known = self.session_id.as_deref().map(str::as_bytes);
        let id = event.session_id.map(Text::bytes);
        known.is_some() && id.is_some() && known != id
    }

    /// Takes the banner of a turn.
    pub(crate) fn banner(&mut self, event: &Event<'_>) {
        let line = event.line;
        if let Some(cwd) = line.string("cwd") {
            self.cwd = Some(cwd.into_owned());
        }
        if let Some(version) = event.cli_version {
            self.version(version);
        }
        let tools = line.get("tools").map(Raw::items).unwrap_or_default();
        let offered = |tool: &Raw<'_>| tool.text().is_some_and(|name| name.is("StructuredOutput"));
        self.schema_asked |= tools.iter().any(offered);
    }

    /// Takes the directory of a log's record, if none is known.
    pub(crate) fn directory(&mut self, line: Raw<'_>) {
        if self.cwd.is_none() {
            self.cwd = line.string("cwd").map(std::borrow::Cow::into_owned);
        }
    }

    /// When an event was; if it has no time, the last time before it.
    pub(crate) fn time_of(&self, event: &Event<'_>) -> Option<Timestamp> {
        let own = event.at.and_then(|at| at.prefix(64).parse().ok());
        own.or_else(|| self.ended())
    }

    /// Whether a time is known.
    pub(crate) fn has_time(&self) -> bool {
        !self.first_at.is_empty()
    }

    /// When it began.
    pub(crate) fn started(&self) -> Option<Timestamp> {
        self.first_at.parse().ok()
    }

    /// The last time that is known, never before the first one.
    pub(crate) fn ended(&self) -> Option<Timestamp> {
        let last: Timestamp = self.last_at.parse().ok()?;
        Some(self.started().map_or(last, |started| last.max(started)))
    }
}
