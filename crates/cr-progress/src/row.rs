//! One row of `--format json`.

use std::borrow::Cow;
use std::fmt::Write;
use std::rc::Rc;

use cr_event::Usage;
use cr_io::Redactor;
use jiff::Timestamp;

/// The JSON Schema of a row.
pub const ROW_SCHEMA: &str = include_str!("../schema.json");

/// Declares a row. Its fields are written in their order, under their names; the
/// comments are the manual's.
macro_rules! row {
    (
        $(#[$meta:meta])*
        pub struct $row:ident {
            $(#[$first_meta:meta])* $first_vis:vis $first:ident: $first_type:ty,
            $( $(#[$field_meta:meta])* $vis:vis $field:ident: $type:ty, )*
        }
    ) => {
        $(#[$meta])*
        pub struct $row {
            $(#[$first_meta])* $first_vis $first: $first_type,
            $( $(#[$field_meta])* $vis $field: $type, )*
        }

        impl $row {
            /// Appends the row as one line of JSON, without its newline. Hidden
            /// characters are escaped. The names need no check and no copy for each
            /// row, which is most of the work of a serializer.
            pub fn write_json(&self, out: &mut String) {
                out.push_str(concat!("{\"", stringify!($first), "\":"));
                self.$first.write(out);
                $(
                    out.push_str(concat!(",\"", stringify!($field), "\":"));
                    self.$field.write(out);
                )*
                out.push('}');
            }
        }
    };
}

row! {
    /// One row; every field is always there.
    #[derive(Clone, Debug, Default)]
    pub struct Row {
        /// The time: the event's own, else the last one seen, else its arrival.
        ///
        /// Null: if no time is known yet.
        /// Example: `"2026-11-18T03:15:02.113Z"`
        pub(crate) at: Option<Timestamp>,
        /// The session.
        ///
        /// Null: until a line names it.
        /// Example: `"80f8ae6e-b027-4253-8e9c-1ffd717366a1"`
        pub(crate) session_id: Option<Rc<str>>,
        /// The run, from the lines of `cr-spawn`.
        ///
        /// Null: if the run is not supervised.
        /// Example: `"20261118T031500Z-1f0c22ab"`
        pub(crate) run_id: Option<Rc<str>>,
        /// The subagent's description, else its id.
        ///
        /// Null: on the main thread.
        /// Example: `"Find the tests"`
        pub(crate) agent: Option<String>,
        /// How many agents deep; 0 is the main thread.
        ///
        /// Example: `0`
        pub(crate) depth: usize,
        /// The number of the turn: how many banners (`init`) came before.
        ///
        /// Example: `1`
        pub(crate) turn: u64,
        /// What the row is about: `tool`, `text`, `thinking`, `prompt`, `peer` (a
        /// message of an agent or another session to the main thread), `error`,
        /// `commit`, `init`, `result`, `cr/SUBTYPE`, or the subtype or type of
        /// another event.
        ///
        /// Example: `"tool"`
        pub(crate) kind: Cow<'static, str>,
        /// The name of the tool.
        ///
        /// Null: except for a call, and events about one.
        /// Example: `"Bash"`
        pub(crate) tool: Option<String>,
        /// The id of the call; a commit has the id of its command.
        ///
        /// Null: as `tool`.
        /// Example: `"toolu_01"`
        pub(crate) tool_use_id: Option<String>,
        /// File, command or pattern of a call, with `...` at the end if it is cut
        /// (commands after 576 bytes, others after 1024); the model of a banner; the
        /// subtype of a result; the sender of a message (`peer`, `cr/input`); the
        /// question (`cr/ask`); the state (`cr/state`); the clock (`cr/limit`); why a
        /// session was complete (`cr/exit`).
        ///
        /// Null: for other kinds, and for a result without its call.
        /// Example: `"cargo test"`
        pub(crate) target: Option<String>,
        /// The whole text; the answer of a result; the subject of a commit; the state
        /// of a message and the reason; the answer to a question and by whom; what
        /// began a turn (`cr/state`); the reaction to a clock.
        ///
        /// Null: if there is none.
        /// Example: `"All done."`
        pub(crate) text: Option<String>,
        /// Success of a call, commit or turn; whether a message was answered, and a
        /// question allowed.
        ///
        /// Null: for other kinds, and for a call without a result.
        /// Example: `true`
        pub(crate) ok: Option<bool>,
        /// The text of a failed call's result.
        ///
        /// Null: except for a call that failed.
        /// Example: `"Exit code 1\ntest failed"`
        pub(crate) error: Option<String>,
        /// The exit code of a failed command.
        ///
        /// Null: if `error` does not name it.
        /// Example: `1`
        pub(crate) exit_code: Option<i32>,
        /// How long a call took, from its own time to that of its result; how long a
        /// turn took, as its result says; how long a clock or the run took; for how
        /// long the agent has been silent (`cr/state`). In milliseconds.
        ///
        /// Null: for other kinds, and if one of the two lines has no time.
        /// Example: `1203`
        pub(crate) duration_ms: Option<u64>,
        /// The model of the message, or of the banner.
        ///
        /// Null: for other kinds, and for messages that no model wrote.
        /// Example: `"claude-sonnet-5-5"`
        pub(crate) model: Option<Rc<str>>,
        /// Tokens sent without the cache, as `tokens.input` of cr-summarize(1). The
        /// tokens of a message are on its first row only.
        ///
        /// Null: on all other rows.
        /// Example: `12`
        pub(crate) input_tokens: Option<u64>,
        /// Tokens received.
        ///
        /// Null: as `input_tokens`, and if the count is provisional.
        /// Example: `204`
        pub(crate) output_tokens: Option<u64>,
        /// Tokens read from the cache.
        ///
        /// Null: as `input_tokens`.
        /// Example: `18002`
        pub(crate) cache_read_tokens: Option<u64>,
        /// Tokens written to the cache.
        ///
        /// Null: as `input_tokens`.
        /// Example: `512`
        pub(crate) cache_creation_tokens: Option<u64>,
        /// The cost of a turn, in US dollars.
        ///
        /// Null: except for a result, and without evidence.
        /// Example: `0.023604`
        pub(crate) cost_usd: Option<f64>,
        /// The name of the input.
        ///
        /// Null: if there is only one.
        /// Example: `"run.ndjson"`
        pub file: Option<String>,
        /// The number of the line in its input; of a call: its own.
        ///
        /// Example: `7`
        pub(crate) line: u64,
    }
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
