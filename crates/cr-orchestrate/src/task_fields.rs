//! The fields of a task as a plan has them: one declaration gives the reader, the
//! page cr-tasks(5) and the schema.

use serde_json::Value;

use crate::fields::Fields;
use crate::task::Commit;

/// A value of a field.
trait TaskValue: Sized {
    fn read(fields: &mut Fields<'_>, name: &str) -> Option<Self>;
}

/// Declares the fields; a field that is wrong is an error, and then absent.
macro_rules! task_fields {
    (
        $(#[$meta:meta])*
        pub(crate) struct $name:ident {
            $( $(#[$field_meta:meta])* $field:ident: Option<$type:ty>, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug)]
        pub(crate) struct $name {
            $( $(#[$field_meta])* pub(crate) $field: Option<$type>, )*
        }

        impl $name {
            /// Takes the fields in their order.
            pub(crate) fn read(fields: &mut Fields<'_>) -> Self {
                Self {
                    $( $field: <$type>::read(fields, stringify!($field)), )*
                }
            }
        }
    };
}

task_fields! {
    /// A task of a plan. It has an `id`, and either a `prompt` or a `prompt_file`.
    ///
    /// Schema: `{"oneOf": [{"required": ["prompt"], "properties": {"prompt": {"type":
    /// "string"}}}, {"required": ["prompt_file"], "properties": {"prompt_file": {"type":
    /// "string"}}}], "required": ["id"], "properties": {"id": {"type": ["string",
    /// "number"]}}}`
    #[expect(dead_code, reason = "some fields are only for people")]
    pub(crate) struct TaskFields {
        /// The name of the task: 1 to 64 letters, digits, dots, dashes and underlines,
        /// the first a letter or a digit, no two dots together.
        ///
        /// Absent: only for a step of a sprint, which is then `step-1`, `step-2`, and
        /// so on; and in a folder, where it is the name of the file.
        /// Example: `"api"`
        id: Option<Id>,
        /// A title for people.
        ///
        /// Absent: the `id` stands for it.
        /// Example: `"Add the API"`
        title: Option<Text>,
        /// What to do. In a folder it is the body of the file.
        ///
        /// Absent: `prompt_file` has it.
        /// Example: `"Add GET /health and a test for it, then commit."`
        prompt: Option<Text>,
        /// A file with the prompt, relative to the plan.
        ///
        /// Absent: `prompt` has it.
        /// Example: `"prompts/api.md"`
        prompt_file: Option<Text>,
        /// The files that the task may change, as patterns. An attempt that changes
        /// others fails with `scope_violation`. Tasks that may change the same files
        /// never run at the same time.
        ///
        /// Absent: it may change every file.
        /// Example: `["src/api/**"]`
        files: Option<Texts>,
        /// The ids of tasks that must be done before.
        ///
        /// Absent: none.
        /// Example: `["schema"]`
        depends_on: Option<Ids>,
        /// Tasks of a lower wave come first: a wave begins when all tasks of the waves
        /// before are done.
        ///
        /// Absent: 0.
        /// Example: `1`
        wave: Option<Count>,
        /// The model.
        ///
        /// Absent: `--model`, else the first of `--models`, else that of the
        /// configuration, else sonnet.
        /// Example: `"opus"`
        model: Option<Text>,
        /// Text to append to the system prompt.
        ///
        /// Absent: none.
        /// Example: `"Use British spelling."`
        system_prompt: Option<Text>,
        /// Tools that need no permission.
        ///
        /// Absent: none are named.
        /// Example: `["Bash(git *)", "Edit"]`
        allowed_tools: Option<Texts>,
        /// The permission mode of the agent.
        ///
        /// Absent: `--permission-mode`, else the environment, else the configuration;
        /// else permissions are skipped.
        /// Example: `"acceptEdits"`
        permission_mode: Option<Text>,
        /// The turn limit of the first attempt.
        ///
        /// Absent: `--max-turns`, else that of the configuration, else 100.
        /// Example: `40`
        max_turns: Option<Positive>,
        /// Why it has this turn limit; `cr-turns` writes it. For people; it is not
        /// used.
        ///
        /// Absent: nobody says why.
        /// Example: `"type debugging"`
        max_turns_reason: Option<Text>,
        /// The budget of the first attempt, in US dollars.
        ///
        /// Absent: `--max-budget`, else that of the configuration, else no limit.
        /// Example: `2.5`
        budget_usd: Option<Dollars>,
        /// The time limit of the first attempt; 0 is no limit.
        ///
        /// Absent: `--timeout`, else that of the configuration, else
        /// `estimated_duration` times `--timeout-multiplier`, which is 2, else `task_timeout` of the configuration, which is two
        /// hours unless it is set.
        /// Example: `"1h30m"`
        timeout: Option<Seconds>,
        /// How many times it is retried after a failure.
        ///
        /// Absent: `--retries`, else 2.
        /// Example: `1`
        retries: Option<Count>,
        /// A JSON Schema that the answer must satisfy: the schema itself, or a file
        /// relative to the plan.
        ///
        /// Absent: the answer is free.
        /// Example: `"answer.schema.json"`
        schema: Option<AnswerSchema>,
        /// Shell commands that must succeed after an attempt; the output of one that
        /// fails is the context of the next attempt.
        ///
        /// Absent: none.
        /// Example: `["cargo test"]`
        verify: Option<Texts>,
        /// Shell commands to run before an attempt.
        ///
        /// Absent: none.
        /// Example: `["npm ci"]`
        setup: Option<Texts>,
        /// Variables of the agent's environment, `NAME=VALUE`; a `NAME` alone must be
        /// set already.
        ///
        /// Absent: none are added.
        /// Example: `["PORT=8080", "HOME"]`
        env: Option<Texts>,
        /// Arguments that are passed to the agent unchanged.
        ///
        /// Absent: none.
        /// Example: `["--mcp-config", "servers.json"]`
        claude_args: Option<Texts>,
        /// The working directory, relative to that of the run.
        ///
        /// Absent: `--cwd`, else the current directory.
        /// Example: `"services/api"`
        cwd: Option<Text>,
        /// An attempt that was cut off without a record may be started again.
        ///
        /// Absent: false.
        /// Example: `true`
        idempotent: Option<bool>,
        /// Whether the task must leave a commit. Every new commit of HEAD counts, also
        /// one of which it is not known who made it. With `required`, an agent that takes
        /// more than 50 turns without a commit is ended. `none` is not checked.
        ///
        /// Absent: optional.
        /// Example: `"required"`
        commit: Option<Commit>,
        /// Stop the run before this task, once.
        ///
        /// Absent: false.
        /// Example: `true`
        breakpoint: Option<bool>,
        /// How long it should take; see `timeout`. `--dry-run` adds it up.
        ///
        /// Absent: not known.
        /// Example: `"40m"`
        estimated_duration: Option<Seconds>,
        /// For people and `cr-turns`.
        ///
        /// Absent: none.
        /// Example: `"The endpoint that the monitor asks."`
        description: Option<Text>,
        /// For people; it is not used.
        ///
        /// Absent: none.
        /// Example: `"backend"`
        role: Option<Text>,
        /// The kind of work, for `cr-turns` and the ledger.
        ///
        /// Absent: none.
        /// Example: `"debugging"`
        task_type: Option<Text>,
        /// For people and `cr-turns`.
        ///
        /// Absent: none.
        /// Example: `3`
        estimated_files: Option<Count>,
        /// For people and `cr-turns`.
        ///
        /// Absent: none.
        /// Example: `120`
        estimated_loc: Option<Count>,
    }
}

/// The name of a task.
///
/// Called: string or number
/// Schema: `{"type": ["string", "number"], "maxLength": 64, "minimum": 0,
/// "pattern": "^[A-Za-z0-9][A-Za-z0-9_-]*(\\.[A-Za-z0-9_-]+)*\\.?$"}`
#[derive(Debug)]
pub(crate) struct Id(pub(crate) String);

/// A text that is not blank.
///
/// Called: string
/// Schema: `{"type": "string", "pattern": "\\S"}`
#[derive(Debug)]
pub(crate) struct Text(pub(crate) String);

/// Texts; a single one may stand alone.
///
/// Called: string or array of string
/// Schema: `{"anyOf": [{"type": "string", "pattern": "\\S"}, {"type":
/// "array", "items": {"type": "string", "pattern": "\\S"}}]}`
#[derive(Debug)]
pub(crate) struct Texts(pub(crate) Vec<String>);

/// Names of tasks; a single one may stand alone.
///
/// Called: string or array of string
/// Schema: `{"anyOf": [{"type": ["string", "number"], "pattern":
/// "\\S"}, {"type": "array", "items": {"type": ["string", "number"], "pattern":
/// "\\S"}}]}`
#[derive(Debug)]
pub(crate) struct Ids(pub(crate) Vec<String>);

/// A number from 0.
///
/// Called: integer from 0
/// Schema: `{"type": "integer", "minimum": 0}`
#[derive(Debug)]
pub(crate) struct Count(pub(crate) u64);

/// A number from 1.
///
/// Called: integer from 1
/// Schema: `{"type": "integer", "minimum": 1}`
#[derive(Debug)]
pub(crate) struct Positive(pub(crate) u64);

/// An amount of money.
///
/// Called: number above 0
/// Schema: `{"type": "number", "exclusiveMinimum": 0}`
#[derive(Debug)]
pub(crate) struct Dollars(pub(crate) f64);

/// A length of time.
///
/// Called: seconds, or string such as 2h30m
/// Schema: `{"type": ["number", "string"], "minimum": 0, "pattern":
/// "^\\s*([0-9.]+|([0-9.]+(ms|d|h|m|s))+)\\s*$"}`
#[derive(Debug)]
pub(crate) struct Seconds(pub(crate) f64);

/// A schema, or the name of its file.
///
/// Called: object or string
/// Schema: `{"type": ["object", "string"]}`
#[derive(Debug)]
pub(crate) struct AnswerSchema(pub(crate) Value);

macro_rules! values {
    ($($type:ty: |$fields:ident, $name:ident| $read:expr;)*) => {$(
        impl TaskValue for $type {
            fn read($fields: &mut Fields<'_>, $name: &str) -> Option<Self> {
                $read
            }
        }
    )*};
}

values! {
    Id: |fields, _name| fields.id().map(Self);
    Text: |fields, name| fields.text(name).map(Self);
    Texts: |fields, name| fields.list(name).map(Self);
    Ids: |fields, name| fields.list(name).map(Self);
    Count: |fields, name| fields.number(name, 0).map(Self);
    Positive: |fields, name| fields.number(name, 1).map(Self);
    Dollars: |fields, name| fields.dollars(name).map(Self);
    Seconds: |fields, name| fields.seconds(name).map(Self);
    AnswerSchema: |fields, name| fields.take(name).map(Self);
    bool: |fields, name| fields.flag(name);
    Commit: |fields, name| fields.commit(name);
}
