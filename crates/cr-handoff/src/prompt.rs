//! The prompts of a person, told from what the CLI writes in their place.

use cr_event::{Block, Content, Event, Message, Raw, Text};

/// Beginnings of texts that the CLI writes.
const NOTES: [&str; 8] = [
    "<local-command",
    "<system-reminder>",
    "<task-notification",
    "<bash-",
    "<user-memory",
    "Caveat: The messages below",
    "This session is being continued from a previous conversation",
    "(no content)",
];

/// The mark of a turn that was interrupted.
const INTERRUPTED: &str = "[Request interrupted by user";

/// What a user line of the main thread says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// A person's message.
    Prompt(String),
    /// A command of the CLI, with its arguments.
    Command(String),
    /// A person stopped the turn.
    Interrupted,
    /// Nothing of a person.
    Nothing,
}

/// Reads a user line.
pub(crate) fn said(event: &Event<'_>, message: &Message<'_>) -> Said {
    let texts = texts(message);
    if texts.iter().any(|text| starts(*text, INTERRUPTED)) {
        return Said::Interrupted;
    }
    let texts: Vec<_> = texts.into_iter().filter(|text| !is_note(*text)).collect();
    if texts.is_empty() || is_of_cli(event) {
        return Said::Nothing;
    }
    let texts: Vec<_> = texts.into_iter().map(Text::decode).collect();
    let text = texts.join("\n");
    if text.trim().is_empty() {
        return Said::Nothing;
    }
    match command(&text) {
        Some(command) => Said::Command(command),
        None => Said::Prompt(text.trim().to_owned()),
    }
}

/// The texts of a message that is no result of a tool.
fn texts<'a>(message: &Message<'a>) -> Vec<Text<'a>> {
    let mut texts = Vec::new();
    match &message.content {
        Content::Nothing => {}
        Content::Text(text) => texts.push(*text),
        Content::Blocks(blocks) => {
            for block in blocks {
                match block {
                    Block::Text(text) => texts.push(*text),
                    Block::ToolResult(_) => return Vec::new(),
                    _ => {}
                }
            }
        }
    }
    texts
}

fn is_note(text: Text<'_>) -> bool {
    NOTES.iter().any(|note| starts(text, note))
}

fn starts(text: Text<'_>, start: &str) -> bool {
    text.prefix(128).trim_start().starts_with(start)
}

/// Whether the CLI wrote the line: a reminder, the summary of a compaction, the
/// news of a task, a message of another agent. A message that is repeated when it
/// is taken up is a person's.
fn is_of_cli(event: &Event<'_>) -> bool {
    if event.is_synthetic && !event.is_replay() {
        return true;
    }
    let flag = |key| event.line.get(key).and_then(Raw::bool) == Some(true);
    let origin = event.line.at(&["origin", "kind"]).and_then(Raw::text);
    flag("isCompactSummary")
        || flag("isVisibleInTranscriptOnly")
        || origin.is_some_and(|kind| !kind.is("human"))
}

/// The command in the tags that the CLI writes for one.
fn command(text: &str) -> Option<String> {
    if !text.trim_start().starts_with("<command-") {
        return None;
    }
    let tagged = |tag: &str| {
        let (_, rest) = text.split_once(&format!("<{tag}>"))?;
        Some(rest.split_once(&format!("</{tag}>"))?.0.trim())
    };
    let name = tagged("command-name")?;
    let arguments = tagged("command-args").unwrap_or_default();
    Some(format!("{name} {arguments}").trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_said_is_told_from_what_the_cli_wrote() {
        let prompt = |text: &str| Said::Prompt(text.to_owned());
        #[rustfmt::skip]
        let cases = [
            (r#""message":{"content":" do it "}"#, prompt("do it")),
            (r#""message":{"content":[{"type":"text","text":"<system-reminder>x"},{"type":"text","text":"do"},{"type":"text","text":"it"}]}"#, prompt("do\nit")),
            (r#""message":{"content":"again"},"isSynthetic":true,"isReplay":true"#, prompt("again")),
            (r#""message":{"content":"hint"},"isMeta":true"#, Said::Nothing),
            (r#""message":{"content":"Summary"},"isCompactSummary":true"#, Said::Nothing),
            (r#""message":{"content":"news"},"origin":{"kind":"task-notification"}"#, Said::Nothing),
            (r#""message":{"content":"typed"},"origin":{"kind":"human"}"#, prompt("typed")),
            (r#""message":{"content":"<local-command-stdout>Bye</local-command-stdout>"}"#, Said::Nothing),
            (r#""message":{"content":"<command-name>/fix</command-name>\n<command-args>the bug</command-args>"}"#, Said::Command("/fix the bug".into())),
            (r#""message":{"content":[{"type":"text","text":"[Request interrupted by user for tool use]"}]}"#, Said::Interrupted),
            (r#""message":{"content":[{"type":"tool_result","content":"x"},{"type":"text","text":"y"}]}"#, Said::Nothing),
            (r#""message":{"content":"  "}"#, Said::Nothing),
        ];
        for (fields, expected) in cases {
            let line = format!(r#"{{"type":"user",{fields}}}"#);
            let event = Event::parse(line.as_bytes()).expect("an event");
            let message = event.message.as_ref().expect("a message");
            assert_eq!(said(&event, message), expected, "{fields}");
        }
    }
}
