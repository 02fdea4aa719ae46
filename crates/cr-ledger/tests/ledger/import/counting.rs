//! Which messages count, for which session, and what they cost.

use serde_json::{Value, json};

use super::logs::{answer, text, with};
use crate::case::Case;

#[test]
fn lines_of_a_message_are_one_with_the_larger_of_each_count() {
    let case = Case::new();
    let lines = [
        answer("s", "m", 3),
        answer("s", "m", 50),
        answer("s", "m", 7),
    ];
    case.put("p/s.jsonl", &lines);
    let said = case.import();
    assert_eq!(said["messages"], 1, "{said}");
    assert_eq!(
        (said["files"].clone(), said["sessions"].clone()),
        (json!(1), json!(1))
    );
    assert_eq!(said["bytes"], text(&lines).len(), "{said}");
    assert_eq!(case.counted(), (1, 50));
}

#[test]
fn lines_of_a_message_are_one_also_if_only_one_of_them_names_the_request() {
    let named = with(answer("s", "m", 50), &json!({"requestId": "r1"}));
    let mut nameless = answer("s", "m", 7);
    nameless
        .as_object_mut()
        .expect("a line")
        .remove("requestId");
    for lines in [[named.clone(), nameless.clone()], [nameless, named]] {
        let case = Case::new();
        case.put("p/s.jsonl", &lines);
        case.import();
        assert_eq!(case.counted(), (1, 50));
    }
}

#[test]
fn answers_without_any_id_are_told_apart_by_what_they_say() {
    let nameless = |session: &str, output: u64| {
        let mut line = answer(session, "m", output);
        line["message"]
            .as_object_mut()
            .expect("a message")
            .remove("id");
        line.as_object_mut().expect("a line").remove("uuid");
        line
    };
    let case = Case::new();
    case.put("p/s.jsonl", &[nameless("s", 3), nameless("s", 4)]);
    case.put("p/t.jsonl", &[nameless("t", 3)]);
    case.import();
    assert_eq!(case.counted(), (3, 10));
}

#[test]
fn a_fork_and_a_resumed_session_count_only_what_is_their_own() {
    let from = json!({"sessionId": "s", "messageUuid": "u"});
    let own = json!({"timestamp": "2026-11-18T05:00:00.000Z"});
    let original = answer("s", "m", 10);
    // The copy of a resumed session does not say that it is one.
    let resumed = [answer("r", "m", 10), with(answer("r", "k", 4), &own)];
    let fork = [
        with(answer("f", "m", 10), &json!({"forkedFrom": from})),
        with(answer("f", "n", 5), &own),
    ];
    // In both orders of the names, which are those of the import.
    for (first, second) in [("a", "b"), ("b", "a")] {
        let case = Case::new();
        case.put(&format!("p/{first}.jsonl"), &fork);
        case.put(
            &format!("p/{second}.jsonl"),
            std::slice::from_ref(&original),
        );
        case.import();
        let sums = "SELECT session_id, sum(messages) AS n FROM usage GROUP BY 1 ORDER BY 1";
        let expected = [
            json!({"session_id": "f", "n": 1}),
            json!({"session_id": "s", "n": 1}),
        ];
        assert_eq!(case.sql(sums), expected);
        case.put("p/r.jsonl", &resumed);
        case.import();
        assert_eq!(case.counted(), (3, 19));
    }
}

#[test]
fn a_subagent_counts_once_in_its_own_log_and_in_the_progress_lines_of_its_session() {
    let agents = with(
        answer("s", "m", 30),
        &json!({"isSidechain": true, "agentId": "a1"}),
    );
    let carried = json!({
        "type": "progress", "sessionId": "s", "timestamp": agents["timestamp"],
        "data": {"type": "agent_progress", "agentId": "a1", "message": answer("s", "m", 3)}
    });
    let case = Case::new();
    case.put("p/s.jsonl", &[answer("s", "main", 1), carried]);
    case.put("p/s/subagents/agent-a1.jsonl", &[agents]);
    assert_eq!(case.import()["messages"], 2);
    let rows = case.sql("SELECT agent_id, output_tokens AS o FROM messages ORDER BY o");
    let expected = [
        json!({"agent_id": null, "o": 1}),
        json!({"agent_id": "a1", "o": 30}),
    ];
    assert_eq!(rows, expected);
    let sums = "SELECT is_agent, sum(output_tokens) AS o FROM usage GROUP BY 1 ORDER BY 1";
    let expected = [
        json!({"is_agent": 0, "o": 1}),
        json!({"is_agent": 1, "o": 30}),
    ];
    assert_eq!(case.sql(sums), expected);
}

#[test]
fn an_answer_that_a_side_chain_repeats_counts_once_whatever_comes_first() {
    let main = answer("s", "m", 10);
    let replay = json!({"requestId": "another", "isSidechain": true, "agentId": "a1"});
    let replay = with(answer("s", "m", 40), &replay);
    for order in [[&main, &replay], [&replay, &main]] {
        let case = Case::new();
        for (number, line) in order.into_iter().enumerate() {
            case.put(&format!("p/{number}.jsonl"), std::slice::from_ref(line));
            case.import();
        }
        assert_eq!(case.counted(), (1, 10));
        let rows = case.sql("SELECT request_id, agent_id FROM messages");
        assert_eq!(rows, [json!({"request_id": "req-m", "agent_id": null})]);
    }
    // Two requests of the main thread are two messages.
    let case = Case::new();
    case.put(
        "p/s.jsonl",
        &[main.clone(), with(main, &json!({"requestId": "another"}))],
    );
    case.import();
    assert_eq!(case.counted(), (2, 20));
}

#[test]
fn a_message_without_a_time_has_the_last_one_of_its_log_or_that_of_the_file() {
    let case = Case::new();
    let untimed = with(answer("s", "n", 2), &json!({"timestamp": null}));
    case.put("p/a.jsonl", &[answer("s", "m", 1), untimed.clone()]);
    let alone = case.put(
        "p/b.jsonl",
        &[with(untimed, &json!({"requestId": "other"}))],
    );
    super::logs::age(&alone, 0);
    case.import();
    let rows = case.sql("SELECT request_id, timestamp FROM messages ORDER BY 1");
    let time = |at: usize| rows[at]["timestamp"].as_str().expect("a time");
    assert!(time(0).starts_with(&this_year()), "{rows:?}");
    assert_eq!(time(1), "2026-11-18T03:15:00.000Z");
    assert_eq!(time(2), "2026-11-18T03:15:00.000Z");
}

/// This year, as a file that was just written has it.
fn this_year() -> String {
    jiff::Timestamp::now().to_string()[..4].to_owned()
}

#[test]
fn the_cost_is_the_logs_own_or_the_running_total_or_an_estimate() {
    let case = Case::new();
    case.put(
        "p/old.jsonl",
        &[with(answer("old", "m", 10), &json!({"costUSD": 0.25}))],
    );
    case.put("p/plain.jsonl", &[answer("plain", "k", 10)]);
    let total = json!({"type": "cost-state", "sessionId": "total", "totalCostUSD": 0.5,
        "modelUsage": {"claude-sonnet-5-5": {"inputTokens": 1, "outputTokens": 10,
            "cacheReadInputTokens": 100, "cacheCreationInputTokens": 0, "costUSD": 0.5}}});
    case.put("p/total.jsonl", &[answer("total", "n", 10), total]);
    case.import();
    let rows = case.sql("SELECT session_id, cost_usd, cost_source FROM messages ORDER BY 1");
    assert_eq!(
        rows[0],
        json!({"session_id": "old", "cost_usd": 0.25, "cost_source": "log"})
    );
    // 1 input token, 10 of output, 100 from the cache.
    let estimate = json!({"session_id": "plain", "cost_usd": 0.000_112, "cost_source": "estimate"});
    assert_eq!(rows[1], estimate);
    let sums = "SELECT session_id, round(sum(cost_usd), 9) AS usd,
        round(sum(estimated_usd), 9) AS estimated FROM usage GROUP BY 1 ORDER BY 1";
    let expected = [
        json!({"session_id": "old", "usd": 0.25, "estimated": 0.0}),
        json!({"session_id": "plain", "usd": 0.000_112, "estimated": 0.000_112}),
        json!({"session_id": "total", "usd": 0.5, "estimated": 0.0}),
    ];
    assert_eq!(case.sql(sums), expected);
}

#[test]
fn calls_prompts_and_compactions_of_logs_are_in_the_views() {
    let case = Case::new();
    let call = |id: &str, name: &str| json!({"type": "tool_use", "id": id, "name": name});
    let mut calls = answer("s", "m", 1);
    calls["message"]["content"] = json!([call("t1", "Bash"), call("t2", "Read")]);
    let failed = json!({"type": "user", "sessionId": "s", "message": {"content": [
        {"type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": "no"}]}});
    let prompt = json!({"type": "user", "sessionId": "s", "uuid": "p",
        "timestamp": "2026-11-18T03:14:00.000Z", "message": {"content": "go"}});
    let compaction = json!({"type": "system", "subtype": "compact_boundary", "sessionId": "s",
        "uuid": "c", "timestamp": "2026-11-18T03:16:00.000Z",
        "compactMetadata": {"trigger": "auto", "preTokens": 9}});
    case.put("p/s.jsonl", &[prompt, calls, failed, compaction]);
    case.import();
    let rows = case.sql("SELECT tool, project, failed FROM tools ORDER BY 1");
    let expected = [
        json!({"tool": "Bash", "project": "/home/dev/repo", "failed": 1}),
        json!({"tool": "Read", "project": "/home/dev/repo", "failed": 0}),
    ];
    assert_eq!(rows, expected);
    let rows = case.sql("SELECT prompts, compactions, cli_version FROM sessions");
    assert_eq!(
        rows,
        [json!({"prompts": 1, "compactions": 1, "cli_version": "2.1.0"})]
    );
}

#[test]
fn the_sums_of_a_directory_are_those_of_cr_summarize_for_each_model() {
    let fixtures = cr_test::root().join("tests/fixtures/session-logs");
    let dir = fixtures.to_str().expect("text");
    let case = Case::new();
    case.ok(&["import", dir]);
    let mut summarize = case.world.tool("cr-summarize");
    let output = summarize
        .args(["--total", "--estimate-cost", dir])
        .output()
        .expect("run");
    let text = String::from_utf8(output.stdout).expect("text");
    let total: Value = text
        .lines()
        .last()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .expect("a total");
    let models = total["models"].as_object().expect("models");
    assert!(!models.is_empty());
    // A running total may count more tokens than the messages of these logs have.
    let sums = "SELECT model, sum(messages) AS messages, round(sum(cost_usd), 6) AS cost_usd,
            sum(input_tokens) FILTER (WHERE source = 'message') AS input,
            sum(output_tokens) FILTER (WHERE source = 'message') AS output,
            sum(cache_read_tokens) FILTER (WHERE source = 'message') AS cache_read,
            sum(cache_creation_tokens) FILTER (WHERE source = 'message') AS cache_creation
        FROM usage GROUP BY model";
    let rows = case.sql(sums);
    assert_eq!(rows.len(), models.len(), "{rows:?} {models:?}");
    for row in rows {
        let model = &models[row["model"].as_str().expect("a model")];
        for name in [
            "input",
            "output",
            "cache_read",
            "cache_creation",
            "cost_usd",
        ] {
            assert_eq!(row[name], model[name], "{name}: {row} {model}");
        }
    }
}
