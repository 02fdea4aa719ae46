//! What a resumed session finds in its log.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::agent::ids;
use crate::agent::log::Log;
use crate::agent::object::{Json, object};
use crate::agent::options::Dialect;

/// A log that was found on disk.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    /// The messages that began a turn in it.
    pub(crate) taken: HashSet<String>,
    pub(crate) last: Option<String>,
    pub(crate) leaf: Leaf,
    /// Background tasks whose end it does not have.
    pub(crate) lost_tasks: Vec<String>,
}

/// How the conversation in a log ends.
#[derive(Debug, Default)]
pub(crate) enum Leaf {
    /// With an answer.
    #[default]
    Answer,
    /// With a message that has no answer.
    Prompt(String),
    /// With a call of a tool that has no result.
    Call(String),
    /// With a result or a folded message that the model did not answer.
    Other,
}

/// Looks for the log of session `id` in all projects.
pub(crate) fn find(projects: &Path, id: &str) -> Option<Found> {
    let name = format!("{id}.jsonl");
    let mut paths = fs::read_dir(projects).ok()?.flatten();
    let path = paths.find_map(|it| Some(it.path().join(&name)).filter(|path| path.exists()))?;
    let text = fs::read_to_string(&path).ok()?;
    let mut found = Found {
        path,
        taken: HashSet::new(),
        last: None,
        leaf: Leaf::Answer,
        lost_tasks: Vec::new(),
    };
    for line in text.lines() {
        if let Ok(record) = serde_json::from_str(line) {
            found.add(&record);
        }
    }
    Some(found)
}

impl Found {
    fn add(&mut self, record: &Value) {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let uuid = text(&record["uuid"]);
        self.last = uuid.clone().or(self.last.take());
        let content = &record["message"]["content"];
        match record["type"].as_str() {
            Some("assistant") => {
                self.leaf = text(&content[0]["id"]).map_or(Leaf::Answer, Leaf::Call);
            }
            Some("attachment") => self.leaf = Leaf::Other,
            Some("user") => {
                let prompt = uuid.clone().filter(|_| content.is_string());
                self.leaf = prompt.map_or(Leaf::Other, Leaf::Prompt);
                self.taken.extend(uuid);
                let result = &record["toolUseResult"];
                let task = text(&result["agentId"]).or(text(&result["backgroundTaskId"]));
                self.lost_tasks.extend(task);
                // The turn that told of a task's end names it.
                let told = content.as_str().unwrap_or_default();
                self.lost_tasks.retain(|task| !told.contains(task));
            }
            _ => {}
        }
    }
}

impl Log {
    /// What a resumed session writes before its first turn, so that the turn
    /// that was cut off has an end. It is no answer.
    pub(crate) fn close_leaf(&mut self, leaf: &Leaf, dialect: Dialect) {
        match (leaf, dialect) {
            (Leaf::Answer, _) | (Leaf::Call(_), Dialect::Old) => return,
            (Leaf::Call(call), Dialect::New) => self.close_call(call),
            (Leaf::Other, Dialect::Old) => self.add_prompt("Continue from where you left off."),
            (Leaf::Other, Dialect::New) | (Leaf::Prompt(_), _) => {}
        }
        let block = object! {"type": "text", "text": "No response requested."};
        let message = object! {
            "id": ids::uuid(),
            "model": "<synthetic>",
            "role": "assistant",
            "stop_reason": "stop_sequence",
            "stop_sequence": "",
            "type": "message",
            "content": [block.json()],
        };
        self.assistant(&message.json(), &ids::uuid());
    }

    fn close_call(&mut self, call: &str) {
        let text = "[Tool call interrupted: the session ended before this call's result was \
            recorded, so its outcome is unknown. Check whether it took effect before relying on it \
            or running it again.]";
        let block = object! {
            "type": "tool_result",
            "content": text,
            "is_error": true,
            "tool_use_id": call,
        };
        self.add_user(block.json());
    }

    fn add_prompt(&mut self, text: &str) {
        self.add_user(object! {"type": "text", "text": text}.json());
    }

    fn add_user(&mut self, block: Json) {
        let message = object! {"role": "user", "content": [block]};
        self.user(&message.json(), &ids::uuid(), None);
    }
}
