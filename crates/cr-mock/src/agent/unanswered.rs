//! Ends of tasks that get an empty result in place of a turn.

use std::time::Instant;

use crate::agent::ids;
use crate::agent::object::{Json, json, object};
use crate::agent::result::Ending;
use crate::agent::session::Session;

impl Session {
    /// The newer release answers two agents that ended during a text with one
    /// turn, and gives the other an empty result.
    pub(crate) fn skip_first_of_two(&mut self) -> anyhow::Result<()> {
        if !self.dialect().is_new() {
            return Ok(());
        }
        while self.wakeups.len() > 1 && self.wakeups.iter().all(|it| !it.is_peer()) {
            let Some(first) = self.wakeups.pop_front() else {
                break;
            };
            self.empty_result(first.origin(self.dialect()))?;
        }
        Ok(())
    }

    /// The first message of a resumed session comes after an empty result, if
    /// background tasks ended with the process before.
    pub(crate) fn tell_lost_tasks(&mut self) -> anyhow::Result<()> {
        let tasks = std::mem::take(&mut self.lost_tasks);
        if tasks.is_empty() {
            return Ok(());
        }
        for task in &tasks {
            self.out.system(object! {
                "type": "system",
                "subtype": "task_notification",
                "task_id": task,
                "status": "stopped",
                "output_file": "",
                "summary": "Background task didn't finish before the previous session ended",
            })?;
            let prompt = format!("<task-notification>\n<task-id>{task}</task-id>");
            let mode = &self.options.permission_mode;
            self.log.turn(&json(&prompt), &ids::uuid(), &[], mode);
        }
        self.empty_result(object! {"kind": "task-notification"}.json())
    }

    fn empty_result(&mut self, origin: Json) -> anyhow::Result<()> {
        let mode = &self.options.permission_mode;
        self.out.init(&self.options.model, mode, &[])?;
        self.result(&Ending {
            subtype: "success",
            is_error: false,
            terminal_reason: None,
            stop_reason: None,
            result: Some(String::new()),
            api_error: None,
            num_turns: 0,
            began: Instant::now(),
            denials: Vec::new(),
            origin: Some(origin),
            output: None,
            lead: None,
            uuids: Vec::new(),
        })
    }
}
