//! One row of `--format json`.

use std::borrow::Cow;
use std::rc::Rc;

use cr_event::Usage;
use cr_io::Redactor;
use jiff::Timestamp;
use serde::{Serialize, Serializer};

/// One row; every field is always there. The manual page of `cr-filter`
/// describes them.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Row {
    pub(crate) at: Option<Timestamp>,
    #[serde(serialize_with = "shared")]
    pub(crate) session_id: Option<Rc<str>>,
    #[serde(serialize_with = "shared")]
    pub(crate) run_id: Option<Rc<str>>,
    /// The agent's description or id; null on the main thread.
    pub(crate) agent: Option<String>,
    pub(crate) depth: usize,
    pub(crate) turn: u64,
    pub(crate) kind: Cow<'static, str>,
    pub(crate) tool: Option<String>,
    pub(crate) tool_use_id: Option<String>,
    pub(crate) target: Option<String>,
    pub(crate) text: Option<String>,
    pub(crate) ok: Option<bool>,
    /// The text of a failed call's result.
    pub(crate) error: Option<String>,
    /// The code that this text names.
    pub(crate) exit_code: Option<i32>,
    /// Only where call and result have a time of their own.
    pub(crate) duration_ms: Option<u64>,
    #[serde(serialize_with = "shared")]
    pub(crate) model: Option<Rc<str>>,
    /// Without the cache, as in the summary.
    pub(crate) input_tokens: Option<u64>,
    pub(crate) output_tokens: Option<u64>,
    pub(crate) cache_read_tokens: Option<u64>,
    pub(crate) cache_creation_tokens: Option<u64>,
    pub(crate) cost_usd: Option<f64>,
    /// The name of the input, where there are several.
    pub file: Option<String>,
    pub(crate) line: u64,
}

impl Row {
    /// Masks what looks like a secret.
    pub fn redact(&mut self, redactor: &Redactor) {
        let texts = [
            &mut self.text,
            &mut self.target,
            &mut self.agent,
            &mut self.error,
        ];
        for text in texts.into_iter().flatten() {
            if let Cow::Owned(masked) = redactor.redact(text) {
                *text = masked;
            }
        }
    }

    /// The same with the tokens of its message; the flag says whether its output
    /// is final.
    pub(crate) fn with(mut self, usage: Option<(Usage, bool)>) -> Self {
        if let Some((usage, is_final)) = usage {
            self.input_tokens = Some(usage.input);
            self.output_tokens = is_final.then_some(usage.output);
            self.cache_read_tokens = Some(usage.cache_read);
            self.cache_creation_tokens = Some(usage.cache_creation);
        }
        self
    }
}

/// Many rows share a text.
#[expect(clippy::ref_option, reason = "serde calls it with a reference")]
fn shared<S: Serializer>(text: &Option<Rc<str>>, serializer: S) -> Result<S::Ok, S::Error> {
    text.as_deref().serialize(serializer)
}
