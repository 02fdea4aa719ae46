//! Lines of our own: what the stages before this one know of the run.

use cr_event::{Event, Raw, Text};
use cr_summary::{Attempt, Git};

use crate::counts::Fate;

/// What the `cr` lines say.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Ours {
    /// There is one.
    pub(crate) seen: bool,
    pub(crate) run_id: Option<String>,
    pub(crate) run_dir: Option<String>,
    pub(crate) cwd: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) schema_asked: bool,
    /// The agent goes on with a session.
    pub(crate) resumes: bool,
    /// The session was told to leave nothing on disk.
    pub(crate) unsaved: bool,
    /// Whether the run left files in its directory.
    pub(crate) recorded: Option<bool>,
    /// The file that the stream was to be kept in, and whether it was.
    pub(crate) output_file: Option<Vec<u8>>,
    /// The record lacks a part of the stream.
    pub(crate) record_cut: bool,
    pub(crate) exit: Option<Ended>,
    pub(crate) git: Option<Git>,
    /// The clock that ran out last, and what it found the agent doing.
    pub(crate) limit: Option<Limit>,
    /// Lines of the agent's that claimed to be ours.
    pub(crate) forged: u64,
    /// What is wrong with the order of our own lines.
    pub(crate) disorder: Option<&'static str>,
    /// The attempts of a run that had several tries, as far as they have ended.
    pub(crate) attempts: Vec<Attempt>,
    /// The directory of all attempts, and the command to go on with them.
    pub(crate) whole: Option<Whole>,
}

/// A `cr/run` line: attempts have a directory together.
#[derive(Debug, Default)]
pub(crate) struct Whole {
    pub(crate) run_dir: Option<String>,
    pub(crate) next: Option<String>,
}

/// The `cr/exit` line.
#[derive(Debug, Default)]
pub(crate) struct Ended {
    pub(crate) reason: String,
    pub(crate) exit_code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) killed: bool,
    pub(crate) spawn_code: Option<u8>,
    pub(crate) interrupted_by: Option<i32>,
    pub(crate) duration_ms: Option<u64>,
    pub(crate) torn_tail: bool,
    /// Why the agent could not be started.
    pub(crate) error: Option<String>,
    pub(crate) stderr: String,
    pub(crate) leaked: Vec<Vec<u8>>,
    pub(crate) leaked_total: Option<u64>,
}

/// The `cr/limit` line: a clock ran out.
#[derive(Clone, Debug)]
#[expect(clippy::struct_field_names, reason = "the names of the format")]
pub(crate) struct Limit {
    pub(crate) clock: String,
    pub(crate) limit_ms: Option<u64>,
    pub(crate) elapsed_ms: Option<u64>,
    pub(crate) action: String,
    /// What the agent was about, as it stood in the line.
    pub(crate) doing: Option<Vec<u8>>,
}

impl Ours {
    /// Notes that there is one more line, of whatever kind.
    pub(crate) fn follows(&mut self) {
        if self.exit.is_some() {
            self.disorder = Some("there are lines after the cr/exit line");
        }
    }

    /// Notes a line of ours.
    pub(crate) fn take(&mut self, event: &Event<'_>) -> Fate {
        self.seen = true;
        // A stage may have run before the one that made the run and its name.
        let is_named = self.run_id.is_some() && !event.is("start");
        if let Some(id) = event.run_id.filter(|_| !is_named) {
            self.run_id = Some(id.prefix(100).into_owned());
        }
        let line = event.line;
        let subtype = event.subtype.map(Text::decode).unwrap_or_default();
        match &*subtype {
            "start" => self.start(line),
            "exit" => self.exit(line),
            "git" if line.string("phase").as_deref() == Some("end") => {
                self.git = serde_json::from_slice(line.bytes()).ok();
            }
            "limit" => self.limit = Some(limit(line)),
            "task" => self.task(line),
            "run" => self.whole(line),
            "forged" => self.forged += 1,
            "cut" => self.record_cut = true,
            "oversize" => return Fate::Oversize,
            _ => return Fate::Ignored,
        }
        Fate::Used
    }

    fn start(&mut self, line: Raw<'_>) {
        let text = |key| line.string(key).map(std::borrow::Cow::into_owned);
        self.run_dir = text("run_dir");
        self.cwd = text("cwd");
        self.model = text("model");
        let argv = line.get("argv").map(Raw::items).unwrap_or_default();
        let has = |flag: &str| {
            let words = argv.iter().filter_map(|word| word.text());
            words
                .map(Text::decode)
                .any(|word| word.split('=').next() == Some(flag))
        };
        if let Some(grace) = line.at(&["limits", "grace_ms"]).and_then(Raw::u64) {
            cr_io::expect_grace(grace);
        }
        self.schema_asked = has("--json-schema");
        self.unsaved = has("--no-session-persistence");
        self.resumes = has("--resume") || has("--continue");
    }

    /// Notes an attempt that has ended; only those have an outcome.
    fn task(&mut self, line: Raw<'_>) {
        let attempt = serde_json::from_slice::<Attempt>(line.bytes());
        let ended = attempt.ok().filter(|attempt| attempt.outcome.is_some());
        self.attempts.extend(ended);
    }

    fn whole(&mut self, line: Raw<'_>) {
        let text = |key| line.string(key).map(std::borrow::Cow::into_owned);
        let whole = self.whole.get_or_insert_default();
        whole.run_dir = text("run_dir").or(whole.run_dir.take());
        whole.next = text("next");
    }

    /// Forgets how the attempt before this one ended.
    pub(crate) fn begin_again(&mut self) {
        self.exit = None;
        self.limit = None;
        self.recorded = None;
    }

    fn exit(&mut self, line: Raw<'_>) {
        if self.exit.is_some() {
            self.disorder = Some("there is more than one cr/exit line");
            return;
        }
        self.recorded = line.get("recorded").and_then(Raw::bool);
        let file = line.get("output_file").map(|file| file.bytes().to_vec());
        self.output_file = file;
        self.record_cut |= line.get("record_cut").and_then(Raw::bool) == Some(true);
        let number = |key| line.get(key).and_then(whole);
        let flag = |key| line.get(key).and_then(Raw::bool) == Some(true);
        let leaked = line.get("leaked").map(Raw::items).unwrap_or_default();
        let mut stderr = String::new();
        for path in [["stderr", "head"], ["stderr", "tail"]] {
            let part = line
                .at(&path)
                .and_then(Raw::text)
                .map(|text| text.prefix(64 << 10));
            let part = part.unwrap_or_default();
            if !part.is_empty() && !stderr.ends_with(&*part) {
                stderr.push_str(&part);
            }
        }
        self.exit = Some(Ended {
            reason: line.string("reason").unwrap_or_default().into_owned(),
            exit_code: number("exit_code"),
            signal: number("signal"),
            killed: flag("killed"),
            spawn_code: number("spawn_code").and_then(|code| u8::try_from(code).ok()),
            interrupted_by: number("interrupted_by"),
            duration_ms: line.get("duration_ms").and_then(Raw::u64),
            torn_tail: flag("torn_tail"),
            error: line.string("error").map(std::borrow::Cow::into_owned),
            stderr,
            leaked_total: line.get("leaked_total").and_then(Raw::u64),
            leaked: leaked
                .iter()
                .take(1000)
                .map(|item| item.bytes().to_vec())
                .collect(),
        });
    }
}

fn limit(line: Raw<'_>) -> Limit {
    let text = |key| line.get(key).and_then(Raw::text);
    let short = |key| text(key).unwrap_or_default().prefix(100).into_owned();
    Limit {
        clock: short("clock"),
        limit_ms: line.get("limit_ms").and_then(Raw::u64),
        elapsed_ms: line.get("elapsed_ms").and_then(Raw::u64),
        action: short("action"),
        doing: line.get("doing").map(|doing| doing.bytes().to_vec()),
    }
}

/// A small number, negative ones included.
fn whole(value: Raw<'_>) -> Option<i32> {
    std::str::from_utf8(value.bytes()).ok()?.parse().ok()
}
