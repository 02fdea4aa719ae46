//! A question of the agent, and the line that answers it.

use std::time::Instant;

use cr_event::{Raw, Text};
use cr_rundir::{Decision, QuestionLine};
use cr_stream::{Ask, AskKind, AskState, Named};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::activity;
use crate::context::Context;

/// The most characters of a question that are shown.
const MAX_TEXT: usize = 500;

/// A question that waits for an answer.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) id: String,
    pub(crate) kind: AskKind,
    pub(crate) tool: String,
    pub(crate) agent: Option<String>,
    /// In one line, with secrets masked.
    pub(crate) text: String,
    pub(crate) input: Box<RawValue>,
    pub(crate) input_sha256: String,
    pub(crate) suggestions: Option<Box<RawValue>>,
    /// The call that it is about.
    pub(crate) call: Option<String>,
    /// The path that the agent may not use, where it says so.
    pub(crate) blocked_path: Option<String>,
    /// Since when it is open; later by the time that does not count.
    pub(crate) since: Instant,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) decision: Decision,
    /// The reason of a refusal, or the choice.
    pub(crate) text: Option<String>,
    /// Who or what gives it.
    pub(crate) by: String,
    /// The turn ends with it.
    pub(crate) interrupts: bool,
}

impl Answer {
    /// An answer that lets the turn go on.
    pub(crate) fn new(decision: Decision, text: Option<String>, by: impl Into<String>) -> Self {
        Self {
            decision,
            text,
            by: by.into(),
            interrupts: false,
        }
    }
}

impl Question {
    /// Reads the agent's request.
    pub(crate) fn read(line: Raw<'_>, context: &Context<'_>, now: Instant) -> Option<Self> {
        let request = line.get("request")?;
        let text = |key: &str| request.string(key).map(std::borrow::Cow::into_owned);
        let raw = |key: &str| request.get(key).and_then(own);
        let tool = text("tool_name")?;
        let kind = match &*tool {
            "AskUserQuestion" => AskKind::Choice,
            "ExitPlanMode" => AskKind::Plan,
            _ => AskKind::Permission,
        };
        let input = raw("input").or_else(|| RawValue::from_string("{}".to_owned()).ok())?;
        let shown = shown_text(kind, &input).or_else(|| text("description"));
        Some(Self {
            id: line.string("request_id")?.into_owned(),
            kind,
            agent: text("agent_id"),
            text: context
                .redactor
                .redact(&shown.unwrap_or_default())
                .into_owned(),
            input_sha256: sha256(input.get().as_bytes()),
            input,
            suggestions: raw("permission_suggestions"),
            call: text("tool_use_id"),
            blocked_path: text("blocked_path"),
            tool,
            since: now,
        })
    }

    /// Its `cr/ask` line; `answer` is given once it is answered. What the agent
    /// wrote is masked, as in all lines of our own.
    pub(crate) fn ask<'a>(
        &'a self,
        state: AskState,
        answer: Option<&'a Answer>,
        context: &Context<'_>,
    ) -> Ask<'a> {
        let masked = |raw: &RawValue| {
            let text = context.redactor.redact(raw.get()).into_owned();
            // A mask inside an escape could break the JSON: then nothing is shown.
            let raw = RawValue::from_string(text).ok()?;
            cr_stream::Json::of(&raw).ok()
        };
        Ask {
            id: self.id.as_str().into(),
            kind: self.kind.into(),
            tool: Some(self.tool.as_str().into()),
            agent: self.agent.as_deref().map(Into::into),
            text: self.text.as_str().into(),
            input: masked(&self.input),
            suggestions: self.suggestions.as_deref().and_then(masked),
            state: state.into(),
            answer: answer.map(|answer| answer.decision.as_str().into()),
            answered_by: answer.map(|answer| answer.by.as_str().into()),
        }
    }

    /// Its first line in `questions`.
    pub(crate) fn record(&self) -> QuestionLine {
        QuestionLine {
            id: self.id.clone(),
            at: cr_stream::now(),
            tool: Some(self.tool.clone()),
            kind: Some(self.kind.as_str().to_owned()),
            agent: self.agent.clone(),
            text: Some(self.text.clone()),
            input: Some(self.input.clone()),
            input_sha256: Some(self.input_sha256.clone()),
            state: Some(AskState::Open.as_str().to_owned()),
            ..QuestionLine::default()
        }
    }

    /// The line that gives `answer` to the agent, or why it cannot be given.
    pub(crate) fn reply(&self, answer: &Answer) -> Result<Vec<u8>, String> {
        let response = match (answer.decision, self.kind) {
            (Decision::Deny, _) => deny(answer),
            (Decision::Choose, AskKind::Choice) => {
                let input = self.with_choice(answer.text.as_deref().unwrap_or_default())?;
                format!(r#"{{"behavior":"allow","updatedInput":{input}}}"#)
            }
            (Decision::Choose, _) => {
                return Err("it is no question with choices; allow or deny it".to_owned());
            }
            (Decision::Allow | Decision::AllowSession, AskKind::Choice) => {
                return Err("it asks for a choice; answer it".to_owned());
            }
            // Without the input, some versions do not run the tool.
            (Decision::Allow, _) => {
                format!(r#"{{"behavior":"allow","updatedInput":{}}}"#, self.input)
            }
            (Decision::AllowSession, _) => format!(
                r#"{{"behavior":"allow","updatedInput":{},"updatedPermissions":{}}}"#,
                self.input,
                self.session_rules()?
            ),
        };
        let id = serde_json::Value::from(self.id.as_str());
        let line = format!(
            r#"{{"type":"control_response","response":{{"subtype":"success","request_id":{id},"response":{response}}}}}"#
        );
        Ok(one_line(&line))
    }

    /// The rules that the agent suggests, for this session only.
    fn session_rules(&self) -> Result<String, String> {
        let none = || "the agent suggests no rule for the session; allow it once".to_owned();
        let text = self.suggestions.as_deref().ok_or_else(none)?.get();
        let mut rules: Vec<serde_json::Map<String, serde_json::Value>> =
            serde_json::from_str(text).map_err(|_| none())?;
        // Not a change of the mode, which allows more than this call.
        rules.retain(|rule| rule.get("type").is_some_and(|kind| kind == "addRules"));
        if rules.is_empty() {
            return Err(none());
        }
        for rule in &mut rules {
            // Never a file that outlives the session.
            rule.insert("destination".to_owned(), "session".into());
        }
        serde_json::to_string(&rules).map_err(|err| err.to_string())
    }

    /// The input with the answers to its questions.
    fn with_choice(&self, choice: &str) -> Result<String, String> {
        let questions = Raw::of(self.input.get().as_bytes()).and_then(|it| it.get("questions"));
        let questions = questions.map(Raw::items).unwrap_or_default();
        let names: Vec<String> = questions
            .iter()
            .filter_map(|question| question.string("question"))
            .map(std::borrow::Cow::into_owned)
            .collect();
        if names.is_empty() {
            return Err("it has no question; deny it".to_owned());
        }
        let answers = answers(&names, choice)?;
        let body = self.input.get().trim_end().strip_suffix('}').unwrap_or("{");
        Ok(format!(r#"{body},"answers":{answers}}}"#))
    }
}

/// The answers by question: `choice` is the answer of the only question, or an
/// object of answers.
fn answers(names: &[String], choice: &str) -> Result<String, String> {
    let object: Option<serde_json::Map<String, serde_json::Value>> =
        serde_json::from_str(choice).ok();
    let map = match (names, object) {
        (_, Some(map)) if names.iter().all(|name| map.contains_key(name)) => map,
        ([name], _) if !choice.trim().is_empty() => {
            serde_json::Map::from_iter([(name.clone(), choice.into())])
        }
        ([_], _) => return Err("the answer is empty".to_owned()),
        _ => {
            let names = names.join("\", \"");
            return Err(format!(
                "it has {} questions; answer with a JSON object of \"{names}\"",
                names.len()
            ));
        }
    };
    serde_json::to_string(&map).map_err(|err| err.to_string())
}

fn deny(answer: &Answer) -> String {
    let text = answer.text.as_deref().unwrap_or("The user denied this.");
    let text = serde_json::Value::from(text);
    let interrupt = if answer.interrupts {
        r#","interrupt":true"#
    } else {
        ""
    };
    format!(r#"{{"behavior":"deny","message":{text}{interrupt}}}"#)
}

/// `text`, which is JSON, as one line with its newline.
fn one_line(text: &str) -> Vec<u8> {
    let plain = |b: u8| if b == b'\n' || b == b'\r' { b' ' } else { b };
    text.bytes().map(plain).chain([b'\n']).collect()
}

fn own(raw: Raw<'_>) -> Option<Box<RawValue>> {
    let text = std::str::from_utf8(raw.bytes()).ok()?;
    RawValue::from_string(text.to_owned()).ok()
}

/// The question in one line.
fn shown_text(kind: AskKind, input: &RawValue) -> Option<String> {
    let input = Raw::of(input.get().as_bytes())?;
    let text = match kind {
        AskKind::Choice => {
            let questions = input.get("questions").map(Raw::items)?;
            let texts = questions.iter().filter_map(|it| it.string("question"));
            texts.collect::<Vec<_>>().join(" / ")
        }
        AskKind::Plan => {
            let plan = input.get("plan").and_then(Raw::text).map(Text::decode);
            plan.unwrap_or_default().into_owned()
        }
        AskKind::Permission => activity::target(input)?,
    };
    let line = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = line.collect::<Vec<_>>().join("; ");
    Some(cr_io::first_chars(&line, MAX_TEXT).0.to_owned())
}

fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().fold(String::new(), |mut text, byte| {
        text.push_str(&format!("{byte:02x}"));
        text
    })
}
