//! A summary has at most four kilobytes.

use serde_json::{Value, json};

use crate::tool::{summary, tool};

fn printed(flags: &[&str], stream: &str) -> (usize, Value) {
    let output = tool()
        .args(flags)
        .write_stdin(stream)
        .output()
        .expect("run");
    (output.stdout.len(), summary(&output).1)
}

fn result(text: &str) -> String {
    json!({"type": "result", "subtype": "success", "result": text}).to_string() + "\n"
}

#[test]
fn the_result_is_cut_at_1500_characters_unless_all_is_asked_for() {
    for letter in ["x", "ä"] {
        let text = letter.repeat(20_000);
        let (bytes, summary) = printed(&[], &result(&text));
        let shown = summary["result"].as_str().expect("a result");
        assert!(bytes <= 4096);
        assert!(text.starts_with(shown));
        let wanted = if letter == "x" {
            1500..=1500
        } else {
            1000..=1500
        };
        assert!(
            wanted.contains(&shown.chars().count()),
            "{}",
            shown.chars().count()
        );
        // What is not held is not searched.
        assert_eq!(summary["truncated"], json!(["json", "result"]));
        let (_, full) = printed(&["--full"], &result(&text));
        assert_eq!(full["result"], text);
        assert_eq!(full["truncated"], Value::Null);
    }
}

#[test]
fn a_thousand_tools_are_shown_as_twenty_and_still_add_up() {
    let mut stream = String::new();
    for n in 0..1000 {
        let call = json!({"type": "tool_use", "id": format!("t{n}"), "name": format!("mcp__server__tool_{n}")});
        let line = json!({"type": "assistant", "message": {"id": format!("m{n}"), "model": "m", "content": [call]}});
        stream += &format!("{line}\n");
    }
    let (bytes, summary) = printed(&[], &stream);
    assert!(bytes <= 4096);
    let tools = summary["tools"].as_object().expect("tools");
    assert!(tools.len() <= 20);
    let sum: u64 = tools
        .values()
        .map(|count| count.as_u64().expect("a count"))
        .sum();
    assert_eq!((sum, &summary["tool_calls"]), (1000, &json!(1000)));
    assert_eq!(summary["tools_total"], 1000);
    assert_eq!(
        printed(&["--full"], &stream).1["tools"]
            .as_object()
            .expect("tools")
            .len(),
        1000
    );
}

#[test]
fn no_input_makes_it_longer() {
    let hostile = ["\u{0}", "\u{2028}", "\"", "\\", "𝄞", "'", "x", "\u{202e}"];
    for piece in hostile {
        let long = piece.repeat(600);
        let denial = json!({"tool_name": long, "tool_use_id": long, "tool_input": {"a": long}});
        let denials: Vec<_> = (0..25)
            .map(|n| {
                let mut denial = denial.clone();
                denial["tool_use_id"] = format!("{n}{long}").into();
                denial
            })
            .collect();
        let lines = [
            json!({"type": "cr", "subtype": "start", "run_id": long, "run_dir": long, "cwd": long, "model": long}),
            json!({"type": "system", "subtype": "init", "session_id": long, "cwd": long, "model": long}),
            json!({"type": "system", "subtype": "background_tasks_changed",
                "tasks": (0..25).map(|n| json!({"task_id": format!("{n}{long}"), "task_type": long, "description": long})).collect::<Vec<_>>()}),
            json!({"type": "assistant", "message": {"id": "a", "model": long, "usage": {"input_tokens": u64::MAX},
                "content": (0..25).map(|n| json!({"type": "tool_use", "id": n.to_string(), "name": format!("{n}{long}")})).collect::<Vec<_>>()}}),
            json!({"type": "cr", "subtype": "git", "phase": "end", "start_sha": long, "end_sha": long, "branch": long,
                "commits": vec![long.clone(); 25], "agent_commits": vec![long.clone(); 25], "error": long}),
            json!({"type": "cr", "subtype": "limit", "clock": long, "doing": long}),
            json!({"type": "system", "subtype": "init", "claude_code_version": long}),
            json!({"type": "rate_limit_event", "rate_limit_info": {"rateLimitType": long, "status": long,
                "unifiedWindows": (0..25).map(|n| (format!("{n}{long}"), json!({"utilization": 0.123_456_789, "status": long})))
                    .collect::<serde_json::Map<_, _>>()}}),
            json!({"type": "cr", "subtype": "task", "attempt": 1, "outcome": long, "session_id": long}),
        ];
        let lines = lines.into_iter().chain((0..25).map(|_| json!({"type": "system",
            "subtype": "compact_boundary", "compact_metadata": {"trigger": long, "pre_tokens": u64::MAX}})));
        let results = (0..21).map(|_| json!({"type": "result", "subtype": long, "is_error": true, "terminal_reason": long,
            "errors": vec![long.clone(); 25], "permission_denials": denials, "structured_output": {"a": long},
            "origin": {"kind": long}, "num_turns": u64::MAX, "duration_ms": u64::MAX, "total_cost_usd": 1e300}));
        let exit = json!({"type": "cr", "subtype": "exit", "reason": long, "exit_code": 1,
            "stderr": {"head": long, "tail": long}, "leaked": vec![json!({"command": long}); 25]});
        let lines = lines.chain(results).chain([exit]);
        let lines: Vec<_> = lines.map(|line| line.to_string()).collect();
        let stream = lines.join("\n");
        let (bytes, summary) = printed(&[], &stream);
        assert!(bytes <= 4096, "{piece:?}: {bytes}");
        assert!(
            summary["truncated"]
                .as_array()
                .is_some_and(|cut| cut.len() > 3)
        );
        assert_eq!(summary["compaction_list_total"], 25);
        assert_eq!(summary["turns_total"], 21);
        assert_eq!(summary["permission_denials_total"], 25);
    }
}
