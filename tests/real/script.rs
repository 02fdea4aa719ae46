//! The parts of a script for the API.

use serde_json::{Value, json};

/// An answer of one text.
pub(crate) fn text(text: &str) -> Value {
    json!({"text": text})
}

/// An answer that begins, and goes on once the file `gate` is there.
pub(crate) fn gated(text: &str, gate: &str) -> Value {
    json!({"text": text, "chunk_size": 5, "gate": format!("{{{{cwd}}}}/{gate}")})
}

/// A call of a tool.
pub(crate) fn call(name: &str, input: &Value) -> Value {
    json!({"blocks": [{"type": "tool_use", "name": name, "input": input}]})
}

/// A call of a command.
pub(crate) fn bash(command: &str) -> Value {
    call("Bash", &json!({"command": command, "description": "work"}))
}

/// A call of a command that ends once the file `gate` is there.
pub(crate) fn wait(gate: &str) -> Value {
    bash(&waiting(gate))
}

/// The command that waits for the file `gate`.
pub(crate) fn waiting(gate: &str) -> String {
    format!("until [ -e {gate} ]; do sleep 0.05; done")
}

/// An error of the API.
pub(crate) fn error(status: u16) -> Value {
    json!({"error": {"status": status}})
}

/// The call that starts the agent `name` in the background.
pub(crate) fn agent(name: &str) -> Value {
    json!({"type": "tool_use", "name": "Agent", "input": {
        "description": format!("{name} works"), "prompt": format!("ROLE-{name} please"),
        "subagent_type": "general-purpose", "name": name, "run_in_background": true}})
}

/// The answers to the agent `name`.
pub(crate) fn lane(name: &str, turns: &[Value]) -> Value {
    json!({"name": name, "match": {"first_user_contains": format!("ROLE-{name} ")}, "turns": turns})
}

/// A script of the main thread alone.
pub(crate) fn script(turns: &[Value]) -> Value {
    json!({"turns": turns})
}
