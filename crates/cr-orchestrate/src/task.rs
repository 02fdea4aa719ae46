//! One task, read field by field, so that every error in it is found.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::fields::Fields;
use crate::task_fields::{
    AnswerSchema, Count, Dollars, Id, Ids, Positive, Seconds, TaskFields, Text, Texts,
};

/// A task with all defaults filled in and its files read.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub(crate) struct Task {
    pub(crate) id: String,
    pub(crate) title: Option<String>,
    /// The kind of work.
    #[serde(rename = "task_type", skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<String>,
    pub(crate) prompt: String,
    pub(crate) files: Vec<String>,
    pub(crate) depends_on: Vec<String>,
    pub(crate) wave: u64,
    pub(crate) model: Option<String>,
    pub(crate) system_prompt: Option<String>,
    pub(crate) allowed_tools: Vec<String>,
    pub(crate) permission_mode: Option<String>,
    pub(crate) max_turns: u64,
    pub(crate) budget_usd: Option<f64>,
    /// Seconds; 0 is no limit.
    pub(crate) timeout: f64,
    /// How long it should take, in seconds.
    #[serde(rename = "estimated_duration", skip_serializing_if = "Option::is_none")]
    pub(crate) estimate: Option<f64>,
    pub(crate) retries: Option<u32>,
    pub(crate) schema: Option<String>,
    pub(crate) verify: Vec<String>,
    pub(crate) setup: Vec<String>,
    pub(crate) env: Vec<String>,
    pub(crate) claude_args: Vec<String>,
    #[serde(with = "cr_agent::os_path")]
    pub(crate) cwd: PathBuf,
    pub(crate) idempotent: bool,
    pub(crate) commit: Commit,
    pub(crate) breakpoint: bool,
}

/// Whether a task must leave a commit. One without evidence of who made it counts:
/// not every commit of an agent leaves some.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Commit {
    Required,
    #[default]
    Optional,
    None,
}

/// Defaults for tasks that do not set these fields.
#[derive(Clone, Debug, Default)]
pub(crate) struct Defaults {
    pub(crate) model: Option<String>,
    pub(crate) permission_mode: Option<String>,
    pub(crate) max_turns: Option<u64>,
    pub(crate) budget_usd: Option<f64>,
    pub(crate) timeout: Option<f64>,
    /// The time limit of a task with an estimate, in estimates.
    pub(crate) timeout_multiplier: f64,
    /// Seconds for a task with no other time limit and no estimate.
    pub(crate) task_timeout: f64,
    pub(crate) cwd: PathBuf,
}

/// A task as it was written, and where.
#[derive(Debug)]
pub(crate) struct Entry {
    /// `plan.yaml: task 3`.
    pub(crate) origin: String,
    /// Files it names are relative to this.
    pub(crate) dir: PathBuf,
    pub(crate) fields: Map<String, Value>,
}

impl Task {
    /// Reads `entry`; everything that is wrong with it goes to `errors`.
    pub(crate) fn read(entry: Entry, defaults: &Defaults, errors: &mut Vec<String>) -> Self {
        let mut fields = Fields {
            origin: entry.origin,
            map: entry.fields,
            errors,
        };
        let given = TaskFields::read(&mut fields);
        let task = Self::filled(given, &mut fields, &entry.dir, defaults);
        fields.finish();
        task
    }

    /// The task with all defaults, and with the files that it names read.
    fn filled(given: TaskFields, fields: &mut Fields<'_>, dir: &Path, defaults: &Defaults) -> Self {
        let estimate = given.estimated_duration.map(|Seconds(time)| time);
        let usual = defaults
            .timeout
            .or(estimate.map(|time| defaults.timeout_multiplier * time));
        let text = |text: Option<Text>| text.map(|Text(text)| text);
        let texts = |list: Option<Texts>| list.map_or_else(Vec::new, |Texts(list)| list);
        Self {
            id: given.id.map_or_else(String::new, |Id(id)| id),
            title: text(given.title),
            kind: text(given.task_type),
            prompt: fields.prompt(text(given.prompt), text(given.prompt_file), dir),
            files: texts(given.files),
            depends_on: given.depends_on.map_or_else(Vec::new, |Ids(ids)| ids),
            wave: given.wave.map_or(0, |Count(wave)| wave),
            model: text(given.model).or_else(|| defaults.model.clone()),
            system_prompt: text(given.system_prompt),
            allowed_tools: texts(given.allowed_tools),
            permission_mode: text(given.permission_mode)
                .or_else(|| defaults.permission_mode.clone()),
            max_turns: given
                .max_turns
                .map(|Positive(turns)| turns)
                .or(defaults.max_turns)
                .unwrap_or(100),
            budget_usd: given
                .budget_usd
                .map(|Dollars(usd)| usd)
                .or(defaults.budget_usd),
            timeout: given
                .timeout
                .map(|Seconds(time)| time)
                .or(usual)
                .unwrap_or(defaults.task_timeout),
            estimate,
            retries: given.retries.map(Count::small),
            schema: given
                .schema
                .and_then(|AnswerSchema(value)| fields.schema(value, dir)),
            verify: texts(given.verify),
            setup: texts(given.setup),
            env: fields.env(texts(given.env)),
            claude_args: texts(given.claude_args),
            cwd: fields.cwd(text(given.cwd), &defaults.cwd),
            idempotent: given.idempotent.unwrap_or_default(),
            commit: given.commit.unwrap_or_default(),
            breakpoint: given.breakpoint.unwrap_or_default(),
        }
    }
}

impl Count {
    fn small(self) -> u32 {
        u32::try_from(self.0).unwrap_or(u32::MAX)
    }
}

/// Fields that name files, or need a second look.
impl Fields<'_> {
    fn file(&mut self, dir: &Path, name: &str, path: &str) -> Option<String> {
        let path = dir.join(path);
        match std::fs::read_to_string(&path) {
            Ok(text) => Some(text),
            Err(err) => {
                self.wrong(format_args!("{name}: {}: {err}", path.display()));
                None
            }
        }
    }

    fn prompt(&mut self, text: Option<String>, file: Option<String>, dir: &Path) -> String {
        let read = match (text, file) {
            (Some(_), Some(_)) => {
                self.wrong("prompt and prompt_file: one of them, not both");
                return String::new();
            }
            (Some(text), None) => return text,
            (None, Some(file)) => self.file(dir, "prompt_file", &file),
            (None, None) => {
                self.wrong("no prompt");
                return String::new();
            }
        };
        if read.as_deref().is_some_and(|text| text.trim().is_empty()) {
            self.wrong("prompt_file: empty");
        }
        read.unwrap_or_default()
    }

    /// A JSON schema as text: an object as it stands, or a file of one.
    fn schema(&mut self, schema: Value, dir: &Path) -> Option<String> {
        match schema {
            value @ Value::Object(_) => Some(value.to_string()),
            Value::String(path) => {
                let text = self.file(dir, "schema", &path)?;
                match serde_json::from_str::<Map<String, Value>>(&text) {
                    Ok(map) => Some(Value::Object(map).to_string()),
                    Err(err) => {
                        self.wrong(format_args!("schema: {path}: {err}"));
                        None
                    }
                }
            }
            _ => {
                self.wrong("schema: expected an object, or the name of a file");
                None
            }
        }
    }

    fn env(&mut self, list: Vec<String>) -> Vec<String> {
        for entry in &list {
            let name = entry.split('=').next().unwrap_or_default();
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if name.is_empty() || !name.chars().all(is_name) {
                self.wrong(format_args!("env: `{entry}` is not NAME=VALUE"));
            } else if !entry.contains('=') && std::env::var_os(name).is_none() {
                self.wrong(format_args!("env: {name} is not set"));
            }
        }
        list.into_iter().filter(|e| e.contains('=')).collect()
    }

    fn cwd(&mut self, cwd: Option<String>, base: &Path) -> PathBuf {
        let path = cwd.map_or_else(|| base.to_path_buf(), |cwd| base.join(cwd));
        if !path.is_dir() {
            self.wrong(format_args!("cwd: {}: no directory", path.display()));
        }
        path
    }
}
