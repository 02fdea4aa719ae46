//! Control requests, and what stops a turn.

use crate::agent::ending::Ended;
use crate::agent::input::Request;
use crate::agent::object::{Json, json, object};
use crate::agent::session::Session;
use crate::agent::tool::REJECTED;
use crate::agent::turn::{Turn, Wait};

impl Session {
    pub(crate) fn control(&mut self, request: &Request) -> anyhow::Result<()> {
        let id = &request.request_id;
        let asked = &request.request;
        match &asked.subtype[..] {
            "interrupt" => self.interrupt_request(id, asked.cancel_queued),
            "cancel_async_message" => self.cancel(id, &asked.message_uuid),
            "stop_task" => self.stop_task(id, &asked.task_id),
            "set_model" => {
                self.options.model = self.dialect().resolve(&asked.model);
                let response = object! {"model": self.options.model}.json();
                Ok(self.out.answer(id, Some(&response))?)
            }
            "set_permission_mode" => self.set_mode(id, &asked.mode),
            "get_context_usage" => {
                let usage = self.context_usage();
                Ok(self.out.answer(id, Some(&usage))?)
            }
            "end_session" => self.end_session(id),
            other => Ok(self.out.refuse(id, other)?),
        }
    }

    fn set_mode(&mut self, id: &str, mode: &str) -> anyhow::Result<()> {
        mode.clone_into(&mut self.options.permission_mode);
        self.out.system(object! {
            "type": "system",
            "subtype": "status",
            "status": (),
            "permissionMode": mode,
        })?;
        let response = object! {"mode": mode}.json();
        Ok(self.out.answer(id, Some(&response))?)
    }

    fn context_usage(&self) -> Json {
        let none: [u8; 0] = [];
        object! {
            "categories": none,
            "totalTokens": if self.used.last().is_some() { 100 } else { 0 },
            "maxTokens": 1_000_000,
            "rawMaxTokens": 1_000_000,
            "percentage": 0,
            "gridRows": none,
            "model": self.options.model,
            "autoCompactThreshold": 967_000,
            "isAutoCompactEnabled": true,
            "apiUsage": self.used.last(),
        }
        .json()
    }

    fn end_session(&mut self, id: &str) -> anyhow::Result<()> {
        self.out.answer(id, None)?;
        self.queue.clear();
        self.interrupt()?;
        self.exit = Some(1);
        Ok(())
    }

    fn cancel(&mut self, id: &str, uuid: &str) -> anyhow::Result<()> {
        let at = self.queue.iter().position(|it| it.uuid == uuid);
        let message = at.and_then(|at| self.queue.remove(at));
        let mut response = object! {"cancelled": message.is_some()};
        if let Some(message) = message {
            self.out.lifecycle(&message, "cancelled")?;
            self.log.queue("remove", Some(&message.content));
            if self.dialect().is_new() {
                response.put("message_uuid", uuid);
            }
        }
        Ok(self.out.answer(id, Some(&response.json()))?)
    }

    fn interrupt_request(&mut self, id: &str, cancels: bool) -> anyhow::Result<()> {
        let is_new = self.dialect().is_new();
        let mut cancelled = Vec::new();
        if cancels && is_new {
            for message in std::mem::take(&mut self.queue) {
                self.out.lifecycle(&message, "cancelled")?;
                cancelled.push(message.uuid);
            }
        }
        let killed = self.kill_agents()?;
        self.withdraw()?;
        let named = self.queue.iter().filter(|it| it.is_named);
        let queued: Vec<&String> = named.map(|it| &it.uuid).collect();
        let mut response = object! {"still_queued": queued};
        if cancels {
            response.put("cancelled", &cancelled);
        }
        let response = response.json();
        self.out.answer(id, Some(&response).filter(|_| is_new))?;
        if self.turn.is_none() && killed {
            self.settle()?;
        }
        self.interrupt()
    }

    /// Takes an open question back.
    fn withdraw(&mut self) -> anyhow::Result<()> {
        if let Some(turn) = &self.turn
            && let Wait::Answer(id, _) = &turn.waits
        {
            self.out.withdraw(id)?;
        }
        Ok(())
    }

    /// Ends the turn, if there is one; the session goes on.
    pub(crate) fn interrupt(&mut self) -> anyhow::Result<()> {
        self.kill_command();
        let Some(turn) = &mut self.turn else {
            return Ok(());
        };
        match std::mem::replace(&mut turn.waits, Wait::Nothing) {
            Wait::Answer(_, call) => {
                self.out.state("running")?;
                self.refusal(&call, REJECTED, "User rejected tool use")?;
                self.end_interrupted(true)?;
            }
            Wait::Tool(call, _) => {
                self.refusal(&call, REJECTED, "User rejected tool use")?;
                self.end_interrupted(true)?;
            }
            Wait::Command(running) => {
                self.refusal(&running.call, REJECTED, "User rejected tool use")?;
                self.end_interrupted(true)?;
            }
            Wait::Text(_) => {
                self.say_partly()?;
                self.end_interrupted(false)?;
            }
            Wait::Model(_) | Wait::Nothing => {
                self.speak()?;
                self.end_interrupted(false)?;
            }
        }
        self.begin()
    }

    fn say_partly(&mut self) -> anyhow::Result<()> {
        let block = object! {"type": "text", "text": "answer"}.json();
        self.begin_message();
        self.say(&block, None)
    }

    /// A message that cannot wait ends the text at once, and a tool after it.
    pub(crate) fn preempt(&mut self) -> anyhow::Result<()> {
        if self.turn.as_ref().is_none_or(Turn::is_in_tool) {
            return Ok(());
        }
        self.say_partly()?;
        self.end(&Ended {
            subtype: "success",
            is_error: false,
            terminal_reason: "aborted_streaming",
            stop_reason: None,
            result: Some("answer".to_owned()),
            api_error: None,
        })
    }

    /// Ends the turn as one that a person has interrupted.
    pub(crate) fn end_interrupted(&mut self, in_tool: bool) -> anyhow::Result<()> {
        self.interrupted(None, in_tool)?;
        self.end(&Ended {
            subtype: "error_during_execution",
            is_error: true,
            terminal_reason: if in_tool {
                "aborted_tools"
            } else {
                "aborted_streaming"
            },
            stop_reason: in_tool.then_some("tool_use"),
            result: None,
            api_error: None,
        })
    }

    fn stop_task(&mut self, id: &str, task_id: &str) -> anyhow::Result<()> {
        let at = self.tasks.iter().position(|task| task.id == task_id);
        if let Some(at) = at {
            let task = self.tasks.remove(at);
            self.stop(task)?;
        }
        self.out.answer(id, Some(&json(&object! {}.json())))?;
        self.begin()
    }
}
