//! The lines that we write ourselves.
//!
//! Each is built whole and leaves in one piece. Whatever text goes into one has
//! been through the [`Redactor`].

use std::path::Path;
use std::time::Duration;

use cr_io::Redactor;
use cr_proc::{Process, Swept};
use serde::Serialize;

use crate::guardian_protocol::End;
use cr_io::OutputFileRecord;

/// The most processes that are listed.
pub(crate) const MOST: usize = 50;

/// The version of the lines; what is added does not raise it.
const SCHEMA: u32 = 1;

/// What every line of ours begins with.
#[derive(Debug, Serialize)]
struct Line<'a, T> {
    r#type: &'static str,
    subtype: &'static str,
    at: String,
    run_id: &'a str,
    #[serde(flatten)]
    body: &'a T,
}

/// Builds a line, without its newline.
pub(crate) fn compose(subtype: &'static str, run_id: &str, body: &impl Serialize) -> Vec<u8> {
    let line = Line {
        r#type: "cr",
        subtype,
        at: cr_rundir::now(),
        run_id,
        body,
    };
    serde_json::to_vec(&line).expect("strings and numbers only")
}

/// `cr/start`.
#[derive(Debug, Serialize)]
pub(crate) struct Start<'a> {
    pub(crate) schema: u32,
    pub(crate) pid: u32,
    pub(crate) guardian_pid: Option<u32>,
    pub(crate) agent_pid: Option<i32>,
    pub(crate) parent_run_id: Option<&'a str>,
    pub(crate) name: Option<&'a str>,
    pub(crate) argv: Vec<String>,
    pub(crate) claude: Claude<'a>,
    pub(crate) cwd: &'a Path,
    pub(crate) run_dir: Option<&'a Path>,
    pub(crate) model: Option<&'a str>,
    pub(crate) resume: Option<&'a str>,
    pub(crate) prompt_bytes: usize,
    pub(crate) permission_mode: Option<&'a str>,
    pub(crate) background: bool,
    pub(crate) keep_children: bool,
    pub(crate) isolate: bool,
    pub(crate) limits: Limits,
}

impl Start<'_> {
    pub(crate) const SCHEMA: u32 = SCHEMA;
}

/// The agent's program.
#[derive(Debug, Serialize)]
pub(crate) struct Claude<'a> {
    pub(crate) path: &'a Path,
    pub(crate) version: Option<&'a str>,
}

/// Every limit in force; `null` is none.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Limits {
    pub(crate) timeout_ms: Option<u64>,
    pub(crate) startup_timeout_ms: Option<u64>,
    pub(crate) idle_timeout_ms: Option<u64>,
    pub(crate) tool_timeout_ms: Option<u64>,
    pub(crate) turn_timeout_ms: Option<u64>,
    pub(crate) post_result_grace_ms: Option<u64>,
    pub(crate) grace_ms: u64,
    pub(crate) drain_ms: u64,
    pub(crate) max_turns: Option<u64>,
    pub(crate) max_budget_usd: Option<f64>,
    pub(crate) max_line: usize,
    pub(crate) max_record: Option<u64>,
}

/// `cr/stderr`, `cr/noise`: text that is not an event.
#[derive(Debug, Serialize)]
pub(crate) struct Words<'a> {
    pub(crate) text: &'a str,
    /// More of the same line follows.
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) partial: bool,
}

/// `cr/cut`: what is left out of the record in its place.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Cut {
    pub(crate) bytes: u64,
    pub(crate) lines: u64,
}

/// `cr/forged`: a line of the agent's that claims to be ours.
#[derive(Debug, Serialize)]
pub(crate) struct Forged<'a> {
    pub(crate) line: &'a str,
}

/// `cr/oversize`: what is left of a line that is too long.
#[derive(Debug, Serialize)]
pub(crate) struct Oversize<'a> {
    pub(crate) bytes: u64,
    pub(crate) sha256: String,
    pub(crate) head: &'a str,
    pub(crate) file: Option<&'a Path>,
}

/// `cr/state`.
#[derive(Debug, Serialize)]
pub(crate) struct Still<'a> {
    pub(crate) state: &'static str,
    pub(crate) turn: u64,
    pub(crate) silent_ms: u64,
    pub(crate) doing: &'a Doing,
}

/// `cr/limit`.
#[derive(Debug, Serialize)]
#[expect(clippy::struct_field_names, reason = "the names of the format")]
pub(crate) struct Limit<'a> {
    pub(crate) clock: &'static str,
    pub(crate) limit_ms: u64,
    pub(crate) elapsed_ms: u64,
    pub(crate) doing: &'a Doing,
    pub(crate) action: &'static str,
}

/// What the agent was about when somebody asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Doing {
    /// `starting`, `model`, `tool`, `background`, `after_result`, `ending`.
    pub(crate) what: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_use_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) target: Option<String>,
    pub(crate) since_ms: u64,
}

/// `cr/exit`.
#[derive(Debug, Default, Serialize)]
#[expect(clippy::struct_field_names, reason = "the names of the format")]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Exit {
    pub(crate) reason: &'static str,
    pub(crate) exit_code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) killed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) interrupted_by: Option<i32>,
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) parent_died: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) spawn_code: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    pub(crate) result_seen: Option<bool>,
    pub(crate) result_is_error: Option<bool>,
    pub(crate) duration_ms: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) stopped_ms: u64,
    pub(crate) lines: u64,
    pub(crate) bytes: u64,
    pub(crate) noise: u64,
    pub(crate) forged: u64,
    pub(crate) oversize: u64,
    pub(crate) stderr: Stderr,
    pub(crate) torn_tail: bool,
    pub(crate) leaked: Vec<Process>,
    pub(crate) leaked_total: usize,
    pub(crate) unkillable: Vec<Process>,
    pub(crate) children_kept: bool,
    pub(crate) recorded: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) output_file: Option<OutputFileRecord>,
    /// The record lacks the middle of the stream.
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) record_cut: bool,
    #[serde(skip)]
    pub(crate) run_id: String,
}

/// The ends of the agent's standard error.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Stderr {
    pub(crate) bytes: u64,
    pub(crate) head: String,
    pub(crate) tail: String,
}

impl Exit {
    /// What the guardian knows when the front is gone.
    pub(crate) fn of_a_dead_front(
        run_id: &str,
        end: Option<End>,
        duration: Duration,
        swept: &Swept,
    ) -> Self {
        Self {
            reason: "internal",
            error: Some("cr-spawn was killed".to_owned()),
            exit_code: end.and_then(|end| end.code),
            signal: end.and_then(|end| end.signal),
            killed: true,
            duration_ms: millis(duration),
            leaked: swept.leaked.iter().take(MOST).cloned().collect(),
            leaked_total: swept.leaked.len(),
            unkillable: swept.unkillable.iter().take(MOST).cloned().collect(),
            recorded: true,
            run_id: run_id.to_owned(),
            ..Self::default()
        }
    }
}

/// The `cr/exit` line, with its newline, as it stands in a file.
pub(crate) fn line(exit: &Exit) -> Vec<u8> {
    let mut line = compose("exit", &exit.run_id, exit);
    line.push(b'\n');
    line
}

/// Milliseconds, as far as anybody will live to see.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Arguments as they may be shown: what follows a flag that holds text of the
/// user's own is left out, and secrets are masked.
pub(crate) fn shown(argv: &[std::ffi::OsString], redactor: &Redactor) -> Vec<String> {
    let texts = argv.iter().map(|arg| arg.to_string_lossy());
    texts
        .map(|arg| redactor.redact(&arg).into_owned())
        .collect()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_false(value: &bool) -> bool {
    !value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(value: &u64) -> bool {
    *value == 0
}
