//! A permission question, taken apart once for all rules.

use std::fs;
use std::path::PathBuf;

use crate::Question;
use crate::input::Input;
use crate::path::Place;
use crate::program;
use crate::scan::{self, Started};
use crate::shell::{self, Word};
use crate::tool::{COMMAND, PathTool, SHELL, SHELL_FIELDS, stays_below};

/// The longest command that is read; Linux takes no longer argument. A longer one
/// is not understood.
const LONGEST: usize = 128 << 10;

/// A call of a tool.
pub(crate) struct Call<'a> {
    pub(crate) tool: &'a str,
    /// The directory, with links resolved.
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) input: Option<Input>,
    blocked_path: Option<&'a str>,
}

/// What is decided by itself: one command of a list, or the call.
pub(crate) enum Part {
    Simple {
        words: Vec<Word>,
        started: Vec<Started>,
        /// Whether it can start no other command that its words name.
        is_certain: bool,
    },
    /// A command that is not understood.
    Text { started: Vec<Started> },
    /// Everything else.
    Whole,
}

impl<'a> Call<'a> {
    pub(crate) fn new(question: &Question<'a>) -> Self {
        Self {
            tool: question.tool,
            cwd: fs::canonicalize(question.cwd).ok(),
            input: Input::read(question.input),
            blocked_path: question.blocked_path,
        }
    }

    /// The parts of the call, at least one.
    pub(crate) fn parts(&self) -> Vec<Part> {
        let input = self.input.as_ref().filter(|_| self.tool == SHELL);
        let texts = input.map(|input| input.texts(COMMAND)).unwrap_or_default();
        let parts: Vec<Part> = match texts.as_slice() {
            [] => vec![Part::Whole],
            [Some(text)] => understood(text),
            // Two commands, or none: which one runs is not known.
            texts => {
                let texts = texts.iter().flatten();
                let started = texts.flat_map(|text| started_by(text)).collect();
                vec![Part::Text { started }]
            }
        };
        parts
    }

    pub(crate) fn has_only_shell_fields(&self) -> bool {
        let mut names = self.input.iter().flat_map(Input::names);
        self.tool == SHELL && names.all(|name| SHELL_FIELDS.contains(&name))
    }

    /// The real paths that a rule must allow; `None` if it cannot allow the call.
    pub(crate) fn allowable_paths(&self, tool: &PathTool) -> Option<Vec<PathBuf>> {
        let (input, cwd) = (self.input.as_ref()?, self.cwd.as_ref()?);
        let has_known_fields = input.names().all(|name| tool.has_field(name));
        if !has_known_fields || !self.stays_below() {
            return None;
        }
        let mut paths = Place::resolve(cwd, &input.text(tool.field)?)?.real;
        if let Some(blocked) = self.blocked_path {
            paths.extend(Place::resolve(cwd, blocked)?.real);
        }
        Some(paths)
    }

    /// The paths that can be seen, and whether these are all.
    pub(crate) fn visible_places(&self, tool: &PathTool) -> (Vec<Place>, bool) {
        let (Some(input), Some(cwd)) = (&self.input, &self.cwd) else {
            return (Vec::new(), false);
        };
        let mut texts = input.texts(tool.field);
        if texts.is_empty() && tool.is_search {
            texts.push(Some(".".to_owned()));
        }
        let is_single = texts.len() == 1 && self.stays_below();
        texts.extend(self.blocked_path.map(|path| Some(path.to_owned())));
        let resolve = |text: &Option<String>| Place::resolve(cwd, text.as_deref()?);
        let places: Vec<Option<Place>> = texts.iter().map(resolve).collect();
        let is_certain = is_single && places.iter().all(Option::is_some);
        (places.into_iter().flatten().collect(), is_certain)
    }

    /// Whether the tool Glob looks only below its path. Others always do.
    fn stays_below(&self) -> bool {
        let input = self.input.as_ref().filter(|_| self.tool == "Glob");
        input.is_none_or(|input| input.text("pattern").is_some_and(|text| stays_below(&text)))
    }
}

fn understood(text: &str) -> Vec<Part> {
    let commands = shell::simple_commands(text).filter(|_| text.len() <= LONGEST);
    let Some(commands) = commands else {
        let started = started_by(text);
        return vec![Part::Text { started }];
    };
    let part = |words: Vec<Word>| {
        let texts: Vec<String> = words.iter().map(|word| word.text.clone()).collect();
        Part::Simple {
            words,
            started: scan::started_by_words(&texts),
            is_certain: !program::can_run_another(&texts),
        }
    };
    commands.into_iter().map(part).collect()
}

fn started_by(text: &str) -> Vec<Started> {
    if text.len() > LONGEST {
        return Vec::new();
    }
    scan::started_by(text)
}
