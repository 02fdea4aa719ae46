//! What the agent's session log must say at the end: each message once, in its
//! sender's order, with an answer.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::place::Place;
use crate::senders::Sent;

/// How a message of claude-runner begins that continues a turn.
const CONTINUED: &str = "The session was interrupted";

/// The states of the messages, as the runs of the session tell them.
pub(crate) struct Told {
    states: HashSet<(String, String)>,
}

impl Told {
    pub(crate) fn of(place: &Place) -> Self {
        let runs = place.runs();
        let files = ["queue", "stream.ndjson"];
        let lines = files
            .iter()
            .flat_map(|file| runs.iter().flat_map(|run| place.lines_of(run, file)));
        let state = |line: Value| {
            let text = |key: &str| line[key].as_str().map(str::to_owned);
            Some((text("id")?, text("state")?))
        };
        Self {
            states: lines.filter_map(state).collect(),
        }
    }

    pub(crate) fn is(&self, id: &str, state: &str) -> bool {
        self.states.contains(&(id.to_owned(), state.to_owned()))
    }
}

/// A turn in the log.
#[derive(Debug, Default)]
struct Turn {
    /// The messages that began it or were folded into it.
    ids: Vec<String>,
    /// All that the user said in it.
    text: String,
    is_answered: bool,
}

/// The log, as far as it is about the messages.
struct Log<'a> {
    /// The ids of messages that waited together are in the record.
    lists_merged: bool,
    by_text: HashMap<&'a str, &'a Sent>,
    turns: Vec<Turn>,
}

impl Log<'_> {
    fn add(&mut self, record: &Value) {
        if record["isSidechain"] == true {
            return;
        }
        let content = &record["message"]["content"];
        match (record["type"].as_str(), content.as_str()) {
            (Some("user"), Some(text)) if record["isMeta"] != true => {
                self.turns.push(Turn::default());
                self.said(text, &record["uuid"], &record["mergedSendUuids"]);
            }
            (Some("attachment"), _) => {
                let attachment = &record["attachment"];
                let text = attachment["prompt"].as_str().unwrap_or_default();
                self.said(text, &attachment["source_uuid"], &Value::Null);
            }
            (Some("assistant"), _) => self.answered(&record["message"]),
            _ => {}
        }
    }

    /// The user's text: one message, or several that waited, a line for each. The
    /// record has the id of the last one.
    fn said(&mut self, text: &str, uuid: &Value, merged: &Value) {
        let known = text.lines().filter_map(|line| self.by_text.get(line));
        let ids: Vec<String> = known.map(|message| message.id.clone()).collect();
        // Messages of claude-runner may be among them.
        let merged = merged.as_array().into_iter().flatten();
        let named: Vec<&str> = merged.chain([uuid]).filter_map(Value::as_str).collect();
        if let Some(last) = ids.last() {
            let is_all = ids.iter().all(|id| named.contains(&id.as_str()));
            assert!(is_all || !self.lists_merged, "{ids:?}, but {named:?}");
            assert!(
                named.contains(&last.as_str()) || text.contains(CONTINUED),
                "{text}"
            );
        }
        let turn = self.turns.last_mut().expect("a turn");
        turn.ids.extend(ids);
        turn.text.push_str(text);
        turn.is_answered = false;
    }

    fn answered(&mut self, message: &Value) {
        // A resumed session begins with a reply that no model has given.
        if message["model"] == "<synthetic>" {
            return;
        }
        if let Some(turn) = self.turns.last_mut() {
            turn.is_answered = message["stop_reason"] == "end_turn";
        }
    }
}

/// What was seen, for the figures of the campaign.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) turns: usize,
    pub(crate) continued: usize,
    /// Answered, but not in the log.
    pub(crate) lost: usize,
}

/// Checks the log of a session that is over; all `messages` were acknowledged.
///
/// The older release writes its log up to 100 ms after the result of a turn. If
/// it is killed in between, the turn was answered, and the log does not have it.
/// Then our queue says that the message is done, and it must not be sent again:
/// its work was done. So with that release a message may be missing in the log if
/// the queue of a run says `done`.
pub(crate) fn check(place: &Place, messages: &[Vec<Sent>], is_old: bool) -> Seen {
    let all = || messages.iter().flatten();
    let mut log = Log {
        lists_merged: !is_old,
        by_text: all().map(|message| (&*message.text, message)).collect(),
        turns: Vec::new(),
    };
    place.log().iter().for_each(|record| log.add(record));
    let told = Told::of(place);
    let mut seen = Seen {
        turns: log.turns.len(),
        ..Seen::default()
    };
    for message in all() {
        match (log.turns.iter().flat_map(|it| &it.ids))
            .filter(|id| **id == message.id)
            .count()
        {
            1 => {}
            0 if is_old && told.is(&message.id, "done") => seen.lost += 1,
            count => panic!("{count} times in the log: {message:?}"),
        }
    }
    check_order(&log.turns, messages);
    for (index, turn) in log.turns.iter().enumerate() {
        seen.continued += check_answer(turn, &log.turns[index + 1..], &told, is_old);
    }
    assert!(
        log.turns.last().is_none_or(|turn| turn.is_answered),
        "the last turn"
    );
    seen
}

fn check_order(turns: &[Turn], messages: &[Vec<Sent>]) {
    let logged: Vec<&String> = turns.iter().flat_map(|turn| &turn.ids).collect();
    for list in messages {
        let places = list
            .iter()
            .filter_map(|message| logged.iter().position(|id| **id == message.id));
        assert!(places.is_sorted(), "the order of {list:?} in {logged:?}");
    }
}

/// A turn was answered, or it was cut off: then it is said of each of its
/// messages, and a later turn names it. Returns the number of such messages.
fn check_answer(turn: &Turn, later: &[Turn], told: &Told, is_old: bool) -> usize {
    if turn.is_answered {
        return 0;
    }
    for id in &turn.ids {
        // Its answer may be what the log lacks.
        if is_old && told.is(id, "done") {
            continue;
        }
        assert!(
            told.is(id, "continued"),
            "cut off, and not reported: {id} of {turn:?}"
        );
        let is_named = later
            .iter()
            .any(|it| it.text.contains(&format!("- {id}: ")));
        assert!(is_named, "no turn continues {id} of {turn:?}");
    }
    turn.ids.len()
}
