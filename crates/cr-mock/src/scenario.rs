//! The script of the API: a file of steps, and which request gets which.
//!
//! The format is described in the help of `cr-mock api`. It is this project's
//! own, so an unknown key is a mistake and is refused; a request is the CLI's,
//! so unknown keys there are normal.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

use crate::request::Request;

/// A scenario file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Script {
    turns: Vec<Step>,
    lanes: Vec<Lane>,
    on_exhausted: Option<Step>,
    background: Option<Step>,
    #[serde(rename = "note")]
    _note: Option<String>,
}

/// Steps for the requests that match, beside the main ones.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Lane {
    name: String,
    #[serde(rename = "match")]
    matches: Match,
    turns: Vec<Step>,
}

/// What a request must hold to belong to a lane; every key given must hold.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Match {
    first_user_contains: Option<String>,
    any_user_contains: Option<Words>,
    system_contains: Option<String>,
    model_contains: Option<String>,
    has_tool: Option<String>,
}

/// One text, or several that must all be found.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Words {
    One(String),
    All(Vec<String>),
}

impl Words {
    fn are_in(&self, texts: &[String]) -> bool {
        let words = match self {
            Self::One(word) => std::slice::from_ref(word),
            Self::All(words) => words,
        };
        let is_in = |word: &String| texts.iter().any(|text| text.contains(word.as_str()));
        words.iter().all(is_in)
    }
}

/// One answer to one request.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Step {
    pub(crate) text: Option<String>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) usage: Usage,
    pub(crate) stop_reason: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) delay_ms: u64,
    pub(crate) chunk_delay_ms: u64,
    pub(crate) chunk_size: Option<usize>,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) error: Option<Failure>,
    pub(crate) stream_error: Option<Failure>,
    pub(crate) drop: Option<Cut>,
    pub(crate) silent: bool,
    pub(crate) hang: bool,
    pub(crate) gate: Option<PathBuf>,
    repeat: Repeat,
    #[serde(rename = "note")]
    _note: Option<String>,
}

/// A block of the answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Block {
    Text {
        text: String,
    },
    Thinking {
        thinking: String,
    },
    ToolUse {
        name: String,
        #[serde(default)]
        id: Option<String>,
        #[serde(default)]
        input: serde_json::Map<String, serde_json::Value>,
    },
}

/// The tokens an answer says it took.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Usage {
    pub(crate) input_tokens: u64,
    pub(crate) cache_creation_input_tokens: u64,
    pub(crate) cache_read_input_tokens: u64,
    pub(crate) output_tokens: u64,
    /// How long the writes to the cache are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cache_creation: Option<CacheCreation>,
}

/// The writes to the cache by the time that they are kept.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct CacheCreation {
    ephemeral_5m_input_tokens: u64,
    ephemeral_1h_input_tokens: u64,
}

impl Default for Usage {
    fn default() -> Self {
        Self {
            input_tokens: 10,
            cache_creation_input_tokens: 0,
            cache_read_input_tokens: 0,
            output_tokens: 5,
            cache_creation: None,
        }
    }
}

/// An error in place of an answer, or in the middle of one.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Failure {
    pub(crate) status: u16,
    #[serde(rename = "type")]
    pub(crate) kind: Option<String>,
    pub(crate) message: Option<String>,
    pub(crate) headers: BTreeMap<String, String>,
}

/// Where the connection is cut.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Cut {
    Before,
    Mid,
}

/// How many requests a step answers.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged)]
enum Repeat {
    Times(usize),
    Word(Forever),
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Forever {
    Forever,
}

impl Default for Repeat {
    fn default() -> Self {
        Self::Times(1)
    }
}

impl Repeat {
    fn ends_after(self, served: usize) -> bool {
        matches!(self, Self::Times(times) if served >= times)
    }
}

/// A scenario being played: the script, and how far each lane has come.
#[derive(Debug)]
pub(crate) struct Scenario {
    lanes: Vec<Track>,
    exhausted: Step,
    background: Step,
    serial: AtomicUsize,
    born: String,
}

/// A lane and its position; the main lane matches everything and comes last.
#[derive(Debug)]
struct Track {
    lane: Lane,
    place: Mutex<Place>,
}

#[derive(Debug, Default)]
struct Place {
    step: usize,
    served: usize,
}

/// What a request is answered with, and where that came from.
#[derive(Debug)]
pub(crate) struct Answer<'a> {
    pub(crate) lane: &'a str,
    pub(crate) index: Option<usize>,
    pub(crate) step: &'a Step,
}

impl Scenario {
    /// Parses `text`, in which `{{name}}` stands for a value in `defined`.
    pub(crate) fn parse(text: &str, defined: &[(String, String)]) -> serde_json::Result<Self> {
        let mut text = text.to_owned();
        for (name, value) in defined {
            // As JSON without the quotes, because it stands inside a string.
            let value = serde_json::to_string(value)?;
            text = text.replace(&format!("{{{{{name}}}}}"), &value[1..value.len() - 1]);
        }
        Ok(Self::new(serde_json::from_str(&text)?))
    }

    fn new(script: Script) -> Self {
        let say = |text: &str| Step {
            text: Some(text.to_owned()),
            ..Step::default()
        };
        let main = Lane {
            name: "main".to_owned(),
            matches: Match::default(),
            turns: script.turns,
        };
        let lanes = script.lanes.into_iter().chain([main]);
        Self {
            lanes: lanes
                .map(|lane| Track {
                    lane,
                    place: Mutex::default(),
                })
                .collect(),
            exhausted: script
                .on_exhausted
                .unwrap_or_else(|| say("(scenario exhausted)")),
            background: script.background.unwrap_or_else(|| say("ok")),
            serial: AtomicUsize::new(0),
            born: format!("{:x}", jiff::Timestamp::now().as_nanosecond()),
        }
    }

    /// The next step for `request`.
    ///
    /// A request that offers no tools is housekeeping (a title, a summary) and
    /// takes no step, unless a lane asks for it.
    pub(crate) fn next(&self, request: &Request) -> Answer<'_> {
        let (main, others) = self.lanes.split_last().expect("the main lane");
        let found = others.iter().find(|it| it.lane.matches.holds(request));
        if found.is_none() && request.tools.is_empty() {
            return Answer {
                lane: "background",
                index: None,
                step: &self.background,
            };
        }
        let track = found.unwrap_or(main);
        let index = track.advance();
        Answer {
            lane: &track.lane.name,
            index,
            step: index.map_or(&self.exhausted, |index| &track.lane.turns[index]),
        }
    }

    /// A name no answer had before, in this run or in an earlier one: a
    /// resumed session would take a second `msg_1` for the first.
    pub(crate) fn name(&self, prefix: &str) -> String {
        let serial = self.serial.fetch_add(1, Ordering::Relaxed);
        format!("{prefix}_{}_{serial}", self.born)
    }
}

impl Track {
    /// Takes one request; the index of its step, or none if all are used up.
    fn advance(&self) -> Option<usize> {
        let mut place = self.place.lock().expect("no holder panics");
        let step = self.lane.turns.get(place.step)?;
        let index = place.step;
        place.served += 1;
        if step.repeat.ends_after(place.served) {
            *place = Place {
                step: index + 1,
                served: 0,
            };
        }
        Some(index)
    }
}

impl Match {
    fn holds(&self, request: &Request) -> bool {
        let (users, system) = (request.users(), request.system.text());
        wanted(self.first_user_contains.as_ref(), users.iter().take(1))
            && self
                .any_user_contains
                .as_ref()
                .is_none_or(|words| words.are_in(&users))
            && wanted(self.system_contains.as_ref(), [&system])
            && wanted(self.model_contains.as_ref(), [&request.model])
            && self
                .has_tool
                .as_ref()
                .is_none_or(|name| request.tools.iter().any(|tool| tool.name == *name))
    }
}

/// Whether one of `texts` holds `part`, if there is one to hold.
fn wanted<'a>(part: Option<&String>, texts: impl IntoIterator<Item = &'a String>) -> bool {
    part.is_none_or(|part| texts.into_iter().any(|text| text.contains(part)))
}
