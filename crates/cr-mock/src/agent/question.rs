//! Questions to the user: may a tool run, and which choice is meant.

use serde::Deserialize;

use crate::agent::ids;
use crate::agent::input::{Decision, Response, Rule};
use crate::agent::object::{Json, json, object};
use crate::agent::session::Session;
use crate::agent::tool::{Call, REJECTED};
use crate::agent::turn::{Turn, Wait};

impl Session {
    /// A tool that needs permission.
    pub(crate) fn ask(&mut self, tool: &str, command: &str) -> anyhow::Result<()> {
        let input = object! {"command": command, "description": "x"}.json();
        let call = self.call(tool, input)?;
        let is_allowed = self.options.permission_mode == "bypassPermissions"
            || self.allowed.contains(&rule(tool, command));
        if is_allowed {
            return self.start_command(call, command);
        }
        if !self.options.asks {
            return self.deny_unasked(&call);
        }
        let suggestion = object! {
            "type": "addRules",
            "rules": [object! {"toolName": tool, "ruleContent": command}.json()],
            "behavior": "allow",
            "destination": "localSettings",
        };
        let mode = object! {"type": "setMode", "mode": "acceptEdits", "destination": "session"};
        let request = object! {
            "subtype": "can_use_tool",
            "tool_name": tool,
            "display_name": tool,
            "input": call.input,
            "description": "x",
            "permission_suggestions": [suggestion.json(), mode.json()],
            "tool_use_id": call.id,
        };
        self.put_question(call, &request.json())
    }

    /// Nobody can be asked.
    fn deny_unasked(&mut self, call: &Call) -> anyhow::Result<()> {
        let tool = &call.name;
        let text =
            format!("Claude requested permissions to use {tool}, but you haven't granted it yet.");
        self.out.system(object! {
            "type": "system",
            "subtype": "permission_denied",
            "tool_name": tool,
            "tool_use_id": call.id,
            "message": text,
        })?;
        self.tool_refused(call, &text)
    }

    /// A question with choices. It is put even if permissions are skipped.
    pub(crate) fn choose(&mut self, question: &str, choices: &[String]) -> anyhow::Result<()> {
        let option = |label: &String| object! {"label": label, "description": label}.json();
        let options: Vec<Json> = choices.iter().map(option).collect();
        let question = object! {
            "question": question,
            "header": "Choice",
            "options": options,
            "multiSelect": false,
        };
        let input = object! {"questions": [question.json()]}.json();
        let call = self.call("AskUserQuestion", input)?;
        if !self.options.asks {
            let text =
                "<tool_use_error>Error: No such tool available: AskUserQuestion</tool_use_error>";
            self.refusal(&call, text, text)?;
            return self.fold();
        }
        let mut request = object! {
            "subtype": "can_use_tool",
            "tool_name": call.name,
            "display_name": call.name,
            "input": call.input,
            "tool_use_id": call.id,
        };
        if self.dialect().is_new() {
            request.put("requires_user_interaction", &true);
        }
        self.put_question(call, &request.json())
    }

    fn put_question(&mut self, call: Call, request: &Json) -> anyhow::Result<()> {
        let id = ids::uuid();
        self.out.state("requires_action")?;
        self.out.ask(&id, request)?;
        self.wait_for(Wait::Answer(id, call));
        if self.is_closed {
            self.answer_open_question();
        }
        Ok(())
    }

    /// The question that is open, if any.
    fn open_question(&mut self, id: Option<&str>) -> Option<Call> {
        let turn: &mut Turn = self.turn.as_mut()?;
        match &turn.waits {
            Wait::Answer(open, call) if id.is_none_or(|id| id == open) => {
                let call = call.clone();
                turn.waits = Wait::Nothing;
                Some(call)
            }
            _ => None,
        }
    }

    /// Nobody can answer any more: an error for the tool, and the turn goes on.
    pub(crate) fn answer_open_question(&mut self) {
        if let Some(call) = self.open_question(None) {
            let text = "Tool permission stream closed before response received";
            let done = self
                .out
                .state("running")
                .map_err(anyhow::Error::from)
                .and_then(|()| self.tool_refused(&call, text));
            // Standard output is closed, too.
            if done.is_err() {
                self.exit = Some(1);
            }
        }
    }

    /// An answer comes. One to a question that is not open is ignored.
    pub(crate) fn decided(&mut self, response: Response, line: &str) -> anyhow::Result<()> {
        let Some(call) = self.open_question(Some(&response.request_id)) else {
            return Ok(());
        };
        self.out.echo(line)?;
        self.out.state("running")?;
        let decision = response.response.unwrap_or_default();
        match (&decision.behavior[..], &decision.updated_input) {
            ("allow", Some(input)) => self.allowed_with(call, input.clone(), &decision),
            // The older one insists on the input.
            ("allow", None) if self.dialect().is_new() => {
                let input = call.input.clone();
                self.allowed_with(call, input, &decision)
            }
            ("deny", _) if decision.interrupt => {
                self.refusal(&call, REJECTED, "User rejected tool use")?;
                self.end_interrupted(true)
            }
            ("deny", _) => self.tool_refused(&call, &decision.message),
            _ => self.tool_refused(&call, "ZodError: invalid permission response"),
        }?;
        self.begin()
    }

    fn allowed_with(&mut self, call: Call, input: Json, decision: &Decision) -> anyhow::Result<()> {
        for update in &decision.updated_permissions {
            match &update.r#type[..] {
                "addRules" => self.allowed.extend(update.rules.iter().cloned()),
                "setMode" => update.mode.clone_into(&mut self.options.permission_mode),
                _ => {}
            }
        }
        let call = Call { input, ..call };
        if call.name == "AskUserQuestion" {
            return self.chosen(&call);
        }
        match serde_json::from_str::<Command>(call.input.get()) {
            Ok(input) => self.start_command(call, &input.command),
            Err(_) => self.tool_refused(&call, "InputValidationError"),
        }
    }

    fn chosen(&mut self, call: &Call) -> anyhow::Result<()> {
        #[derive(Deserialize)]
        struct Input {
            #[serde(default)]
            answers: std::collections::BTreeMap<String, String>,
        }
        let input: Input = serde_json::from_str(call.input.get())?;
        let answers = input.answers.iter();
        let answers: Vec<String> = answers.map(|(q, a)| format!("\"{q}\"=\"{a}\"")).collect();
        let text = format!(
            "Your questions have been answered: {}. You can now continue with these answers in mind.",
            answers.join(", ")
        );
        let content = object! {
            "type": "tool_result",
            "content": text,
            "tool_use_id": call.id,
        };
        let decision = object! {"decision": "accept", "source": "user_temporary"};
        let meta = object! {"id": call.id, "permission_decision": decision.json()};
        self.tool_result(content.json(), &call.input, &json(&[meta.json()]))?;
        self.fold()
    }
}

#[derive(Deserialize)]
struct Command {
    command: String,
}

fn rule(tool: &str, command: &str) -> Rule {
    Rule {
        tool_name: tool.to_owned(),
        rule_content: Some(command.to_owned()),
    }
}
