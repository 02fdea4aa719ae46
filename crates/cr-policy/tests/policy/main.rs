//! The policy of permission questions.

#![allow(missing_docs, reason = "an integration test is a crate of its own")]

mod bash;
mod commands;
mod file;
mod order;
mod paths;

use std::path::Path;

use cr_policy::{Action, Decision, Policy, Question};

/// The policy that hostile commands are tried on.
const COMMANDS: &str = r#"
[[rule]]
tool = "Bash"
command = ["git status", "cargo test *", "ls *"]
action = "allow"
"#;

fn policy(text: &str) -> Policy {
    Policy::parse(text).expect("a policy")
}

/// What `policy` decides about a call in `cwd`.
fn decide(policy: &Policy, tool: &str, input: &str, cwd: &Path) -> Decision {
    policy.decide(&Question {
        tool,
        input: input.as_bytes(),
        cwd,
        blocked_path: None,
    })
}

/// What `policy` decides about a command line.
fn decide_command(policy: &Policy, command: &str) -> Action {
    let input = format!("{{\"command\":{}}}", json(command));
    decide(policy, "Bash", &input, Path::new("/")).action
}

/// `text` as a JSON string.
fn json(text: &str) -> String {
    serde_json::to_string(text).expect("a string")
}
