//! The facts of one line.

use std::borrow::Cow;

use cr_event::{Raw, Text, Usage, by_model};
use memchr::{memchr, memmem};

use crate::body::Body;
use crate::fact::{
    Compaction, Fact, Message, ModelTotal, SessionTotal, Sink, Tokens, ToolCall, ToolFailed, Turn,
};
use crate::line::{Line, LineKind};

/// How texts begin that the CLI writes as lines of a person: the note that one
/// stopped it, commands of its own with their output, and those of a shell. A
/// command that is a prompt begins with `<command-message>`.
const NO_PROMPTS: [&str; 4] = [
    "[Request interrupted by user",
    "<local-command",
    "<command-name>",
    "<bash-",
];

/// What the file says for lines that do not say it themselves.
#[derive(Clone, Copy)]
pub(crate) struct FileFacts<'a> {
    pub(crate) session_id: &'a str,
    /// The subagent, if the file is the log of one.
    pub(crate) agent_id: &'a str,
    /// The last time before the line.
    pub(crate) last_at: Option<i64>,
}

impl FileFacts<'_> {
    fn at(&self, line: &Line<'_>) -> Option<i64> {
        line.at().or(self.last_at)
    }
}

/// Gives the facts of `line` to `sink`.
pub(crate) fn report(line: &Line<'_>, file: FileFacts<'_>, sink: &mut impl Sink) {
    match line.kind {
        Some(LineKind::Assistant) => assistant(line, file, sink),
        Some(LineKind::User) => user(line, file, sink),
        Some(LineKind::System) if line.is_compaction() => compaction(line, file, sink),
        Some(LineKind::CostState) => total(line, file, sink),
        Some(LineKind::Progress) => {
            // What it carries is an answer or the result of a tool.
            if let Some(carried) = line.carried()
                && matches!(carried.kind, Some(LineKind::Assistant | LineKind::User))
            {
                report(&carried, file, sink);
            }
        }
        _ => {}
    }
}

fn decode(text: Option<Text<'_>>) -> Cow<'_, str> {
    text.map(Text::decode).unwrap_or_default()
}

fn session<'a>(own: Option<Text<'a>>, file: FileFacts<'a>) -> Cow<'a, str> {
    let own = own.map(Text::decode);
    own.unwrap_or(Cow::Borrowed(file.session_id))
}

fn assistant(line: &Line<'_>, file: FileFacts<'_>, sink: &mut impl Sink) {
    let Some(body) = &line.message else {
        return;
    };
    if body.model.is_some_and(|model| model.is("<synthetic>")) {
        return;
    }
    let message_id = match body.id.filter(|id| !id.bytes().is_empty()) {
        Some(id) => id.decode(),
        None => Cow::Owned(id_of_line(line, body, file)),
    };
    let request_id = decode(line.request_id);
    if let Some(usage) = body.usage.filter(|usage| usage.bytes().starts_with(b"{")) {
        message(line, body, file, (&message_id, &request_id), usage, sink);
    }
    if body.calls.is_empty() {
        return;
    }
    let (cwd, at) = (decode(line.cwd), file.at(line));
    for &(id, name) in &body.calls {
        sink.fact(Fact::ToolCall(ToolCall {
            tool_use_id: &id.decode(),
            name: &name.decode(),
            message_id: &message_id,
            request_id: &request_id,
            cwd: &cwd,
            at,
        }));
    }
}

/// The id of an answer that has none: that of its line; without one, what the line
/// says, so that two different lines are two answers.
fn id_of_line(line: &Line<'_>, body: &Body<'_>, file: FileFacts<'_>) -> String {
    let uuid = decode(line.uuid);
    if !uuid.is_empty() {
        return format!("uuid:{uuid}");
    }
    let session = session(line.session_id, file);
    let at = file.at(line).unwrap_or_default();
    let tokens = body.usage.map(tokens).unwrap_or_default();
    let (input, output) = (tokens.input, tokens.output);
    let (read, created) = (tokens.cache_read, tokens.cache_creation);
    format!("line:{session}:{at}:{input}:{output}:{read}:{created}")
}

fn message(
    line: &Line<'_>,
    body: &Body<'_>,
    file: FileFacts<'_>,
    (message_id, request_id): (&str, &str),
    raw: Raw<'_>,
    sink: &mut impl Sink,
) {
    let is_sidechain = line.is_sidechain || !file.agent_id.is_empty();
    let agent_id = line.agent_id.filter(|_| is_sidechain).map(Text::decode);
    let at = file.at(line);
    let fact = Message {
        message_id,
        request_id,
        uuid: &decode(line.uuid),
        session_id: &session(line.session_id, file),
        agent_id: agent_id.as_deref().unwrap_or(file.agent_id),
        model: &decode(body.model),
        cwd: &decode(line.cwd),
        git_branch: &decode(line.git_branch),
        version: &decode(line.version),
        at,
        last_at: at,
        usage: tokens(raw),
        cost_usd: line.cost_usd.and_then(Raw::f64),
        is_final: body.stop_reason.is_some(),
        is_sidechain,
        is_fork: line.is_fork,
        is_fast: is_fast(raw),
        is_api_error: line.is_api_error,
    };
    sink.fact(Fact::Message(fact));
    if may_hold(raw, b"advisor_message") {
        advisors(&fact, raw, sink);
    }
}

/// Calls of another model during an answer; the usage of the answer does not
/// contain theirs.
fn advisors(answer: &Message<'_>, usage: Raw<'_>, sink: &mut impl Sink) {
    let parts = usage.get("iterations").map(Raw::items).unwrap_or_default();
    let is_advisor = |part: &Raw<'_>| {
        let kind = part.get("type").and_then(Raw::text);
        kind.is_some_and(|kind| kind.is("advisor_message"))
    };
    for (number, part) in parts.into_iter().filter(is_advisor).enumerate() {
        sink.fact(Fact::Message(Message {
            message_id: &format!("{}:advisor:{number}", answer.message_id),
            model: &part.string("model").unwrap_or_default(),
            usage: tokens(part),
            cost_usd: None,
            is_fast: is_fast(part),
            ..*answer
        }));
    }
}

fn tokens(raw: Raw<'_>) -> Tokens {
    let usage = Usage::of(raw);
    let is_split = usage.cache_5m > 0
        || usage.cache_1h > 0
        || raw
            .get("cache_creation")
            .is_some_and(|split| split.bytes().starts_with(b"{"));
    Tokens::of(usage, is_split)
}

fn is_fast(usage: Raw<'_>) -> bool {
    let speed = || usage.get("speed").and_then(Raw::text);
    may_hold(usage, b"fast") && speed().is_some_and(|speed| speed.is("fast"))
}

/// Whether one of the strings in `raw` can be `text`. With an escape any can.
fn may_hold(raw: Raw<'_>, text: &[u8]) -> bool {
    memmem::find(raw.bytes(), text).is_some() || memchr(b'\\', raw.bytes()).is_some()
}

fn user(line: &Line<'_>, file: FileFacts<'_>, sink: &mut impl Sink) {
    let Some(body) = &line.message else {
        return;
    };
    for id in &body.failed {
        sink.fact(Fact::ToolFailed(ToolFailed {
            tool_use_id: &id.decode(),
        }));
    }
    if is_prompt(line, body) && file.agent_id.is_empty() {
        sink.fact(Fact::Turn(Turn {
            session_id: &session(line.session_id, file),
            uuid: &decode(line.uuid),
            at: file.at(line),
            is_fork: line.is_fork,
        }));
    }
}

/// Whether a person wrote it.
fn is_prompt(line: &Line<'_>, body: &Body<'_>) -> bool {
    if line.is_meta || line.is_sidechain || !body.may_be_prompt() {
        return false;
    }
    let origin = line.origin.and_then(|origin| origin.get("kind"));
    if origin
        .and_then(Raw::text)
        .is_some_and(|kind| !kind.is("human"))
    {
        return false;
    }
    let start = body.text.map(|text| text.prefix(64)).unwrap_or_default();
    !NO_PROMPTS.iter().any(|begin| start.starts_with(begin))
}

fn compaction(line: &Line<'_>, file: FileFacts<'_>, sink: &mut impl Sink) {
    let field = |names: [&str; 2]| {
        let data = line.compaction?;
        data.get(names[0]).or_else(|| data.get(names[1]))
    };
    let trigger = field(["trigger", "trigger"]).and_then(Raw::text);
    sink.fact(Fact::Compaction(Compaction {
        session_id: &session(line.session_id, file),
        uuid: &decode(line.uuid),
        trigger: &decode(trigger),
        at: file.at(line),
        pre_tokens: field(["preTokens", "pre_tokens"]).and_then(Raw::u64),
        post_tokens: field(["postTokens", "post_tokens"]).and_then(Raw::u64),
        is_fork: line.is_fork,
    }));
}

fn total(line: &Line<'_>, file: FileFacts<'_>, sink: &mut impl Sink) {
    let session_id = &session(line.session_id, file);
    let at = file.at(line);
    sink.fact(Fact::SessionTotal(SessionTotal {
        session_id,
        at,
        total_cost_usd: line.total_cost_usd.and_then(Raw::f64),
    }));
    for entry in line.model_usage.map(by_model).unwrap_or_default() {
        let usage = entry.usage;
        // Older releases do not say how long the cache is kept.
        let is_split = usage.cache_5m.saturating_add(usage.cache_1h) == usage.cache_creation;
        sink.fact(Fact::ModelTotal(ModelTotal {
            session_id,
            model: &entry.model.decode(),
            at,
            usage: Tokens::of(usage, is_split),
            cost_usd: entry.cost_usd,
        }));
    }
}
