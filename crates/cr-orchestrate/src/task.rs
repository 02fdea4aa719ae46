//! One task, read field by field, so that every error in it is found.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The time limit of an attempt where nothing else sets one: two hours.
const DEFAULT_TIMEOUT: f64 = 7200.0;

/// A task with all defaults filled in and its files read.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub(crate) struct Task {
    pub(crate) id: String,
    pub(crate) title: Option<String>,
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
    pub(crate) retries: Option<u32>,
    pub(crate) schema: Option<String>,
    pub(crate) verify: Vec<String>,
    pub(crate) setup: Vec<String>,
    pub(crate) env: Vec<String>,
    pub(crate) claude_args: Vec<String>,
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

/// Reads the fields of one task; errors go to `errors`.
struct Fields<'a> {
    origin: String,
    map: Map<String, Value>,
    errors: &'a mut Vec<String>,
}

impl Fields<'_> {
    fn wrong(&mut self, what: impl Display) {
        self.errors.push(format!("{}: {what}", self.origin));
    }

    fn take(&mut self, name: &str) -> Option<Value> {
        let value = self.map.remove(name).filter(|value| !value.is_null())?;
        // A prompt is a file's, the rest becomes part of a command line.
        let texts = value
            .as_array()
            .map_or(std::slice::from_ref(&value), Vec::as_slice);
        let mut texts = texts.iter().filter_map(Value::as_str);
        if name != "prompt" && texts.any(|text| text.contains('\0')) {
            self.wrong(format_args!("{name}: contains a NUL byte"));
            return None;
        }
        Some(value)
    }

    fn text(&mut self, name: &str) -> Option<String> {
        match self.take(name)? {
            Value::String(text) if text.trim().is_empty() => {
                self.wrong(format_args!("{name}: empty"));
                None
            }
            Value::String(text) => Some(text),
            Value::Number(number) if name == "id" => Some(number.to_string()),
            _ => {
                self.wrong(format_args!("{name}: expected text"));
                None
            }
        }
    }

    /// A list of texts; a single one may stand alone.
    fn list(&mut self, name: &str) -> Vec<String> {
        let values = match self.take(name) {
            None => return Vec::new(),
            Some(Value::Array(values)) => values,
            Some(value) => vec![value],
        };
        let mut list = Vec::new();
        for value in values {
            match value {
                Value::String(text) if !text.trim().is_empty() => list.push(text),
                Value::Number(number) if name == "depends_on" => list.push(number.to_string()),
                _ => self.wrong(format_args!("{name}: expected a list of texts")),
            }
        }
        list
    }

    fn number(&mut self, name: &str, least: u64) -> Option<u64> {
        let number = self.take(name)?.as_u64().filter(|&number| number >= least);
        if number.is_none() {
            self.wrong(format_args!("{name}: expected a whole number from {least}"));
        }
        number
    }

    fn dollars(&mut self, name: &str) -> Option<f64> {
        let number = self.take(name)?.as_f64().filter(|&number| number > 0.0);
        if number.is_none() {
            self.wrong(format_args!("{name}: expected dollars, more than 0"));
        }
        number
    }

    /// Seconds, from a number or a text such as 2h30m.
    fn seconds(&mut self, name: &str) -> Option<f64> {
        let text = match self.take(name)? {
            Value::Number(number) => number.to_string(),
            Value::String(text) => text,
            _ => "no text".to_owned(),
        };
        match cr_io::parse_duration(&text) {
            Ok(duration) => Some(duration.as_secs_f64()),
            Err(err) => {
                self.wrong(format_args!("{name}: {err}"));
                None
            }
        }
    }

    fn flag(&mut self, name: &str) -> bool {
        match self.take(name) {
            None => false,
            Some(Value::Bool(flag)) => flag,
            Some(_) => {
                self.wrong(format_args!("{name}: expected true or false"));
                false
            }
        }
    }

    fn commit(&mut self) -> Commit {
        let Some(value) = self.take("commit") else {
            return Commit::default();
        };
        serde_json::from_value(value).unwrap_or_else(|_| {
            self.wrong("commit: expected required, optional or none");
            Commit::default()
        })
    }

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

    fn prompt(&mut self, dir: &Path) -> String {
        let (text, file) = (self.text("prompt"), self.text("prompt_file"));
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
    fn schema(&mut self, dir: &Path) -> Option<String> {
        match self.take("schema")? {
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

    fn env(&mut self) -> Vec<String> {
        let list = self.list("env");
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

    fn cwd(&mut self, base: &Path) -> PathBuf {
        let cwd = self.text("cwd");
        let path = cwd.map_or_else(|| base.to_path_buf(), |cwd| base.join(cwd));
        if !path.is_dir() {
            self.wrong(format_args!("cwd: {}: no directory", path.display()));
        }
        path
    }
}

/// The longest id.
const MAX_ID_LENGTH: usize = 64;

/// Whether `id` may become part of a file's name.
pub(crate) fn is_id(id: &str) -> bool {
    cr_rundir::RunId::parse(id).is_some() && id.len() <= MAX_ID_LENGTH
}

impl Task {
    /// Reads `entry`; everything that is wrong with it goes to `errors`.
    pub(crate) fn read(entry: Entry, defaults: &Defaults, errors: &mut Vec<String>) -> Self {
        let mut fields = Fields {
            origin: entry.origin,
            map: entry.fields,
            errors,
        };
        let id = fields.id();
        fields.origin = format!("{} (`{}`)", fields.origin, cr_io::sanitized(&id));
        let estimate = fields.seconds("estimated_duration");
        let usual = defaults.timeout.or(estimate.map(|seconds| 2.0 * seconds));
        let task = Self {
            title: fields.text("title"),
            prompt: fields.prompt(&entry.dir),
            files: fields.list("files"),
            depends_on: fields.list("depends_on"),
            wave: fields.number("wave", 0).unwrap_or(0),
            model: fields.text("model").or_else(|| defaults.model.clone()),
            system_prompt: fields.text("system_prompt"),
            allowed_tools: fields.list("allowed_tools"),
            permission_mode: fields
                .text("permission_mode")
                .or_else(|| defaults.permission_mode.clone()),
            max_turns: fields
                .number("max_turns", 1)
                .or(defaults.max_turns)
                .unwrap_or(100),
            budget_usd: fields.dollars("budget_usd").or(defaults.budget_usd),
            timeout: fields
                .seconds("timeout")
                .or(usual)
                .unwrap_or(DEFAULT_TIMEOUT),
            retries: fields
                .number("retries", 0)
                .map(|n| u32::try_from(n).unwrap_or(u32::MAX)),
            schema: fields.schema(&entry.dir),
            verify: fields.list("verify"),
            setup: fields.list("setup"),
            env: fields.env(),
            claude_args: fields.list("claude_args"),
            cwd: fields.cwd(&defaults.cwd),
            idempotent: fields.flag("idempotent"),
            commit: fields.commit(),
            breakpoint: fields.flag("breakpoint"),
            id,
        };
        fields.finish();
        task
    }
}

impl Fields<'_> {
    fn id(&mut self) -> String {
        let Some(id) = self.text("id") else {
            self.wrong("no id");
            return String::new();
        };
        if !is_id(&id) {
            self.wrong(format_args!(
                "id `{}`: 1 to {MAX_ID_LENGTH} letters, digits, dots, dashes and underlines, \
                 the first a letter or a digit, no two dots together",
                cr_io::sanitized(&id)
            ));
        }
        id
    }

    /// The fields that are left are for people, or an error.
    fn finish(mut self) {
        for name in ["description", "role", "task_type"] {
            self.text(name);
        }
        for name in ["estimated_files", "estimated_loc"] {
            self.number(name, 0);
        }
        let unknown: Vec<String> = self.map.keys().cloned().collect();
        for name in unknown {
            let name = cr_io::sanitized(&name);
            self.wrong(format_args!("no field is called `{name}`"));
        }
    }
}
