//! The formats of a plan: NDJSON, an array, `{"tasks": […]}`, YAML, a folder.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use cr_io::Exit;
use serde_json::{Map, Value};

use crate::order;
use crate::plan_gates::PlanGates;
use crate::task::{Defaults, Entry, Task};

/// A plan: its tasks in the order in which they start, and what it says for all.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    pub(crate) tasks: Vec<Task>,
    pub(crate) gates: PlanGates,
}

/// The file of a folder that has the fields of the plan itself.
const FOLDER_PLAN: &str = "plan.yaml";

/// Reads the plan at `path`. One error lists everything that is wrong with it.
pub(crate) fn read(path: &Path, defaults: &Defaults) -> anyhow::Result<Plan> {
    let shown = path.display().to_string();
    let mut errors = Vec::new();
    let (entries, gates) = if path.is_dir() {
        folder(path, &mut errors)?
    } else {
        file(path, &mut errors)?
    };
    let settle = |entry| Task::read(entry, defaults, &mut errors);
    let tasks: Vec<Task> = entries.into_iter().map(settle).collect();
    if tasks.is_empty() && errors.is_empty() {
        errors.push(format!("{shown}: no tasks or steps"));
    }
    let tasks = order::ordered(tasks, &shown, &mut errors);
    if errors.is_empty() {
        let cwd = defaults.cwd.clone();
        let gates = PlanGates { cwd, ..gates };
        return Ok(Plan { tasks, gates });
    }
    let lead = match errors.len() {
        1 => String::new(),
        count => format!("{count} errors, nothing was started\n  "),
    };
    Err(anyhow!("{lead}{}", errors.join("\n  ")).context(Exit::Usage))
}

fn file(path: &Path, errors: &mut Vec<String>) -> anyhow::Result<(Vec<Entry>, PlanGates)> {
    let shown = path.display().to_string();
    let mut text = String::new();
    let (read, dir) = if path == Path::new("-") {
        let read = std::io::stdin().lock().read_to_string(&mut text);
        (read, PathBuf::from("."))
    } else {
        let read = std::fs::File::open(path).and_then(|mut file| file.read_to_string(&mut text));
        let dir = path.parent().map(Path::to_path_buf).unwrap_or_default();
        (read, dir)
    };
    read.with_context(|| shown.clone()).context(Exit::NoInput)?;
    let text = text.trim_start_matches('\u{feff}');
    let value = match parse(path, text) {
        Ok(value) => value,
        Err(err) => {
            errors.push(format!("{shown}: {err}"));
            return Ok((Vec::new(), PlanGates::default()));
        }
    };
    let mut gates = PlanGates::default();
    let list = match value {
        Value::Array(list) => Listed::plain(list),
        Value::Object(mut map) => {
            let listed = of_object(&mut map);
            gates = PlanGates::read(map, &shown, errors);
            listed
        }
        _ => Err("expected a list of tasks or steps"),
    };
    let listed = list.unwrap_or_else(|err| {
        errors.push(format!("{shown}: {err}"));
        Listed::default()
    });
    Ok((listed.entries(&shown, &dir, errors), gates))
}

/// The whole file as one value; many documents become a list.
fn parse(path: &Path, text: &str) -> Result<Value, String> {
    let extension = path.extension().and_then(|name| name.to_str());
    let is_yaml = match extension {
        Some("yaml" | "yml") => true,
        Some("json" | "jsonl" | "ndjson") => false,
        _ => !text.trim_start().starts_with(['{', '[']),
    };
    if is_yaml {
        return yaml(text);
    }
    let documents = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let mut documents: Vec<Value> = documents
        .collect::<Result<_, _>>()
        .map_err(|err| err.to_string())?;
    let is_one = match documents.first() {
        Some(Value::Array(_)) => true,
        Some(Value::Object(map)) => map.contains_key("tasks") || map.contains_key("steps"),
        _ => false,
    };
    match documents.len() {
        1 if is_one => Ok(documents.remove(0)),
        _ => Ok(Value::Array(documents)),
    }
}

fn yaml(text: &str) -> Result<Value, String> {
    // `no` is Norway, and `y` may be the name of a file.
    let options = serde_saphyr::options! { strict_booleans: true };
    serde_saphyr::from_str_with_options(text, options).map_err(|err| {
        let text = err.to_string();
        text.lines().next().unwrap_or_default().to_owned()
    })
}

/// Tasks as they were written; the steps of a sprint may have no id, or be a
/// prompt and nothing else.
#[derive(Debug, Default)]
struct Listed {
    list: Vec<Value>,
    are_steps: bool,
}

impl Listed {
    #[expect(clippy::unnecessary_wraps, reason = "as the other forms")]
    fn plain(list: Vec<Value>) -> Result<Self, &'static str> {
        let are_steps = false;
        Ok(Self { list, are_steps })
    }

    fn entries(self, shown: &str, dir: &Path, errors: &mut Vec<String>) -> Vec<Entry> {
        let word = if self.are_steps { "step" } else { "task" };
        let mut entries = Vec::new();
        for (at, value) in self.list.into_iter().enumerate() {
            let origin = format!("{shown}: {word} {}", at + 1);
            let mut fields = match value {
                Value::Object(fields) => fields,
                Value::String(prompt) if self.are_steps => {
                    Map::from_iter([("prompt".to_owned(), prompt.into())])
                }
                _ => {
                    errors.push(format!("{origin}: expected an object"));
                    continue;
                }
            };
            if self.are_steps && !fields.contains_key("id") {
                fields.insert("id".to_owned(), format!("step-{}", at + 1).into());
            }
            entries.push(Entry {
                origin,
                dir: dir.to_path_buf(),
                fields,
            });
        }
        entries
    }
}

/// A plan with `tasks` or, as sprints call them, `steps`.
fn of_object(map: &mut Map<String, Value>) -> Result<Listed, &'static str> {
    if map.contains_key("tasks") && map.contains_key("steps") {
        return Err("tasks and steps: one of them, not both");
    }
    for (name, are_steps) in [("tasks", false), ("steps", true)] {
        match map.remove(name) {
            None => {}
            Some(Value::Array(list)) => return Ok(Listed { list, are_steps }),
            Some(_) => return Err("tasks: expected a list"),
        }
    }
    Err("neither tasks nor steps in it")
}

/// A folder of `*.md`: front matter, the body is the prompt, the name the id.
fn folder(path: &Path, errors: &mut Vec<String>) -> anyhow::Result<(Vec<Entry>, PlanGates)> {
    let shown = || path.display().to_string();
    let listed = std::fs::read_dir(path)
        .with_context(shown)
        .context(Exit::NoInput)?;
    let mut files: Vec<PathBuf> = listed
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|file| file.extension().is_some_and(|name| name == "md"))
        .collect();
    files.sort();
    let mut entries = Vec::new();
    for file in files {
        let origin = file.display().to_string();
        match page(&file) {
            Ok(fields) => entries.push(Entry {
                origin,
                dir: path.to_path_buf(),
                fields,
            }),
            Err(err) => errors.push(format!("{origin}: {err}")),
        }
    }
    Ok((entries, folder_gates(&path.join(FOLDER_PLAN), errors)))
}

/// What the plan of a folder says for all tasks.
fn folder_gates(file: &Path, errors: &mut Vec<String>) -> PlanGates {
    let origin = file.display().to_string();
    let read = match std::fs::read_to_string(file) {
        Ok(text) => yaml(text.trim_start_matches('\u{feff}')),
        Err(err) if err.kind() == std::io::ErrorKind::NotFound => return PlanGates::default(),
        Err(err) => Err(err.to_string()),
    };
    match read {
        Ok(Value::Object(map)) => PlanGates::read(map, &origin, errors),
        Ok(_) => {
            errors.push(format!("{origin}: expected fields of the plan"));
            PlanGates::default()
        }
        Err(err) => {
            errors.push(format!("{origin}: {err}"));
            PlanGates::default()
        }
    }
}

fn page(file: &Path) -> Result<Map<String, Value>, String> {
    let text = std::fs::read_to_string(file).map_err(|err| err.to_string())?;
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let (matter, body) = match text.strip_prefix("---\n") {
        None => ("", text.as_str()),
        Some(rest) => {
            let whole = rest.strip_prefix("---\n").map(|body| ("", body));
            let split = whole.or_else(|| rest.split_once("\n---\n"));
            let last = rest.strip_suffix("\n---").map(|matter| (matter, ""));
            split.or(last).ok_or("the front matter does not end")?
        }
    };
    let mut fields = match matter.trim() {
        "" => Map::new(),
        matter => match yaml(matter)? {
            Value::Object(fields) => fields,
            _ => return Err("the front matter is not a list of fields".to_owned()),
        },
    };
    if !body.trim().is_empty() {
        let had = fields.insert("prompt".to_owned(), body.trim().into());
        if had.is_some() || fields.contains_key("prompt_file") {
            return Err("a prompt in the front matter and a body".to_owned());
        }
    }
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    fields
        .entry("id")
        .or_insert_with(|| name.into_owned().into());
    Ok(fields)
}
