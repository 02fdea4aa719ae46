//! Session logs for tests.

use std::fs::{self, File};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::case::{Case, Done};

/// A line of an answer: the message `id` of the session, with this output.
pub(crate) fn answer(session: &str, id: &str, output: u64) -> Value {
    json!({
        "type": "assistant", "isSidechain": false, "sessionId": session, "version": "2.1.0",
        "cwd": "/home/dev/repo", "uuid": format!("uuid-{id}-{output}"),
        "requestId": format!("req-{id}"), "timestamp": "2026-11-18T03:15:00.000Z",
        "message": {"id": id, "role": "assistant", "model": "claude-sonnet-5-5", "content": [],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 1, "output_tokens": output,
                "cache_read_input_tokens": 100, "cache_creation_input_tokens": 0}}
    })
}

/// The same with other fields.
pub(crate) fn with(mut line: Value, fields: &Value) -> Value {
    for (name, value) in fields.as_object().expect("fields") {
        line[name] = value.clone();
    }
    line
}

pub(crate) fn text(lines: &[Value]) -> String {
    let mut text = String::new();
    for line in lines {
        text += &format!("{line}\n");
    }
    text
}

impl Case {
    /// The place of a log in the agent's directory.
    pub(crate) fn log_path(&self, name: &str) -> PathBuf {
        let path = self.world.home().join(".claude/projects").join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        path
    }

    pub(crate) fn put(&self, name: &str, lines: &[Value]) -> PathBuf {
        let path = self.log_path(name);
        fs::write(&path, text(lines)).expect("written");
        path
    }

    /// Imports; it must succeed. What it says, as JSON.
    pub(crate) fn import(&self) -> Value {
        self.ok(&["import", "--json"]).rows().remove(0)
    }

    /// Messages and output tokens, as the sums have them.
    pub(crate) fn counted(&self) -> (u64, u64) {
        let sums = "SELECT coalesce(sum(messages), 0) AS n, coalesce(sum(output_tokens), 0) AS o
            FROM usage";
        let row = self.sql(sums).remove(0);
        (row["n"].as_u64().expect("n"), row["o"].as_u64().expect("o"))
    }

    /// Everything that the ledger exports.
    pub(crate) fn exported(&self) -> Vec<Done> {
        let views = [
            "usage",
            "messages",
            "sessions",
            "context",
            "runs",
            "turns",
            "tasks",
            "milestones",
            "quota",
            "tools",
        ];
        views.map(|view| self.ok(&["export", view])).into()
    }
}

/// Makes a file so many days old.
pub(crate) fn age(path: &PathBuf, days: u64) {
    let time = SystemTime::now() - Duration::from_secs(days * 86_400);
    let file = File::options().write(true).open(path).expect("opened");
    file.set_modified(time).expect("set");
}
