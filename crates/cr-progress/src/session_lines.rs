//! The progress lines of a session of many turns: messages, turns, questions.

use std::borrow::Cow;

use cr_event::{Event, Raw, Text};
use cr_stream::{Ask, AskKind, AskState, Input, InputState, Start, State, StateName, TurnCause};

use crate::line::{ProgressLine, Tone};

/// Characters of a question that are shown. How to answer it follows.
const QUESTION: usize = 200;
/// Characters of the whole line.
const LINE: usize = 600;

/// What a session has told so far.
#[derive(Debug, Default)]
pub(crate) struct SessionLines {
    /// How `cr-send` finds the run.
    run: Option<String>,
    /// The last state, and the number of the last turn.
    state: Option<StateName>,
    turn: u64,
}

impl SessionLines {
    /// Takes the name of a run that begins: its id if its directory is where runs
    /// are kept, else the directory.
    pub(crate) fn start(&mut self, start: &Start<'_>, id: Option<Text<'_>>) {
        let Some(dir) = start.run_dir.as_deref() else {
            return;
        };
        let id = id.map(Text::decode).unwrap_or_default();
        let is_kept = !id.is_empty() && dir.ends_with(&format!("/runs/{id}"));
        self.run = Some(if is_kept { id } else { dir.into() }.into_owned());
    }

    /// Whether the run has many turns, as far as it has told.
    pub(crate) fn is_session(&self) -> bool {
        self.turn > 0
    }

    /// The line of a change of state. A sign of life has none.
    pub(crate) fn state(&mut self, state: &State<'_>) -> Option<ProgressLine> {
        let name = state.state.known()?;
        let is_new_turn = state.turn > self.turn;
        let is_same = self.state == Some(name) && !is_new_turn;
        if is_same || state.silent_ms.is_some() {
            return None;
        }
        self.state = Some(name);
        self.turn = state.turn;
        Some(match name {
            StateName::Running if is_new_turn => {
                let cause = state.cause.as_ref();
                let cause = cause.map_or("".into(), |cause| match cause.known() {
                    Some(TurnCause::Task) => Cow::Borrowed("finished task"),
                    _ => cause.as_str().to_owned().into(),
                });
                ProgressLine::new(format!("Turn {}", state.turn), cause)
            }
            StateName::WaitingForInput => ProgressLine::new("Waiting", "for a message"),
            StateName::Asking => ProgressLine::new("Waiting", "for an answer"),
            StateName::Running | StateName::Starting | StateName::Stopping => {
                ProgressLine::new("State", state.state.as_str()).detail()
            }
        })
    }

    /// The line of a change of a question.
    pub(crate) fn ask(&self, ask: &Ask<'_>) -> ProgressLine {
        let question = question(ask);
        let line = match ask.state.known() {
            Some(AskState::Open) => {
                let how = self.how_to_answer(ask);
                ProgressLine::new("Asks", format!("{question} ({how})"))
            }
            Some(AskState::Answered) => {
                let answer = ask.answer.as_deref().unwrap_or("?");
                let by = ask.answered_by.as_deref().unwrap_or("?");
                ProgressLine::new("Answered", format!("{question}: {answer}, by {by}"))
            }
            Some(AskState::Withdrawn) => ProgressLine::new("Withdrawn", question),
            None => ProgressLine::new("Asks", format!("{question}: {}", ask.state)),
        };
        let is_timeout = ask.answered_by.as_deref() == Some("timeout");
        let line = line.most(LINE);
        match ask.state.known() {
            Some(AskState::Open) => line.key(Tone::Warning),
            Some(AskState::Answered) if is_timeout => line.key(Tone::Error),
            _ => line,
        }
    }

    /// The command that answers, with the id of the question.
    fn how_to_answer(&self, ask: &Ask<'_>) -> String {
        let Some(run) = &self.run else {
            return format!("id {}", ask.id);
        };
        let flag = match ask.kind.known() {
            Some(AskKind::Choice) => format!("--answer {} CHOICE", ask.id),
            _ => format!("--allow {}", ask.id),
        };
        let run = cr_io::quote(run).unwrap_or_else(|| "RUN".to_owned());
        format!("cr-send {run} {flag}")
    }
}

/// A question in one line: who asks, the tool, what it is about.
fn question(ask: &Ask<'_>) -> String {
    let agent = ask.agent.as_deref();
    let mut text = agent.map_or_else(String::new, |agent| format!("agent {agent}: "));
    let text_of = cr_io::first_chars(&ask.text, QUESTION).0;
    let is_choice = ask.kind.is(AskKind::Choice);
    if let Some(tool) = ask.tool.as_deref().filter(|_| !is_choice) {
        text.push_str(&format!("{tool}: "));
    }
    text.push_str(text_of);
    let choices = choices(ask);
    if !choices.is_empty() {
        text.push_str(&format!(" [{}]", choices.join(" | ")));
    }
    text.trim_end_matches([':', ' ']).to_owned()
}

/// The answers to choose from, of a question that is open.
fn choices(ask: &Ask<'_>) -> Vec<String> {
    const SHOWN: usize = 6;
    if !ask.kind.is(AskKind::Choice) || !ask.state.is(AskState::Open) {
        return Vec::new();
    }
    let input = ask
        .input
        .as_ref()
        .and_then(|input| Raw::of(input.as_str().as_bytes()));
    let questions = input.and_then(|input| input.get("questions"));
    let first = questions.and_then(|list| list.items().first().copied());
    let options = first.and_then(|first| first.get("options"));
    let options = options.map(Raw::items).unwrap_or_default();
    let labels = options.iter().filter_map(|option| option.string("label"));
    let short = |label: Cow<'_, str>| cr_io::first_chars(&label, 40).0.to_owned();
    labels.map(short).take(SHOWN).collect()
}

/// The line of a change of a message.
pub(crate) fn input(input: &Input<'_>) -> ProgressLine {
    let from = input.from.as_deref().unwrap_or("unknown");
    let reason = input.reason.as_deref();
    let turn = input
        .turn
        .map_or("the turn".to_owned(), |n| format!("turn {n}"));
    let what = match (input.state.known(), input.folded) {
        (Some(InputState::Started), Some(true)) => format!("added to {turn}"),
        (Some(InputState::Started), _) => format!("begins {turn}"),
        _ => input.state.to_string(),
    };
    let why = reason.map_or_else(String::new, |reason| format!(": {reason}"));
    let line = ProgressLine::new("Message", format!("from {from}, {what}{why}"));
    match input.state.known() {
        Some(InputState::Rejected) => line.key(Tone::Warning),
        Some(InputState::Cancelled | InputState::Continued) => line.tone(Tone::Warning),
        Some(InputState::Queued) if reason.is_none() => line.detail(),
        Some(InputState::Done) => line.detail(),
        _ => line,
    }
}

/// A message that an agent or another session sent to the main thread: from whom,
/// and the text. The CLI shows it as a user line.
pub(crate) fn from_peer(event: &Event<'_>) -> Option<(String, String)> {
    let origin = event.is_synthetic.then(|| event.line.get("origin"))??;
    let is_peer = origin.get("kind").and_then(Raw::text)?.is("peer");
    let from = origin.string("name").or_else(|| origin.string("from"));
    let from = from.filter(|_| is_peer)?.into_owned();
    let body = origin.string("body").map(Cow::into_owned);
    let said = || match &event.message.as_ref()?.content {
        cr_event::Content::Text(text) => Some(enclosed(&text.decode()).to_owned()),
        _ => None,
    };
    Some((from, body.or_else(said).unwrap_or_default()))
}

/// What stands between the tags that the CLI puts around the message of an agent;
/// older releases have it nowhere else.
fn enclosed(text: &str) -> &str {
    let inside = text.split_once("<agent-message").and_then(|(_, rest)| {
        let body = rest.split_once('>')?.1;
        Some(body.split_once("</agent-message>")?.0)
    });
    inside.unwrap_or(text).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_of_an_agent_is_what_is_between_the_tags() {
        let text = "Another session sent:\n<agent-message from=\"w\">\nhello > you\n</agent-message>\n\nThat is all.";
        assert_eq!(enclosed(text), "hello > you");
        assert_eq!(enclosed("plain"), "plain");
        assert_eq!(
            enclosed("<agent-message from=\"w\"> cut"),
            "<agent-message from=\"w\"> cut"
        );
    }
}
