//! The summary, field by field in the order it is printed: first what every
//! reader of the old runner knows, then the rest.

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::background::Task;
use crate::counts::Counts;
use crate::ours::{Attempt, Git};
use crate::turns::Turn;

/// The version of the format; additions do not raise it.
pub(crate) const SCHEMA: u32 = 1;

/// One run, or one session.
#[derive(Clone, Debug, Default, Serialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, and none excludes another"
)]
pub(crate) struct Summary {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
    pub(crate) session_id: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) exit_code: Option<i32>,
    pub(crate) duration_seconds: Option<u64>,
    pub(crate) cost_usd: Option<f64>,
    pub(crate) tokens: Tokens,
    pub(crate) tool_calls: u64,
    pub(crate) git: Option<Git>,
    pub(crate) errors: Vec<String>,
    pub(crate) context_warning: bool,
    pub(crate) resume_command: Option<String>,
    pub(crate) incomplete: bool,
    pub(crate) killed: bool,
    pub(crate) schema: u32,
    pub(crate) ok: bool,
    pub(crate) outcome: &'static str,
    pub(crate) code: u8,
    pub(crate) category: Option<&'static str>,
    pub(crate) why: String,
    pub(crate) next: String,
    pub(crate) retry: Retry,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stream_error: Option<&'static str>,
    pub(crate) supervised: bool,
    pub(crate) run_id: Option<String>,
    pub(crate) run_dir: Option<String>,
    pub(crate) transcript: Option<String>,
    pub(crate) recorded: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) output_file: Option<Box<RawValue>>,
    pub(crate) subtype: Option<String>,
    pub(crate) terminal_reason: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) signal: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) limit: Option<Limit>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) torn_tail: bool,
    pub(crate) leaked: Vec<Box<RawValue>>,
    pub(crate) num_turns: Option<u64>,
    pub(crate) results: u64,
    pub(crate) turns: Vec<Turn>,
    pub(crate) result: Option<String>,
    pub(crate) json: Option<Box<RawValue>>,
    pub(crate) structured_output: Option<Box<RawValue>>,
    pub(crate) tools: Tools,
    pub(crate) subagents: u64,
    pub(crate) permission_denials: Vec<Denial>,
    pub(crate) api_retries: u64,
    pub(crate) compactions: u64,
    pub(crate) background_unfinished: Vec<Task>,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) forged: u64,
    pub(crate) cwd: Option<String>,
    pub(crate) started_at: Option<String>,
    pub(crate) ended_at: Option<String>,
    pub(crate) duration_ms: Option<u64>,
    pub(crate) session_cost_usd: Option<f64>,
    pub(crate) cost_source: &'static str,
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) resume_argv: Option<Vec<String>>,
    pub(crate) counts: Counts,
    #[serde(flatten)]
    pub(crate) totals: Totals,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) truncated: Vec<&'static str>,
}

/// What the run spent, and how full the context is.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Tokens {
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) cache_read: u64,
    pub(crate) cache_creation: u64,
    pub(crate) context_used: Option<u64>,
    pub(crate) context_window: Option<u64>,
    pub(crate) context_used_pct: Option<u64>,
    pub(crate) max_output: Option<u64>,
}

/// Whether and how to try again.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Retry {
    pub(crate) retryable: bool,
    pub(crate) action: &'static str,
    pub(crate) at: Option<String>,
}

/// A clock that ran out.
#[derive(Clone, Debug, Serialize)]
#[expect(clippy::struct_field_names, reason = "the names of the format")]
pub(crate) struct Limit {
    pub(crate) clock: String,
    pub(crate) limit_ms: Option<u64>,
    pub(crate) elapsed_ms: Option<u64>,
    pub(crate) action: String,
    pub(crate) doing: Option<Box<RawValue>>,
}

/// A call that was denied.
#[derive(Clone, Debug, Serialize)]
#[expect(clippy::struct_field_names, reason = "the names of the fields printed")]
pub(crate) struct Denial {
    pub(crate) tool_name: String,
    pub(crate) tool_use_id: String,
    pub(crate) tool_input: Option<Box<RawValue>>,
}

/// The lengths of lists that are not shown in full.
#[derive(Clone, Debug, Default, Serialize)]
#[expect(clippy::struct_field_names, reason = "the names of the fields printed")]
pub(crate) struct Totals {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) errors_total: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) turns_total: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tools_total: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) permission_denials_total: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) background_unfinished_total: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) attempts_total: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) leaked_total: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) commits_total: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent_commits_total: Option<u64>,
}

/// Calls by tool, the most used first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tools(pub(crate) Vec<(String, u64)>);

impl Serialize for Tools {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, count)| (name, count)))
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Summary {
    /// One line of JSON, without its newline. Characters that could pass for
    /// the end of a line, or turn text around on a terminal, are escaped.
    pub(crate) fn line(&self) -> String {
        visible(serde_json::to_string(self).expect("no map with keys other than strings"))
    }

    /// The same over many lines, for people.
    pub(crate) fn pretty(&self) -> String {
        visible(serde_json::to_string_pretty(self).expect("as above"))
    }
}

/// Escapes what is only allowed inside a string, and there only in escaped form
/// does no harm.
fn visible(json: String) -> String {
    if json.is_ascii() && !json.contains('\u{7f}') {
        return json;
    }
    // The only plain controls are those between the fields.
    let is_hidden = |c: char| c >= ' ' && cr_io::is_hidden(c);
    let mut out = String::with_capacity(json.len());
    let mut rest = &*json;
    while let Some((at, c)) = rest.char_indices().find(|&(_, c)| is_hidden(c)) {
        out.push_str(&rest[..at]);
        for unit in c.encode_utf16(&mut [0; 2]) {
            out.push_str(&format!("\\u{unit:04x}"));
        }
        rest = &rest[at + c.len_utf8()..];
    }
    out.push_str(rest);
    out
}
