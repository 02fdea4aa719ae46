//! Which logs are read, and from where.

use std::collections::HashMap;

use cr_io::uncompressed_name;
use cr_ledger_db::LogPlace;
use cr_session_log::{FileToScan, Head, LogFile};
use serde::{Deserialize, Serialize};

/// What to read.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) files: Vec<FileToScan>,
    /// Those of `files` that were never read.
    pub(super) new_logs: Vec<usize>,
    /// Logs that did not change.
    pub(super) unchanged: u64,
    /// Bytes on disk that are to be read.
    pub(super) bytes: u64,
}

impl Plan {
    pub(super) fn new(logs: Vec<LogFile>, places: &HashMap<String, LogPlace>) -> Self {
        let mut plan = Self::default();
        for log in logs {
            let place = places.get(&key(&log));
            if place.is_some_and(|place| is_unchanged(&log, place)) {
                plan.unchanged += 1;
                continue;
            }
            if place.is_none() {
                plan.new_logs.push(plan.files.len());
            }
            let place = place.filter(|place| has_grown(&log, place));
            let mut file = FileToScan::from(log);
            if let Some(place) = place {
                file.resume.offset = place.read_to;
                file.resume.head = head(&place.state);
            }
            plan.bytes += file.log.len.saturating_sub(file.resume.offset);
            plan.files.push(file);
        }
        plan
    }
}

/// The path, by which the ledger knows a log.
pub(super) fn key(log: &LogFile) -> String {
    let path = std::path::absolute(&log.path);
    path.as_ref()
        .unwrap_or(&log.path)
        .to_string_lossy()
        .into_owned()
}

fn is_unchanged(log: &LogFile, place: &LogPlace) -> bool {
    (log.len, log.mtime_ns, log.inode) == (place.length, place.modified_ns, place.inode)
}

/// Whether what was read is still its beginning, as far as can be told without
/// reading it again. A compressed log is written at once.
fn has_grown(log: &LogFile, place: &LogPlace) -> bool {
    log.inode == place.inode && log.len > place.length && uncompressed_name(&log.path) == log.path
}

/// [`Head`] as the ledger keeps it.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
struct State {
    session_id: Option<String>,
    first_at: Option<i64>,
    cwd: Option<String>,
    last_at: Option<i64>,
}

fn head(state: &str) -> Head {
    let state: State = serde_json::from_str(state).unwrap_or_default();
    Head {
        session_id: state.session_id,
        first_at: state.first_at,
        cwd: state.cwd,
        last_at: state.last_at,
    }
}

/// The text that the ledger keeps of a head.
pub(super) fn state(head: Head) -> String {
    let state = State {
        session_id: head.session_id,
        first_at: head.first_at,
        cwd: head.cwd,
        last_at: head.last_at,
    };
    serde_json::to_string(&state).unwrap_or_default()
}
