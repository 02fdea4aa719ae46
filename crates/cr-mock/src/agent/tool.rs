//! Calls of tools and their results.

use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use crate::agent::ending::Ended;
use crate::agent::ids;
use crate::agent::input::Priority;
use crate::agent::object::{Json, json, object};
use crate::agent::output::Nested;
use crate::agent::session::Session;
use crate::agent::turn::Wait;

/// What the CLI says in place of the result of a tool that was interrupted.
pub(crate) const REJECTED: &str = "The user doesn't want to proceed with this tool use. The tool \
    use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). STOP \
    what you are doing and wait for the user to tell you how to proceed.";

/// A call of a tool.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) input: Json,
}

/// A command that runs for a call.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) call: Call,
    child: Child,
    output: File,
    pub(crate) ended: OwnedFd,
}

impl Running {
    fn start(call: Call, command: &str) -> anyhow::Result<Self> {
        // A file: a pipe that nobody reads would block the command.
        let output = tempfile::tempfile().context("a file for the output")?;
        let child = Command::new("sh")
            .args(["-c", command])
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output.try_clone()?)
            .process_group(0)
            .spawn()
            .context("sh")?;
        let ended = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
        Ok(Self {
            call,
            child,
            output,
            ended,
        })
    }

    /// Its output and whether it failed, once it has ended.
    pub(crate) fn output(&mut self) -> anyhow::Result<Option<(String, bool)>> {
        let Some(status) = self.child.try_wait()? else {
            return Ok(None);
        };
        let mut text = String::new();
        self.output.rewind()?;
        self.output.read_to_string(&mut text)?;
        let text = text.trim_end();
        if !status.success() {
            let code = status.code().unwrap_or(137);
            return Ok(Some((format!("Exit code {code}\n{text}"), true)));
        }
        let text = if text.is_empty() {
            "(Bash completed with no output)"
        } else {
            text
        };
        Ok(Some((text.to_owned(), false)))
    }

    fn kill(&mut self) {
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        let _ = self.child.wait();
    }
}

impl Session {
    /// The model calls a tool.
    pub(crate) fn call(&mut self, name: &str, input: Json) -> anyhow::Result<Call> {
        let call = Call {
            id: format!("toolu_mock_{}", ids::hex(8)),
            name: name.to_owned(),
            input,
        };
        self.begin_message();
        let text = object! {"type": "text", "text": "working"}.json();
        self.say(&text, Some("tool_use"))?;
        let block = object! {
            "type": "tool_use",
            "name": call.name,
            "input": call.input,
            "id": call.id,
        };
        self.say(&block.json(), Some("tool_use"))?;
        Ok(call)
    }

    pub(crate) fn tool(&mut self, time: Duration) -> anyhow::Result<()> {
        let command = format!("sleep {}; echo done", time.as_secs_f32());
        let input = object! {"command": command, "description": "x"}.json();
        let call = self.call("Bash", input)?;
        self.wait_for(Wait::Tool(call, Instant::now() + time));
        Ok(())
    }

    pub(crate) fn start_command(&mut self, call: Call, command: &str) -> anyhow::Result<()> {
        let running = Running::start(call, command)?;
        self.wait_for(Wait::Command(running));
        Ok(())
    }

    pub(crate) fn kill_command(&mut self) {
        if let Some(turn) = &mut self.turn
            && let Wait::Command(running) = &mut turn.waits
        {
            running.kill();
        }
    }

    /// A tool has ended: its result, then what came meanwhile.
    pub(crate) fn tool_done(
        &mut self,
        call: &Call,
        text: &str,
        is_error: bool,
    ) -> anyhow::Result<()> {
        let content = object! {
            "tool_use_id": call.id,
            "type": "tool_result",
            "content": text,
            "is_error": is_error,
        };
        let value = object! {
            "stdout": text,
            "stderr": "",
            "interrupted": false,
            "isImage": false,
            "noOutputExpected": false,
        };
        let decision = object! {"decision": "accept", "source": "config", "reason_type": "mode"};
        let meta = object! {"id": call.id, "permission_decision": decision.json()};
        self.tool_result(content.json(), &value.json(), &json(&[meta.json()]))?;
        if self.queue.iter().any(|it| it.priority == Priority::Now) {
            return self.end(&Ended {
                subtype: "success",
                is_error: false,
                terminal_reason: "aborted_tools",
                stop_reason: Some("tool_use"),
                result: Some(String::new()),
                api_error: None,
            });
        }
        self.fold()
    }

    /// A tool was not allowed to run, or could not.
    pub(crate) fn tool_refused(&mut self, call: &Call, text: &str) -> anyhow::Result<()> {
        self.refusal(call, text, &format!("Error: {text}"))?;
        if let Some(turn) = &mut self.turn {
            let denial = object! {
                "tool_name": call.name,
                "tool_use_id": call.id,
                "tool_input": call.input,
            };
            turn.denials.push(denial.json());
        }
        self.fold()
    }

    /// An error in place of a result.
    pub(crate) fn refusal(&mut self, call: &Call, text: &str, value: &str) -> anyhow::Result<()> {
        let content = object! {
            "type": "tool_result",
            "content": text,
            "is_error": true,
            "tool_use_id": call.id,
        };
        let meta = object! {"id": call.id, "non_execution_kind": "user-rejected"};
        self.tool_result(content.json(), &json(value), &json(&[meta.json()]))
    }

    pub(crate) fn tool_result(
        &mut self,
        content: Json,
        value: &Json,
        meta: &Json,
    ) -> anyhow::Result<()> {
        let uuid = ids::uuid();
        let message = object! {"role": "user", "content": [content]}.json();
        self.out.user(&message, &uuid, None, Some((value, meta)))?;
        self.log.user(&message, &uuid, Some(value));
        if let Some(turn) = &mut self.turn {
            turn.num_turns += 1;
        }
        Ok(())
    }

    /// The note that a person has interrupted.
    pub(crate) fn interrupted(
        &mut self,
        nested: Option<&Nested>,
        in_tool: bool,
    ) -> anyhow::Result<()> {
        let suffix = if in_tool { " for tool use" } else { "" };
        let text = format!("[Request interrupted by user{suffix}]");
        let block = object! {"type": "text", "text": text}.json();
        let message = object! {"role": "user", "content": [block]}.json();
        let uuid = ids::uuid();
        self.out.user(&message, &uuid, nested, None)?;
        if nested.is_none() {
            self.log.user(&message, &uuid, None);
            if let Some(turn) = &mut self.turn {
                turn.num_turns += 1;
            }
        }
        Ok(())
    }
}
