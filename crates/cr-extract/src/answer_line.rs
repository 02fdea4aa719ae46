//! The line of one answer, where there are several inputs.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;

/// The JSON Schema of such a line.
pub(crate) const SCHEMA: &str = include_str!("../schema.json");

/// One answer of several inputs.
#[derive(Debug, Serialize)]
pub(crate) struct AnswerLine<'a> {
    /// The name of the input.
    ///
    /// Example: `"run.ndjson"`
    pub(crate) file: Cow<'a, str>,
    /// The answer as it is.
    ///
    /// Absent: without `--text`.
    /// Example: `"All done."`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<&'a str>,
    /// The JSON of the answer.
    ///
    /// Absent: with `--text`.
    /// Example: `{"status": "done"}`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) json: Option<&'a RawValue>,
}
