//! What an agent does between its start and its end.

use serde_json::Value;

use crate::cli::each;
use crate::place::Place;

#[test]
fn a_tool_makes_a_real_commit() {
    each(|cli| {
        let place = Place::new();
        let ended = place.run(cli, "commit").end();
        assert_eq!(ended.code, Some(0));
        assert_eq!(place.git(&["log", "--format=%s"]), "add b\nbegin\n");
        let results = ended.of("user");
        assert_eq!(results.len(), 2);
        let sha = place.git(&["rev-parse", "--short", "HEAD"]);
        let commit = &results[0]["tool_use_result"]["gitOperation"]["commit"];
        assert_eq!(commit["sha"], sha.trim(), "{:#}", results[0]);
        let read = &results[1]["tool_use_result"]["file"]["content"];
        assert_eq!(read.as_str().map(str::trim), Some("alpha"));

        let result = ended.result();
        assert_eq!(result["num_turns"], 3);
        assert_eq!(result["usage"]["input_tokens"], 600);
        assert_eq!(result["usage"]["output_tokens"], 90);
    });
}

#[test]
fn a_subagent_is_marked_by_the_call_that_started_it() {
    each(|cli| {
        let ended = Place::new().run(cli, "agent").end();
        assert_eq!(ended.code, Some(0));
        assert_eq!(ended.result()["result"], "The agent counted.");
        let assistant = ended.of("assistant");
        let call = &assistant[0]["message"]["content"][0];
        assert_eq!(call["name"], "Agent");
        let below = |line: &&Value| line["parent_tool_use_id"] == call["id"];
        let tools: Vec<_> = assistant.iter().copied().filter(below).collect();
        assert_eq!(tools.len(), 1, "{assistant:#?}");
        assert_eq!(tools[0]["message"]["content"][0]["name"], "Bash");
        assert_eq!(tools[0]["session_id"], assistant[0]["session_id"]);
        assert_eq!(ended.requests.len(), 4);
    });
}

#[test]
fn a_resumed_session_keeps_its_id_and_what_was_said() {
    each(|cli| {
        let place = Place::new();
        let first = place.run(cli, "hello").prompt("remember 4711").end();
        let id = first.result()["session_id"].as_str().expect("an id");
        let second = place.run(cli, "hello").args(&["--resume", id]).end();
        assert_eq!(second.code, Some(0));
        assert_eq!(second.result()["session_id"], id);
        let said = second.requests[0]["messages"].to_string();
        assert!(said.contains("remember 4711"), "{said}");
        assert!(said.contains("Hello from the script."), "{said}");
    });
}
