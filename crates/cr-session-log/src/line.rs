//! One line: what facts are made of, and nothing else.

use cr_event::{Cursor, Kind, Malformed, Raw, Text};

use crate::body::Body;
use crate::time::milliseconds;

/// Ends the walk through a line that holds no fact. It is no error of the line.
const NOTHING: Malformed = Malformed {
    column: 0,
    reason: "nothing to count",
};

/// The kinds of lines that hold facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineKind {
    Assistant,
    User,
    System,
    CostState,
    /// A subagent's line in the log of its session, in `data`.
    Progress,
    Other,
}

impl LineKind {
    fn of(name: Text<'_>) -> Self {
        if name.is("progress") {
            return Self::Progress;
        }
        match Kind::of(name.decode().as_bytes()) {
            Kind::Assistant => Self::Assistant,
            Kind::User => Self::User,
            Kind::System => Self::System,
            Kind::CostState => Self::CostState,
            _ => Self::Other,
        }
    }
}

/// The parts of a line. The first of two fields with one name counts.
#[expect(clippy::struct_excessive_bools, reason = "flags of the line itself")]
#[derive(Debug, Default)]
pub(crate) struct Line<'a> {
    pub(crate) kind: Option<LineKind>,
    pub(crate) subtype: Option<Text<'a>>,
    pub(crate) session_id: Option<Text<'a>>,
    pub(crate) timestamp: Option<Text<'a>>,
    pub(crate) uuid: Option<Text<'a>>,
    pub(crate) request_id: Option<Text<'a>>,
    pub(crate) agent_id: Option<Text<'a>>,
    pub(crate) cwd: Option<Text<'a>>,
    pub(crate) git_branch: Option<Text<'a>>,
    pub(crate) version: Option<Text<'a>>,
    pub(crate) message: Option<Body<'a>>,
    pub(crate) cost_usd: Option<Raw<'a>>,
    pub(crate) total_cost_usd: Option<Raw<'a>>,
    pub(crate) model_usage: Option<Raw<'a>>,
    pub(crate) compaction: Option<Raw<'a>>,
    pub(crate) origin: Option<Raw<'a>>,
    /// What a `progress` line carries.
    pub(crate) data: Option<Raw<'a>>,
    pub(crate) is_sidechain: bool,
    pub(crate) is_fork: bool,
    /// No person typed it.
    pub(crate) is_meta: bool,
    pub(crate) is_api_error: bool,
}

/// What [`Line::read`] made of a line.
#[expect(
    clippy::large_enum_variant,
    reason = "on the stack of one call; a box would be one a line"
)]
pub(crate) enum Reading<'a> {
    /// A line that may hold facts.
    Line(Line<'a>),
    /// A line that holds none.
    Nothing,
    /// No whole object.
    Broken,
}

impl<'a> Line<'a> {
    /// Reads a line. With `all` it is read to its end even if it holds no fact.
    pub(crate) fn read(bytes: &'a [u8], all: bool) -> Reading<'a> {
        let mut line = Self::default();
        let mut cursor = Cursor::new(bytes);
        let read = cursor.object(|cursor, key| {
            let decides = line.field(cursor, key)?;
            if decides && !all && line.holds_nothing() {
                return Err(NOTHING);
            }
            Ok(())
        });
        match read.and_then(|is_object| cursor.end().map(|()| is_object)) {
            Ok(true) => Reading::Line(line),
            Err(NOTHING) => Reading::Nothing,
            Ok(false) | Err(_) => Reading::Broken,
        }
    }

    /// Reads one field; returns whether it may decide that there is no fact.
    fn field(&mut self, cursor: &mut Cursor<'a>, key: &[u8]) -> Result<bool, Malformed> {
        let text = match key {
            b"type" => {
                let name = cursor.text()?.map(LineKind::of);
                self.kind = self.kind.or(name).or(Some(LineKind::Other));
                return Ok(true);
            }
            b"message" => {
                let body = Body::read(cursor)?;
                self.message.get_or_insert(body);
                return Ok(true);
            }
            b"subtype" => &mut self.subtype,
            b"sessionId" | b"session_id" => &mut self.session_id,
            b"timestamp" => &mut self.timestamp,
            b"uuid" => &mut self.uuid,
            b"requestId" | b"request_id" => &mut self.request_id,
            b"agentId" => &mut self.agent_id,
            b"cwd" => &mut self.cwd,
            b"gitBranch" => &mut self.git_branch,
            b"version" => &mut self.version,
            _ => return self.other_field(cursor, key).map(|()| false),
        };
        let value = cursor.text()?;
        *text = text.or(value);
        Ok(key == b"subtype")
    }

    fn other_field(&mut self, cursor: &mut Cursor<'a>, key: &[u8]) -> Result<(), Malformed> {
        let raw = match key {
            b"costUSD" => &mut self.cost_usd,
            b"totalCostUSD" => &mut self.total_cost_usd,
            b"modelUsage" => &mut self.model_usage,
            b"compactMetadata" | b"compact_metadata" => &mut self.compaction,
            b"origin" => &mut self.origin,
            b"data" => &mut self.data,
            b"isSidechain" => {
                self.is_sidechain = is_true(cursor.raw()?);
                return Ok(());
            }
            b"forkedFrom" => {
                self.is_fork |= !cursor.raw()?.is_null();
                return Ok(());
            }
            b"isMeta"
            | b"isSynthetic"
            | b"isReplay"
            | b"isCompactSummary"
            | b"isVisibleInTranscriptOnly" => {
                self.is_meta |= is_true(cursor.raw()?);
                return Ok(());
            }
            b"isApiErrorMessage" | b"is_api_error_message" => {
                self.is_api_error |= is_true(cursor.raw()?);
                return Ok(());
            }
            _ => return cursor.skip(),
        };
        let value = cursor.raw()?;
        raw.get_or_insert(value);
        Ok(())
    }

    /// Whether what was read so far is enough to know that no fact can follow.
    fn holds_nothing(&self) -> bool {
        match self.kind {
            None | Some(LineKind::Assistant | LineKind::CostState | LineKind::Progress) => false,
            Some(LineKind::User) => {
                let body = self.message.as_ref();
                body.is_some_and(|body| body.failed.is_empty() && !body.may_be_prompt())
            }
            Some(LineKind::System) => self.subtype.is_some() && !self.is_compaction(),
            Some(LineKind::Other) => true,
        }
    }

    /// Whether it says that the history was replaced by a summary.
    pub(crate) fn is_compaction(&self) -> bool {
        self.kind == Some(LineKind::System)
            && self.subtype.is_some_and(|name| name.is("compact_boundary"))
    }

    /// When it was written.
    pub(crate) fn at(&self) -> Option<i64> {
        self.timestamp.and_then(milliseconds)
    }

    /// The line of a subagent that a `progress` line carries, as a line of the
    /// same log.
    pub(crate) fn carried(&self) -> Option<Line<'a>> {
        let data = self
            .data
            .filter(|_| self.kind == Some(LineKind::Progress))?;
        let is_agents = data.get("type").and_then(Raw::text)?.is("agent_progress");
        let carried = data.get("message").filter(|_| is_agents)?;
        let Reading::Line(mut line) = Line::read(carried.bytes(), true) else {
            return None;
        };
        line.session_id = self.session_id;
        line.timestamp = line.timestamp.or(self.timestamp);
        line.cwd = line.cwd.or(self.cwd);
        line.git_branch = line.git_branch.or(self.git_branch);
        line.version = line.version.or(self.version);
        line.agent_id = data.get("agentId").and_then(Raw::text);
        line.is_fork |= self.is_fork;
        line.is_sidechain = true;
        Some(line)
    }
}

fn is_true(raw: Raw<'_>) -> bool {
    raw.bool() == Some(true)
}
