//! One row of `--format json`.

use std::borrow::Cow;
use std::fmt::Write;
use std::rc::Rc;

use cr_event::Usage;
use cr_io::Redactor;
use jiff::Timestamp;

/// One row; every field is always there. The manual page of `cr-filter`
/// describes them.
#[derive(Clone, Debug, Default)]
pub struct Row {
    pub(crate) at: Option<Timestamp>,
    pub(crate) session_id: Option<Rc<str>>,
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

/// A value of a row.
trait Value {
    fn write(&self, out: &mut String);
}

impl<V: Value> Value for Option<V> {
    fn write(&self, out: &mut String) {
        match self {
            Some(value) => value.write(out),
            None => out.push_str("null"),
        }
    }
}

macro_rules! plain {
    ($format:literal: $($type:ty)*) => {$(
        impl Value for $type {
            fn write(&self, out: &mut String) {
                // Writing to a string cannot fail.
                let _ = write!(out, $format, self);
            }
        }
    )*};
}

plain!("{}": usize u64 i32 bool);
plain!("\"{}\"": Timestamp);

impl Value for f64 {
    fn write(&self, out: &mut String) {
        if self.is_finite() {
            let _ = write!(out, "{self:?}");
        } else {
            out.push_str("null");
        }
    }
}

macro_rules! text {
    ($($type:ty)*) => {$(
        impl Value for $type {
            fn write(&self, out: &mut String) {
                cr_io::json_string(self, out);
            }
        }
    )*};
}

text!(String Rc<str> Cow<'_, str>);

macro_rules! write_fields {
    ($row:ident, $out:ident: $first:ident $($name:ident)*) => {
        $out.push_str(concat!("{\"", stringify!($first), "\":"));
        $row.$first.write($out);
        $(
            $out.push_str(concat!(",\"", stringify!($name), "\":"));
            $row.$name.write($out);
        )*
        $out.push('}');
    };
}

impl Row {
    /// Appends the row as one line of JSON, without its newline. Hidden characters
    /// are escaped. The names need no check and no copy for each row, which is
    /// most of the work of a serializer.
    pub fn write_json(&self, out: &mut String) {
        write_fields!(self, out:
            at session_id run_id agent depth turn kind tool tool_use_id target text ok error
            exit_code duration_ms model input_tokens output_tokens cache_read_tokens
            cache_creation_tokens cost_usd file line
        );
    }
}
