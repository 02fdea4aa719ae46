//! The runs of this machine at one moment, and what changed since another.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use cr_io::Redactor;
use cr_rundir::{Run, file};
use cr_status::Status;

use crate::encode;
use crate::source::Recording;
use crate::watcher::{Changes, Watcher};

/// How old a list may be: many readers share one look at the directories.
const FRESH: Duration = Duration::from_millis(300);
/// Runs that are watched at one time; runs that were lost never get a summary.
const MOST_WATCHED: usize = 256;

/// A run as JSON in one line, and its state.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) json: Arc<str>,
    pub(crate) state: &'static str,
    pub(crate) questions: u64,
    /// One line for people.
    pub(crate) line: Arc<str>,
}

/// All runs by their ids; the order of the ids is that of their beginnings.
pub(crate) type Snapshot = BTreeMap<String, Entry>;

/// The list, which is read again when it is asked for and not fresh.
#[derive(Debug)]
pub(crate) struct RunList {
    runs: PathBuf,
    watcher: Watcher,
    read: Mutex<Read>,
}

#[derive(Debug, Default)]
struct Read {
    at: Option<Instant>,
    snapshot: Arc<Snapshot>,
    /// Runs that have ended, with what their files looked like.
    ended: HashMap<String, (Mark, Entry)>,
    /// Keeps the watches of the runs that go on.
    watched: HashMap<String, Changes>,
    top: Option<Changes>,
}

/// Changes with everything that can change in the directory of a run that is over.
type Mark = [Option<(SystemTime, u64)>; 4];

impl RunList {
    pub(crate) fn new(runs: PathBuf, watcher: Watcher) -> Self {
        Self {
            runs,
            watcher,
            read: Mutex::default(),
        }
    }

    /// The runs, and when they were read. It reads files, so it belongs on a thread that may wait.
    pub(crate) fn snapshot(&self, redactor: &Redactor) -> (Arc<Snapshot>, Instant) {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = read.at.filter(|at| at.elapsed() < FRESH);
        let at = fresh.unwrap_or_else(Instant::now);
        if fresh.is_none() {
            let top = || self.watcher.changes(&self.runs);
            if read.top.is_none() && self.runs.is_dir() {
                read.top = Some(top());
            }
            let snapshot = self.look(&mut read, redactor);
            read.snapshot = Arc::new(snapshot);
            read.at = Some(at);
        }
        (Arc::clone(&read.snapshot), at)
    }

    fn look(&self, read: &mut Read, redactor: &Redactor) -> Snapshot {
        let mut snapshot = Snapshot::new();
        let mut ended = HashMap::new();
        for run in cr_rundir::runs_in(&self.runs) {
            let id = run.id();
            let mark = mark(&run);
            let known = read.ended.remove(&id).filter(|(at, _)| *at == mark);
            if let Some((mark, entry)) = known {
                snapshot.insert(id.clone(), entry.clone());
                ended.insert(id, (mark, entry));
                continue;
            }
            let is_over = run.state().is_over();
            // The summary is its last file.
            let is_complete = is_over && run.has(file::SUMMARY);
            if !is_complete && !read.watched.contains_key(&id) && read.watched.len() < MOST_WATCHED
            {
                read.watched
                    .insert(id.clone(), self.watcher.changes(&run.dir));
            }
            // A run of a later version cannot be read, and hides no other.
            let Ok(status) = Status::of(&run) else {
                continue;
            };
            let entry = entry(&status, &id, redactor);
            if is_complete {
                read.watched.remove(&id);
            }
            if is_over {
                ended.insert(id.clone(), (mark, entry.clone()));
            }
            snapshot.insert(id, entry);
        }
        read.watched.retain(|id, _| snapshot.contains_key(id));
        read.ended = ended;
        snapshot
    }
}

fn mark(run: &Run) -> Mark {
    let seen = |path: PathBuf| {
        let meta = fs::metadata(path).ok()?;
        Some((meta.modified().ok()?, meta.len()))
    };
    [
        seen(run.dir.clone()),
        seen(run.file(file::QUESTIONS)),
        seen(run.file(file::ANSWERS)),
        seen(run.file(file::SUMMARY)),
    ]
}

fn entry(status: &Status, id: &str, redactor: &Redactor) -> Entry {
    // The name of the directory finds the run again; a run in a second directory of
    // one id has a name of its own.
    let json = match serde_json::to_value(status) {
        Ok(serde_json::Value::Object(mut fields)) => {
            fields.insert("id".to_owned(), id.into());
            serde_json::Value::Object(fields).to_string()
        }
        _ => "{}".to_owned(),
    };
    Entry {
        json: encode::document(json.as_bytes(), redactor).into(),
        state: status.state,
        questions: status.questions,
        line: redactor.redact(&status.line()).into(),
    }
}

/// The recordings that were named, as the list shows them.
pub(crate) fn recordings(all: &[Arc<Recording>], redactor: &Redactor) -> Snapshot {
    let entry = |recording: &Arc<Recording>| {
        let value = serde_json::json!({
            "id": recording.id,
            "name": recording.label,
            "state": "recording",
        });
        let json = encode::document(value.to_string().as_bytes(), redactor);
        let entry = Entry {
            json: json.into(),
            state: "recording",
            questions: 0,
            line: cr_io::sanitized(&format!("{} {}", recording.id, recording.label)).into(),
        };
        (recording.id.clone(), entry)
    };
    all.iter().map(entry).collect()
}

/// The events that lead from one list to another: all at first, then each run that
/// is new, has changed, or is gone.
pub(crate) fn events(before: Option<&Snapshot>, now: &Snapshot) -> String {
    let mut out = String::new();
    let Some(before) = before else {
        encode::event("runs", None, &array(now), &mut out);
        return out;
    };
    for (id, entry) in now {
        if before.get(id).is_none_or(|old| old.json != entry.json) {
            encode::event("run", None, &entry.json, &mut out);
        }
    }
    for id in before.keys().filter(|id| !now.contains_key(*id)) {
        let gone = serde_json::json!({ "id": id }).to_string();
        encode::event("gone", None, &gone, &mut out);
    }
    out
}

/// The list as a JSON array, the latest run first.
pub(crate) fn array(snapshot: &Snapshot) -> String {
    let entries: Vec<&str> = snapshot.values().rev().map(|entry| &*entry.json).collect();
    format!("[{}]", entries.join(","))
}

/// The same as lines for people.
pub(crate) fn lines(before: Option<&Snapshot>, now: &Snapshot) -> String {
    let changed = now.iter().filter(|(id, entry)| {
        let old = before.and_then(|before| before.get(*id));
        old.is_none_or(|old| old.json != entry.json)
    });
    changed.fold(String::new(), |mut text, (_, entry)| {
        text.push_str(&entry.line);
        text.push('\n');
        text
    })
}
