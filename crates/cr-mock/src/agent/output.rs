//! The lines on standard output, with the fields of the release they come from.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;

use crate::agent::ids;
use crate::agent::input::Message;
use crate::agent::object::{Json, Object, json, object};
use crate::agent::options::{Dialect, Options};

const INIT_NEW: &str = include_str!("init-2.1.326.json");
const INIT_OLD: &str = include_str!("init-2.1.197.json");

/// Standard output.
#[derive(Debug)]
pub(crate) struct Output {
    file: File,
    pub(crate) dialect: Dialect,
    pub(crate) session_id: String,
    pub(crate) cwd: String,
    tells_state: bool,
    replays: bool,
    asks: bool,
}

/// Which agent a line belongs to, if not the main one.
#[derive(Clone, Debug)]
pub(crate) struct Nested {
    pub(crate) tool_use_id: String,
    pub(crate) agent_id: String,
    pub(crate) description: String,
}

impl Output {
    pub(crate) fn new(options: &Options, session_id: &str, cwd: &str) -> io::Result<Self> {
        Ok(Self {
            // Not the buffered one: each line is written at once, and whole.
            file: io::stdout().as_fd().try_clone_to_owned()?.into(),
            dialect: options.dialect,
            session_id: session_id.to_owned(),
            cwd: cwd.to_owned(),
            tells_state: options.tells_state,
            replays: options.replays,
            asks: options.asks,
        })
    }

    pub(crate) fn line(&mut self, line: &str) -> io::Result<()> {
        self.file.write_all(format!("{line}\n").as_bytes())
    }

    fn send(&mut self, line: Object) -> io::Result<()> {
        self.line(line.json().get())
    }

    /// A line that ends with an id of its own and the session.
    pub(crate) fn system(&mut self, mut line: Object) -> io::Result<()> {
        line.put("uuid", &ids::uuid());
        line.put("session_id", &self.session_id);
        self.send(line)
    }

    pub(crate) fn state(&mut self, state: &str) -> io::Result<()> {
        if !self.tells_state {
            return Ok(());
        }
        self.system(object! {
            "type": "system",
            "subtype": "session_state_changed",
            "state": state,
        })
    }

    /// The life of a message; the older release does not tell it.
    pub(crate) fn lifecycle(&mut self, message: &Message, state: &str) -> io::Result<()> {
        if !self.dialect.is_new() || !message.is_named {
            return Ok(());
        }
        self.system(object! {
            "type": "command_lifecycle",
            "command_uuid": message.uuid,
            "state": state,
        })
    }

    pub(crate) fn init(&mut self, model: &str, mode: &str, uuids: &[String]) -> io::Result<()> {
        let template = if self.dialect.is_new() {
            INIT_NEW
        } else {
            INIT_OLD
        };
        let tools = if self.asks {
            r#""Task","AskUserQuestion","EnterPlanMode","ExitPlanMode""#
        } else {
            r#""Task""#
        };
        let mut line = template
            .trim_end()
            .replace("{{cwd}}", json(&self.cwd).get())
            .replace("{{model}}", json(model).get())
            .replace("{{tools}}", tools)
            .replace("{{mode}}", mode)
            .replace("{{pid}}", &std::process::id().to_string())
            .replace("{{uuid}}", &ids::uuid())
            .replace("{{session_id}}", &self.session_id);
        if self.dialect.is_new() && !uuids.is_empty() {
            line.pop();
            line += &format!(",\"user_message_uuids\":{}}}", json(uuids).get());
        }
        self.line(&line)
    }

    /// A message comes back when it is taken up; at once if it is dropped.
    pub(crate) fn replay(
        &mut self,
        content: &Json,
        uuid: &str,
        at: Option<&String>,
    ) -> io::Result<()> {
        if !self.replays {
            return Ok(());
        }
        let mut line = object! {
            "type": "user",
            "message": object! {"role": "user", "content": content}.json(),
            "session_id": self.session_id,
            "parent_tool_use_id": (),
            "uuid": uuid,
        };
        line.put_some("timestamp", at);
        line.put("isReplay", &true);
        self.send(line)
    }

    /// A prompt that nobody typed.
    pub(crate) fn replay_synthetic(&mut self, text: &str, origin: &Json) -> io::Result<()> {
        if !self.replays {
            return Ok(());
        }
        self.send(object! {
            "type": "user",
            "message": object! {"role": "user", "content": text}.json(),
            "session_id": self.session_id,
            "parent_tool_use_id": (),
            "uuid": ids::uuid(),
            "timestamp": ids::now(),
            "isReplay": true,
            "isSynthetic": true,
            "origin": origin,
        })
    }

    /// The answer to a question comes back, too.
    pub(crate) fn echo(&mut self, line: &str) -> io::Result<()> {
        if self.replays {
            self.line(line)
        } else {
            Ok(())
        }
    }

    /// A block of the model; `extra` is what only some of these lines have.
    pub(crate) fn assistant(
        &mut self,
        message: &Json,
        uuid: &str,
        nested: Option<&Nested>,
        extra: &[(&str, Json)],
    ) -> io::Result<()> {
        let mut line = object! {"type": "assistant", "message": message};
        self.put_agent(&mut line, nested);
        line.put("session_id", &self.session_id);
        line.put("uuid", uuid);
        if self.dialect.is_new() {
            line.put("timestamp", &ids::now());
        }
        line.put("request_id", &format!("req_mock_{}", ids::hex(6)));
        for (key, value) in extra {
            line.put(key, value);
        }
        put_task(&mut line, nested);
        self.send(line)
    }

    /// A tool's result, or the note of an interrupt.
    pub(crate) fn user(
        &mut self,
        message: &Json,
        uuid: &str,
        nested: Option<&Nested>,
        result: Option<(&Json, &Json)>,
    ) -> io::Result<()> {
        let mut line = object! {"type": "user", "message": message};
        self.put_agent(&mut line, nested);
        line.put("session_id", &self.session_id);
        line.put("uuid", uuid);
        line.put("timestamp", &ids::now());
        if let Some((value, meta)) = result {
            line.put("tool_use_result", value);
            if self.dialect.is_new() {
                line.put("tool_result_meta", meta);
            }
        }
        put_task(&mut line, nested);
        self.send(line)
    }

    fn put_agent(&self, line: &mut Object, nested: Option<&Nested>) {
        line.put("parent_tool_use_id", &nested.map(|it| &it.tool_use_id));
        if self.dialect.is_new() {
            line.put_some("agent_id", nested.map(|it| &it.agent_id));
        }
    }

    /// The answer to a control request.
    pub(crate) fn answer(&mut self, id: &str, response: Option<&Json>) -> io::Result<()> {
        let mut answer = object! {"subtype": "success", "request_id": id};
        answer.put_some("response", response);
        self.send(object! {"type": "control_response", "response": answer.json()})
    }

    /// A control request that is not known.
    pub(crate) fn refuse(&mut self, id: &str, subtype: &str) -> io::Result<()> {
        let answer = object! {
            "subtype": "error",
            "request_id": id,
            "error": format!("Unsupported control request subtype: {subtype}"),
            "error_code": "unsupported_request",
        };
        self.send(object! {"type": "control_response", "response": answer.json()})
    }

    /// A question to the user.
    pub(crate) fn ask(&mut self, id: &str, request: &Json) -> io::Result<()> {
        self.send(object! {
            "type": "control_request",
            "request_id": id,
            "request": request,
        })
    }

    /// A question is withdrawn.
    pub(crate) fn withdraw(&mut self, id: &str) -> io::Result<()> {
        self.send(object! {"type": "control_cancel_request", "request_id": id})
    }

    /// Where the output of a background task would be.
    pub(crate) fn task_file(&self, task_id: &str) -> String {
        let folder = self.cwd.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        let session = &self.session_id;
        format!("/tmp/claude-0/{folder}/{session}/tasks/{task_id}.output")
    }
}

fn put_task(line: &mut Object, nested: Option<&Nested>) {
    if let Some(nested) = nested {
        line.put("subagent_type", "general-purpose");
        line.put("task_description", &nested.description);
    }
}
