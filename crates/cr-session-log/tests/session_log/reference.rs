//! A reader that is strict and slow: every line becomes a tree.

use cr_session_log::{
    CompactionOf, FactOf, MessageOf, ModelTotalOf, SessionTotalOf, Tokens, ToolCallOf,
    ToolFailedOf, TurnOf,
};
use serde_json::Value;

use crate::support::Owned;

/// The facts of a log whose lines are all valid.
pub(crate) fn facts(log: &[u8]) -> Vec<Owned> {
    let mut facts = Vec::new();
    let mut head = None;
    let (mut first_at, mut last_at) = (None, None);
    for line in log.split(|&b| b == b'\n') {
        if let Ok(line) = serde_json::from_slice::<Value>(line) {
            let session = line["sessionId"].as_str().or(line["session_id"].as_str());
            head = head.or(session.map(str::to_owned));
            let session = session.or(head.as_deref()).unwrap_or_default();
            first_at = first_at.or(at(&line));
            let before = facts.len();
            of_line(&line, (session, last_at.or(first_at)), &mut facts);
            if facts.len() > before {
                last_at = at(&line).or(last_at);
            }
        }
    }
    facts
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn at(line: &Value) -> Option<i64> {
    let time: jiff::Timestamp = line["timestamp"].as_str()?.parse().ok()?;
    Some(time.as_millisecond())
}

fn is_fork(line: &Value) -> bool {
    !line["forkedFrom"].is_null()
}

/// `file` is the session, and the last time before the line.
fn of_line(line: &Value, file: (&str, Option<i64>), facts: &mut Vec<Owned>) {
    let (session, last_at) = file;
    match line["type"].as_str() {
        Some("assistant") => assistant(line, file, facts),
        Some("user") => user(line, file, facts),
        Some("system") if line["subtype"] == "compact_boundary" => {
            let data = &line["compactMetadata"];
            facts.push(FactOf::Compaction(CompactionOf {
                session_id: session.to_owned(),
                uuid: text(&line["uuid"]),
                trigger: text(&data["trigger"]),
                at: at(line).or(last_at),
                pre_tokens: data["preTokens"].as_u64(),
                post_tokens: data["postTokens"].as_u64(),
                is_fork: is_fork(line),
            }));
        }
        Some("cost-state") => total(line, file, facts),
        Some("progress") if line["data"]["type"] == "agent_progress" => {
            let mut carried = line["data"]["message"].clone();
            if !matches!(carried["type"].as_str(), Some("assistant" | "user")) {
                return;
            }
            carried["agentId"] = line["data"]["agentId"].clone();
            carried["isSidechain"] = Value::Bool(true);
            for key in ["timestamp", "cwd", "gitBranch", "version"] {
                if !carried[key].is_string() {
                    carried[key] = line[key].clone();
                }
            }
            of_line(&carried, file, facts);
        }
        _ => {}
    }
}

fn blocks(line: &Value) -> &[Value] {
    let blocks = line["message"]["content"].as_array();
    blocks.map(Vec::as_slice).unwrap_or_default()
}

fn assistant(line: &Value, (session, last_at): (&str, Option<i64>), facts: &mut Vec<Owned>) {
    let message = &line["message"];
    if message["model"] == "<synthetic>" {
        return;
    }
    let own = message["id"].as_str().filter(|id| !id.is_empty());
    let of_line = || match text(&line["uuid"]).as_str() {
        "" => {
            let time = at(line).or(last_at).unwrap_or_default();
            let Tokens {
                input,
                output,
                cache_read,
                cache_creation,
                ..
            } = tokens(&message["usage"]);
            format!("line:{session}:{time}:{input}:{output}:{cache_read}:{cache_creation}")
        }
        uuid => format!("uuid:{uuid}"),
    };
    let message_id = own.map_or_else(of_line, str::to_owned);
    let request_id = text(&line["requestId"]);
    if message["usage"].is_object() {
        let is_sidechain = line["isSidechain"] == true;
        let agent = line["agentId"].as_str().filter(|_| is_sidechain);
        let fact = MessageOf {
            message_id: message_id.clone(),
            request_id: request_id.clone(),
            uuid: text(&line["uuid"]),
            session_id: session.to_owned(),
            agent_id: agent.unwrap_or_default().to_owned(),
            model: text(&message["model"]),
            cwd: text(&line["cwd"]),
            git_branch: text(&line["gitBranch"]),
            version: text(&line["version"]),
            at: at(line).or(last_at),
            last_at: at(line).or(last_at),
            usage: tokens(&message["usage"]),
            cost_usd: line["costUSD"].as_f64(),
            is_final: message["stop_reason"].is_string(),
            is_sidechain,
            is_fork: is_fork(line),
            is_fast: message["usage"]["speed"] == "fast",
            is_api_error: line["isApiErrorMessage"] == true,
        };
        facts.push(FactOf::Message(fact));
    }
    for block in blocks(line) {
        if block["type"] == "tool_use" && block["id"].is_string() && block["name"].is_string() {
            facts.push(FactOf::ToolCall(ToolCallOf {
                tool_use_id: text(&block["id"]),
                name: text(&block["name"]),
                message_id: message_id.clone(),
                request_id: request_id.clone(),
                cwd: text(&line["cwd"]),
                at: at(line).or(last_at),
            }));
        }
    }
}

fn tokens(usage: &Value) -> Tokens {
    let number = |key: &str| usage[key].as_u64().unwrap_or(0);
    let split = &usage["cache_creation"];
    let part = |key: &str| split.is_object().then(|| split[key].as_u64().unwrap_or(0));
    Tokens {
        input: number("input_tokens"),
        output: number("output_tokens"),
        cache_read: number("cache_read_input_tokens"),
        cache_creation: number("cache_creation_input_tokens"),
        cache_5m: part("ephemeral_5m_input_tokens"),
        cache_1h: part("ephemeral_1h_input_tokens"),
    }
}

fn user(line: &Value, (session, last_at): (&str, Option<i64>), facts: &mut Vec<Owned>) {
    let is_result = |block: &&Value| block["type"] == "tool_result";
    for block in blocks(line).iter().filter(is_result) {
        if block["is_error"] == true && block["tool_use_id"].is_string() {
            facts.push(FactOf::ToolFailed(ToolFailedOf {
                tool_use_id: text(&block["tool_use_id"]),
            }));
        }
    }
    if is_prompt(line) {
        facts.push(FactOf::Turn(TurnOf {
            session_id: session.to_owned(),
            uuid: text(&line["uuid"]),
            at: at(line).or(last_at),
            is_fork: is_fork(line),
        }));
    }
}

fn is_prompt(line: &Value) -> bool {
    let content = &line["message"]["content"];
    let has_content = content.is_string() || blocks(line).iter().any(Value::is_object);
    let texts = blocks(line).iter().filter(|block| block["type"] == "text");
    let first = content
        .as_str()
        .or_else(|| texts.map(|block| block["text"].as_str()).find_map(|t| t));
    let first = first.unwrap_or_default();
    let flags = [
        "isMeta",
        "isSidechain",
        "isCompactSummary",
        "isVisibleInTranscriptOnly",
    ];
    let begins = [
        "[Request interrupted by user",
        "<local-command",
        "<command-name>",
        "<bash-",
    ];
    has_content
        && !blocks(line)
            .iter()
            .any(|block| block["type"] == "tool_result")
        && !flags.iter().any(|&flag| line[flag] == true)
        && line["origin"]["kind"]
            .as_str()
            .is_none_or(|kind| kind == "human")
        && !begins.iter().any(|begin| first.starts_with(begin))
}

fn total(line: &Value, (session, last_at): (&str, Option<i64>), facts: &mut Vec<Owned>) {
    facts.push(FactOf::SessionTotal(SessionTotalOf {
        session_id: session.to_owned(),
        at: at(line).or(last_at),
        total_cost_usd: line["totalCostUSD"].as_f64(),
    }));
    let Some(models) = line["modelUsage"].as_object() else {
        return;
    };
    for (model, usage) in models {
        let number = |key: &str| usage[key].as_u64().unwrap_or(0);
        let creation = number("cacheCreationInputTokens");
        let parts = [
            number("cacheCreationEphemeral5mInputTokens"),
            number("cacheCreationEphemeral1hInputTokens"),
        ];
        let is_split = parts[0] + parts[1] == creation;
        facts.push(FactOf::ModelTotal(ModelTotalOf {
            session_id: session.to_owned(),
            model: model.clone(),
            at: at(line).or(last_at),
            usage: Tokens {
                input: number("inputTokens"),
                output: number("outputTokens"),
                cache_read: number("cacheReadInputTokens"),
                cache_creation: creation,
                cache_5m: is_split.then_some(parts[0]),
                cache_1h: is_split.then_some(parts[1]),
            },
            cost_usd: usage["costUSD"].as_f64(),
        }));
    }
}
