//! Each fact, in the forms that versions of the CLI write.

use cr_session_log::{FactOf, MessageOf, Resume, Tokens};
use serde_json::{Value, json};

use crate::reference;
use crate::support::{Owned, comparable, facts, facts_of, recorded, scanned};

const AT: &str = "2026-11-18T00:23:41.055Z";
const AT_MS: i64 = 1_794_961_421_055;

fn answer() -> Value {
    json!({"parentUuid": "p", "isSidechain": false, "message": {"id": "m", "model": "claude-opus-5-5",
        "content": [{"type": "text", "text": "Hi."},
            {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"id": "no", "name": "no"}}],
        "stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 2,
            "cache_read_input_tokens": 3, "cache_creation_input_tokens": 4,
            "cache_creation": {"ephemeral_5m_input_tokens": 1, "ephemeral_1h_input_tokens": 3},
            "speed": "standard"}},
        "requestId": "r", "type": "assistant", "uuid": "u", "timestamp": AT, "cwd": "/home/dev",
        "sessionId": "s", "version": "2.1.326", "gitBranch": "main"})
}

fn with(mut line: Value, pointer: &str, key: &str, value: Value) -> Value {
    line.pointer_mut(pointer).expect("there")[key] = value;
    line
}

fn message(line: &Value) -> MessageOf<String> {
    match facts_of(line).into_iter().next() {
        Some(FactOf::Message(message)) => message,
        other => panic!("{other:?} of {line}"),
    }
}

#[test]
fn an_answer_is_a_message_with_its_usage_and_its_calls() {
    let expected = [
        FactOf::Message(MessageOf {
            message_id: "m",
            request_id: "r",
            uuid: "u",
            session_id: "s",
            agent_id: "",
            model: "claude-opus-5-5",
            cwd: "/home/dev",
            git_branch: "main",
            version: "2.1.326",
            at: Some(AT_MS),
            last_at: Some(AT_MS),
            usage: Tokens {
                input: 1,
                output: 2,
                cache_read: 3,
                cache_creation: 4,
                cache_5m: Some(1),
                cache_1h: Some(3),
            },
            cost_usd: None,
            is_final: true,
            is_sidechain: false,
            is_fork: false,
            is_fast: false,
            is_api_error: false,
        }),
        FactOf::ToolCall(cr_session_log::ToolCall {
            tool_use_id: "t1",
            name: "Bash",
            message_id: "m",
            request_id: "r",
            cwd: "/home/dev",
            at: Some(AT_MS),
        }),
    ];
    let expected: Vec<Owned> = expected.map(|fact| fact.map(str::to_owned)).into();
    assert_eq!(facts_of(&answer()), expected);
}

#[test]
fn older_and_odd_answers_say_less_and_are_counted_all_the_same() {
    let mut old = answer();
    old["costUSD"] = json!(0.25);
    old["message"]["usage"] = json!({"input_tokens": 7, "output_tokens": 8});
    old["message"]["stop_reason"] = Value::Null;
    let old = message(&old);
    assert_eq!((old.cost_usd, old.is_final), (Some(0.25), false));
    assert_eq!((old.usage.input, old.usage.cache_5m), (7, None));
    let without = |key: &str| with(answer(), "/message", key, Value::Null);
    assert_eq!(message(&without("id")).message_id, "uuid:u");
    assert_eq!(message(&without("model")).model, "");
    let unsplit = json!({"input_tokens": 1, "cache_creation": {}});
    let unsplit = message(&with(answer(), "/message", "usage", unsplit));
    assert_eq!(unsplit.usage.cache_5m, Some(0));
    assert!(message(&with(answer(), "", "forkedFrom", json!({"sessionId": "x"}))).is_fork);
    assert!(message(&with(answer(), "", "isApiErrorMessage", json!(true))).is_api_error);
    assert!(message(&with(answer(), "/message/usage", "speed", json!("fast"))).is_fast);
    let no_usage = facts_of(&without("usage"));
    assert!(
        matches!(no_usage[..], [FactOf::ToolCall(_)]),
        "{no_usage:?}"
    );
    let synthetic = with(answer(), "/message", "model", json!("<synthetic>"));
    assert_eq!(facts_of(&synthetic), []);
}

#[test]
fn a_model_that_another_one_asked_is_a_message_of_its_own() {
    let parts = json!([{"type": "message", "input_tokens": 1},
        {"type": "advisor_message", "model": "claude-opus-4-5", "input_tokens": 1000, "output_tokens": 20}]);
    let facts = facts_of(&with(answer(), "/message/usage", "iterations", parts));
    let [
        FactOf::Message(first),
        FactOf::Message(advisor),
        FactOf::ToolCall(_),
    ] = &facts[..]
    else {
        panic!("{facts:?}");
    };
    assert_eq!((first.usage.input, &*first.message_id), (1, "m"));
    assert_eq!(
        (advisor.usage.input, &*advisor.message_id),
        (1000, "m:advisor:0")
    );
    assert_eq!(advisor.model, "claude-opus-4-5");
}

#[test]
fn a_subagent_is_named_by_its_lines_or_by_its_file() {
    let mut line = with(answer(), "", "isSidechain", json!(true));
    assert_eq!(message(&line).agent_id, "");
    line["agentId"] = json!("abc");
    let named = message(&line);
    assert_eq!((&*named.agent_id, named.is_sidechain), ("abc", true));
    let start = Resume {
        agent_id: Some("file".to_owned()),
        ..Resume::default()
    };
    let log = format!("{}\n{}\n", answer(), prompt(&json!("Look.")));
    let (facts, _) = scanned(log.as_bytes(), &start);
    let [FactOf::Message(message), FactOf::ToolCall(_)] = &facts[..] else {
        panic!("{facts:?}");
    };
    assert_eq!(message.agent_id, "file");
}

#[test]
fn a_progress_line_carries_the_message_of_a_subagent() {
    let line = json!({"type": "progress", "sessionId": "s", "timestamp": AT, "cwd": "/d",
        "data": {"type": "agent_progress", "agentId": "abc", "message": {"type": "assistant",
            "requestId": "r9", "uuid": "u9", "message": answer()["message"]}}});
    let message = message(&line);
    assert_eq!((&*message.message_id, &*message.request_id), ("m", "r9"));
    assert_eq!((&*message.agent_id, &*message.session_id), ("abc", "s"));
    assert_eq!((message.at, message.is_sidechain), (Some(AT_MS), true));
    assert_eq!(message.cwd, "/d");
    let other = with(line, "/data", "type", json!("bash_progress"));
    assert_eq!(facts_of(&other), []);
}

fn prompt(content: &Value) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": content}, "uuid": "u",
        "timestamp": AT, "sessionId": "s", "isSidechain": false})
}

#[test]
fn a_prompt_is_what_a_person_wrote() {
    let is_turn = |line: &Value| {
        let facts = facts_of(line);
        assert!(facts.len() < 2, "{facts:?}");
        matches!(facts.first(), Some(FactOf::Turn(_)))
    };
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    let result = json!({"type": "tool_result", "tool_use_id": "t", "content": "done"});
    let image = json!([{"type": "image", "source": {}}]);
    let command = "<command-message>review</command-message>\n<command-name>/review</command-name>";
    for content in [
        json!("go"),
        text("go"),
        image,
        json!("a tool_result"),
        json!(command),
    ] {
        assert!(is_turn(&prompt(&content)), "{content}");
    }
    let interrupted = "[Request interrupted by user for tool use]";
    #[rustfmt::skip]
    let others = [
        json!([result]), json!([result, {"type": "text", "text": "x"}]), json!([]), json!(null), json!(7),
        text(interrupted), json!("<local-command-stdout>x"), json!("<command-name>/compact</command-name>"),
        json!("<bash-stdout>x</bash-stdout>"),
    ];
    for content in others {
        assert!(!is_turn(&prompt(&content)), "{content}");
    }
    for flag in [
        "isMeta",
        "isSidechain",
        "isCompactSummary",
        "isVisibleInTranscriptOnly",
    ] {
        assert!(
            !is_turn(&with(prompt(&json!("go")), "", flag, json!(true))),
            "{flag}"
        );
    }
    let origin = |kind: &str| with(prompt(&json!("go")), "", "origin", json!({"kind": kind}));
    assert!(is_turn(&origin("human")) && !is_turn(&origin("task-notification")));
}

#[test]
fn a_tool_that_failed_is_named_whatever_else_the_line_holds() {
    let result = |id: &str, is_error: Value| json!({"tool_use_id": id, "type": "tool_result", "content": "x", "is_error": is_error});
    let content = json!([
        result("t1", json!(true)),
        result("t2", json!(false)),
        result("t3", json!(true)),
        result("t4", json!("true"))
    ]);
    let failed: Vec<String> = facts_of(&prompt(&content))
        .into_iter()
        .map(|fact| match fact {
            FactOf::ToolFailed(failed) => failed.tool_use_id,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(failed, ["t1", "t3"]);
}

#[test]
fn a_total_has_its_models_behind_it_and_a_compaction_its_tokens() {
    let total = json!({"type": "cost-state", "sessionId": "s", "totalCostUSD": 0.5, "modelUsage": {
        "a": {"inputTokens": 1, "outputTokens": 2, "cacheCreationInputTokens": 9, "costUSD": 0.4},
        "b": {"inputTokens": 3, "costUSD": 0.1}}});
    let facts = facts_of(&total);
    let [
        FactOf::SessionTotal(all),
        FactOf::ModelTotal(a),
        FactOf::ModelTotal(b),
    ] = &facts[..]
    else {
        panic!("{facts:?}");
    };
    assert_eq!((&*all.session_id, all.total_cost_usd), ("s", Some(0.5)));
    assert_eq!(
        (&*a.model, a.usage.output, a.usage.cache_5m),
        ("a", 2, None)
    );
    assert_eq!((&*b.model, b.cost_usd), ("b", Some(0.1)));
    let boundary = json!({"type": "system", "subtype": "compact_boundary", "sessionId": "s", "uuid": "u",
        "timestamp": AT, "compactMetadata": {"trigger": "auto", "preTokens": 1372, "postTokens": 27}});
    let facts = facts_of(&boundary);
    let [FactOf::Compaction(compaction)] = &facts[..] else {
        panic!("{facts:?}");
    };
    assert_eq!(compaction.trigger, "auto");
    let tokens = (compaction.pre_tokens, compaction.post_tokens, compaction.at);
    assert_eq!(tokens, (Some(1372), Some(27), Some(AT_MS)));
    let other = with(boundary, "", "subtype", json!("turn_duration"));
    assert_eq!(facts_of(&other), []);
}

#[test]
fn a_line_without_a_session_belongs_to_the_one_of_the_head() {
    let mut line = answer();
    line.as_object_mut().expect("an object").remove("sessionId");
    let log = format!("{{\"type\":\"mode\",\"sessionId\":\"first\"}}\n{line}\n");
    let facts = facts(log.as_bytes());
    assert!(matches!(&facts[0], FactOf::Message(m) if m.session_id == "first"));
}

#[test]
fn every_recorded_log_gives_what_a_strict_reader_finds() {
    let mut count = 0;
    for (path, log) in recorded() {
        let mut valid = Vec::new();
        for line in log.split(|&b| b == b'\n') {
            if serde_json::from_slice::<Value>(line).is_ok() {
                valid.extend_from_slice(line);
                valid.push(b'\n');
            }
        }
        let expected = comparable(reference::facts(&valid));
        assert_eq!(comparable(facts(&valid)), expected, "{}", path.display());
        count += expected.len();
    }
    assert!(count > 500, "{count}");
}
