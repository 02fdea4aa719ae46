//! A tool call as a label and a short text.

use std::borrow::Cow;

use cr_event::{Raw, Text, ToolUse};

/// Characters of a command that are shown.
const COMMAND: usize = 80;
/// Characters of a description, and of the arguments of an unknown tool.
const OTHER: usize = 60;

/// Bytes of an argument that are decoded; a longer one is cut.
const LONGEST: usize = 1024;

/// What follows a text that is cut, also in rows.
const CUT: &str = "...";

/// How a call is shown: `label: target`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The word before the colon.
    pub label: Cow<'static, str>,
    /// What the tool works on.
    pub target: String,
    /// Characters of it that are shown.
    pub most: usize,
}

/// Describes a call.
pub fn describe(call: &ToolUse<'_>) -> Call {
    let input = call.input;
    let name = call.name.decode();
    let (label, target, most) = match &*name {
        "Read" => ("Read", field(input, &["file_path"], "unknown"), LONGEST),
        "Edit" | "MultiEdit" => ("Edit", field(input, &["file_path"], "unknown"), LONGEST),
        "Write" => ("Write", field(input, &["file_path"], "unknown"), LONGEST),
        "NotebookEdit" => (
            "Edit",
            field(input, &["notebook_path", "file_path"], "unknown"),
            LONGEST,
        ),
        "Bash" => ("Bash", command(input), COMMAND),
        "Grep" | "Glob" => ("Search", field(input, &["pattern"], "unknown"), LONGEST),
        "Task" | "Agent" => ("Subagent", field(input, &["description"], "task"), OTHER),
        "WebFetch" => ("Fetch", field(input, &["url"], "unknown"), LONGEST),
        "WebSearch" => ("WebSearch", field(input, &["query"], "unknown"), LONGEST),
        "Skill" => (
            "Skill",
            field(input, &["skill", "command", "name"], "unknown"),
            LONGEST,
        ),
        "SendMessage" => ("Message", message(input), 2 * OTHER),
        "AskUserQuestion" => ("Question", question(input), 200),
        "TodoWrite" => ("TodoWrite", todos(input), 2 * OTHER),
        "StructuredOutput" => ("Answer", arguments(input), OTHER),
        _ => {
            let (label, target) = (Cow::Owned(name.into_owned()), arguments(input));
            return Call {
                label,
                target,
                most: OTHER,
            };
        }
    };
    Call {
        label: label.into(),
        target,
        most,
    }
}

/// The first of `keys` that is a string, or `missing`.
fn field(input: Option<Raw<'_>>, keys: &[&str], missing: &str) -> String {
    let found = keys.iter().find_map(|key| input?.get(key)?.text());
    found.map_or_else(|| missing.to_owned(), |text| start(text, LONGEST))
}

/// About so many bytes of a text, with a mark where it is cut.
fn start(text: Text<'_>, bytes: usize) -> String {
    let mut start = text.prefix(bytes).into_owned();
    // An escape has more bytes than its character, so the length of the JSON
    // alone does not tell.
    let is_longer = || text.prefix(start.len() + 1).len() > start.len();
    if text.bytes().len() > bytes && is_longer() {
        start.push_str(CUT);
    }
    start
}

/// The start of a command, longer than is shown: a secret at the cut must be
/// recognised.
fn command(input: Option<Raw<'_>>) -> String {
    let found = input.and_then(|input| input.get("command")?.text());
    found.map_or_else(String::new, |text| start(text, COMMAND * 4 + 256))
}

/// The arguments as they were written.
fn arguments(input: Option<Raw<'_>>) -> String {
    let bytes = input.map_or(&b"{}"[..], Raw::bytes);
    let mut start = String::from_utf8_lossy(&bytes[..bytes.len().min(LONGEST)]).into_owned();
    if bytes.len() > LONGEST {
        start.push_str(CUT);
    }
    start
}

fn message(input: Option<Raw<'_>>) -> String {
    let to = field(input, &["to", "recipient"], "unknown");
    let text = field(input, &["summary", "message", "content"], "");
    if text.is_empty() {
        to
    } else {
        format!("{to}: {text}")
    }
}

fn question(input: Option<Raw<'_>>) -> String {
    let questions = input
        .and_then(|input| input.get("questions"))
        .map(Raw::items);
    let first = questions.and_then(|questions| questions.first().copied());
    field(first.or(input), &["question"], "unknown")
}

/// How far a list of tasks is: `1 of 3 done, now: Write tests`.
fn todos(input: Option<Raw<'_>>) -> String {
    let Some(list) = input.and_then(|input| input.get("todos")) else {
        return arguments(input);
    };
    let items = list.items();
    let is = |item: &&Raw<'_>, state: &str| {
        let status = item.get("status").and_then(Raw::text);
        status.is_some_and(|status| status.is(state))
    };
    let done = items.iter().filter(|item| is(item, "completed")).count();
    let text = format!("{done} of {} done", items.len());
    let now = items.iter().find(|item| is(item, "in_progress"));
    let next = items.iter().find(|item| is(item, "pending"));
    let task = |item: &Raw<'_>| field(Some(*item), &["content", "activeForm"], "unknown");
    match (now, next) {
        (Some(now), _) => format!("{text}, now: {}", task(now)),
        (None, Some(next)) => format!("{text}, next: {}", task(next)),
        (None, None) => text,
    }
}
