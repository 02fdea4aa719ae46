//! A prompt on standard input arrives unchanged.

use serde_json::Value;

use crate::cli::each;
use crate::place::Place;

/// Whether a message of the user in `request` holds `prompt`, whole.
fn holds(request: &Value, prompt: &str) -> bool {
    let messages = request["messages"].as_array().expect("messages");
    let users = messages.iter().filter(|it| it["role"] == "user");
    let mut blocks = users.flat_map(|it| match &it["content"] {
        Value::Array(blocks) => blocks.iter().map(|it| &it["text"]).collect(),
        text => vec![text],
    });
    blocks.any(|text| text.as_str().is_some_and(|text| text.contains(prompt)))
}

#[test]
fn a_megabyte_arrives_whole() {
    let lines = (0..30_000).map(|n| format!("{n:08} lines of a long prompt, öäü\n"));
    let prompt: String = lines.collect();
    assert!(prompt.len() > 1_000_000);
    each(|cli| {
        // A model whose window holds that much, in both versions.
        let place = Place::new();
        let run = place.run(cli, "hello").args(&["--model", "opus"]);
        let ended = run.prompt(&prompt).end();
        assert_eq!(ended.code, Some(0), "{}", ended.result());
        assert!(holds(&ended.requests[0], prompt.trim_end()));
    });
}

#[test]
fn a_prompt_that_looks_like_a_flag_is_a_prompt() {
    each(|cli| {
        let prompt = "--max-turns is what this is about";
        let ended = Place::new().run(cli, "hello").prompt(prompt).end();
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert!(holds(&ended.requests[0], prompt));
    });
}
