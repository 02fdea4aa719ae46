//! `cr-turns`: tasks in, the same tasks with a limit of turns out.
//!
//! `input` finds the tasks in a text, `cr-estimate` gives each its turns, `edit`
//! sets the fields. The rest of the text is written as it was read.

mod args;
mod edit;
mod history;
mod input;
mod turns;

use std::io::{Read, Write};
use std::path::Path;

use anyhow::anyhow;
use cr_estimate::{Bounds, Estimate, Settings, Task};
use cr_io::{Exit, Input, Out, read_failure};
use serde::de::DeserializeOwned;

pub use args::Args;

use history::History;
use input::{TaskText, Wrong, offset};
use turns::Turns;

/// The name of the field with the limit.
const MAX_TURNS: &str = "max_turns";
/// The name of the field with the evidence.
const REASON: &str = "max_turns_reason";
/// The reason for a limit that was in the task.
const GIVEN: &str = "given";

/// Writes the tasks of the input, or the estimate for the task of the command
/// line, to `out`.
pub fn run(args: &Args, out: impl Write) -> anyhow::Result<Exit> {
    if args.output_schema {
        return cr_io::print_schema(turns::SCHEMA, out);
    }
    let estimator = Estimator {
        settings: settings(args)?,
        history: args.history.then(|| History::new(args.project.clone())),
        replaces: args.replace,
    };
    let mut out = Out::new(out);
    if let Some(task) = args.task() {
        let turns = Turns::from(estimator.estimate(&task));
        out.line(&serde_json::to_vec(&turns)?)?;
    } else {
        out.part(estimator.input(args.file.as_deref())?.as_bytes())?;
    }
    out.flush()?;
    Ok(Exit::Ok)
}

/// The settings of the configuration, with the bounds of the command line.
fn settings(args: &Args) -> anyhow::Result<Settings> {
    let mut settings = cr_config::Config::load()?.turns();
    let min = args.min.unwrap_or(settings.bounds.min());
    let max = args.max.unwrap_or(settings.bounds.max());
    settings.bounds = Bounds::new(min, max).map_err(|err| anyhow!(err).context(Exit::Usage))?;
    Ok(settings)
}

/// Gives tasks their turns.
struct Estimator {
    settings: Settings,
    /// The turns of finished tasks, if they count.
    history: Option<History>,
    /// Also a limit that a task has is replaced.
    replaces: bool,
}

impl Estimator {
    fn estimate(&self, task: &Task<'_>) -> Estimate {
        let history = self.history.as_ref();
        match history.map(|history| history.turns(task.task_type)) {
            None => cr_estimate::estimate(task, &self.settings),
            Some(turns) => cr_estimate::with_history(task, &self.settings, turns),
        }
    }

    /// The tasks of the input with their turns.
    fn input(&self, file: Option<&Path>) -> anyhow::Result<String> {
        let bytes = read(file)?;
        let wrong = |bytes: &[u8], wrong: Wrong| {
            let before = bytes.get(..wrong.at).unwrap_or(bytes);
            let line = before.split(|&byte| byte == b'\n').count();
            let place = match file.filter(|file| file.as_os_str() != "-") {
                Some(file) => format!("{}:{line}", file.display()),
                None => format!("line {line}"),
            };
            anyhow!(wrong.cause).context(place).context(Exit::Data)
        };
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(err) => {
                let at = err.utf8_error().valid_up_to();
                return Err(wrong(err.as_bytes(), Wrong::new(at, "not UTF-8")));
            }
        };
        let mut new = self
            .text(&text)
            .map_err(|err| wrong(text.as_bytes(), err))?;
        if !new.is_empty() && !new.ends_with('\n') {
            new.push('\n');
        }
        Ok(new)
    }

    fn text(&self, text: &str) -> Result<String, Wrong> {
        let mut edits = Vec::new();
        for task in input::tasks(text)? {
            let fields = self.fields(text, &task)?;
            edits.extend(edit::set(text, &task, &fields));
        }
        Ok(edit::edited(text, &edits))
    }

    /// The fields to set in one task, as JSON.
    fn fields(
        &self,
        text: &str,
        task: &TaskText<'_>,
    ) -> Result<Vec<(&'static str, String)>, Wrong> {
        let read = Fields { text, task };
        let task_type = read.text("task_type")?;
        let title = read.text("title")?;
        let description = match read.text("description")? {
            None => read.text("prompt")?,
            description => description,
        };
        let task = Task {
            task_type: task_type.as_deref(),
            title: title.as_deref(),
            description: description.as_deref(),
            estimated_files: read.number("estimated_files", 0)?,
            estimated_loc: read.number("estimated_loc", 0)?,
        };
        if !self.replaces && read.number(MAX_TURNS, 1)?.is_some() {
            return Ok(match read.text(REASON)? {
                Some(_) => Vec::new(),
                None => vec![(REASON, quoted(GIVEN))],
            });
        }
        let Estimate { max_turns, reason } = self.estimate(&task);
        Ok(vec![
            (MAX_TURNS, max_turns.to_string()),
            (REASON, quoted(&reason)),
        ])
    }
}

fn quoted(text: &str) -> String {
    let mut json = String::new();
    cr_io::json_string(text, &mut json);
    json
}

/// Reads the fields of a task. A field that is null is absent.
struct Fields<'a> {
    text: &'a str,
    task: &'a TaskText<'a>,
}

impl Fields<'_> {
    fn text(&self, name: &str) -> Result<Option<String>, Wrong> {
        self.value(name, "text", |_| true)
    }

    fn number(&self, name: &str, least: u64) -> Result<Option<u64>, Wrong> {
        let expected = format!("a whole number from {least}");
        self.value(name, &expected, |&number| number >= least)
    }

    fn value<T: DeserializeOwned>(
        &self,
        name: &str,
        expected: &str,
        is_allowed: impl Fn(&T) -> bool,
    ) -> Result<Option<T>, Wrong> {
        let Some(raw) = self.task.object.get(name) else {
            return Ok(None);
        };
        let value: Option<Option<T>> = serde_json::from_str(raw.get()).ok();
        match value {
            Some(None) => Ok(None),
            Some(Some(value)) if is_allowed(&value) => Ok(Some(value)),
            _ => {
                let cause = format!("{name}: expected {expected}");
                Err(Wrong::new(offset(self.text, raw), cause))
            }
        }
    }
}

/// All bytes of the input.
fn read(file: Option<&Path>) -> anyhow::Result<Vec<u8>> {
    let input = match file.filter(|file| file.as_os_str() != "-") {
        Some(file) => Input::File(file.to_owned()),
        None => Input::Stdin,
    };
    let mut opened = input.open()?;
    let mut bytes = Vec::new();
    opened.read_to_end(&mut bytes).map_err(read_failure)?;
    opened.check_whole()?;
    if opened.was_cut_short() {
        let text = "stopped before the end of the input; nothing was written";
        return Err(anyhow!(text).context(Exit::Code(130)));
    }
    Ok(bytes)
}
