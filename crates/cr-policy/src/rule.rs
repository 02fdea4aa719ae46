//! One rule, and whether it is about a call.

use serde::Deserialize;

use crate::call::{Call, Part};
use crate::path::PathGlob;
use crate::program;
use crate::shell::Word;
use crate::tool::{PathTool, QUESTION, SHELL, ToolName};

/// What happens with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Action {
    /// It is allowed.
    Allow,
    /// It is denied.
    Deny,
    /// A person is asked.
    Ask,
}

impl TryFrom<String> for Action {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        match text.as_str() {
            "allow" => Ok(Self::Allow),
            "deny" => Ok(Self::Deny),
            "ask" => Ok(Self::Ask),
            _ => Err("expected allow, deny or ask"),
        }
    }
}

/// Whether a rule is about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Match {
    Yes,
    No,
    /// That cannot be seen. Only rules that do not allow say this.
    Maybe,
}

impl From<bool> for Match {
    fn from(is: bool) -> Self {
        if is { Self::Yes } else { Self::No }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) tools: Vec<ToolName>,
    pub(crate) when: When,
    pub(crate) action: Action,
    pub(crate) reason: Option<String>,
}

/// What a rule asks of a call besides its tool.
#[derive(Clone, Debug)]
pub(crate) enum When {
    Always,
    Command(Vec<CommandWords>),
    Path(Vec<PathGlob>),
}

impl Rule {
    pub(crate) fn matches(&self, call: &Call, part: &Part) -> Match {
        if !self.tools.iter().any(|name| name.is(call.tool)) {
            return Match::No;
        }
        match (&self.when, self.action) {
            (When::Always, Action::Allow) => can_allow(call).into(),
            (When::Always, _) => Match::Yes,
            (When::Command(commands), Action::Allow) => {
                (can_allow(call) && allows_command(commands, call, part)).into()
            }
            (When::Command(commands), _) => names_command(commands, call, part),
            (When::Path(globs), Action::Allow) => {
                (can_allow(call) && allows_path(globs, call)).into()
            }
            (When::Path(globs), _) => names_path(globs, call),
        }
    }
}

/// Whether anything can allow the call: its input can be read in one way only,
/// and it is not a question to a person.
pub(crate) fn can_allow(call: &Call) -> bool {
    let is_clear = call
        .input
        .as_ref()
        .is_some_and(|input| !input.has_duplicates());
    is_clear && call.tool != QUESTION
}

fn allows_command(commands: &[CommandWords], call: &Call, part: &Part) -> bool {
    let Part::Simple { words, .. } = part else {
        return false;
    };
    call.has_only_shell_fields() && commands.iter().any(|command| command.allows(words))
}

fn names_command(commands: &[CommandWords], call: &Call, part: &Part) -> Match {
    let (started, is_certain) = match part {
        Part::Simple {
            started,
            is_certain,
            ..
        } => (started, *is_certain),
        Part::Text { started } => (started, false),
        Part::Whole => {
            return if call.tool == SHELL {
                Match::Maybe
            } else {
                Match::No
            };
        }
    };
    let is_named = |command: &CommandWords| started.iter().any(|s| s.is(&command.words));
    match commands.iter().any(is_named) {
        true => Match::Yes,
        false if is_certain => Match::No,
        false => Match::Maybe,
    }
}

fn allows_path(globs: &[PathGlob], call: &Call) -> bool {
    let (Some(tool), Some(cwd)) = (PathTool::named(call.tool), &call.cwd) else {
        return false;
    };
    let Some(paths) = call.allowable_paths(tool) else {
        return false;
    };
    let is_allowed = |path: &std::path::PathBuf| {
        let below = tool.is_search && !path.is_file();
        globs.iter().any(|glob| glob.allows(cwd, path, below))
    };
    paths.iter().all(is_allowed)
}

fn names_path(globs: &[PathGlob], call: &Call) -> Match {
    let Some(tool) = PathTool::named(call.tool) else {
        return Match::No;
    };
    let Some(cwd) = &call.cwd else {
        return Match::Maybe;
    };
    let (places, mut is_certain) = call.visible_places(tool);
    for place in &places {
        for glob in globs {
            match glob.denies(cwd, place, tool.is_search) {
                Some(true) => return Match::Yes,
                Some(false) => {}
                None => is_certain = false,
            }
        }
    }
    if is_certain { Match::No } else { Match::Maybe }
}

/// A command of a rule.
#[derive(Clone, Debug)]
pub(crate) struct CommandWords {
    pub(crate) words: Vec<String>,
    /// Whether more words may follow.
    has_more: bool,
}

impl CommandWords {
    pub(crate) fn new(text: &str, action: Action) -> Result<Self, String> {
        let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        let has_more = words.len() > 1 && words.last().is_some_and(|word| word == "*");
        if has_more {
            words.pop();
        }
        let is_word = |word: &String| !word.is_empty() && !word.contains(is_odd);
        if !words.iter().all(is_word) {
            return Err(
                "expected words with one space between them, and `*` only as the last one"
                    .to_owned(),
            );
        }
        if action == Action::Allow {
            can_be_allowed(&words[0], has_more)?;
        }
        Ok(Self { words, has_more })
    }

    fn allows(&self, command: &[Word]) -> bool {
        let (own, further) = match command.split_at_checked(self.words.len()) {
            Some((own, further)) if self.has_more || further.is_empty() => (own, further),
            _ => return false,
        };
        let mut pairs = own.iter().zip(&self.words);
        pairs.all(|(word, wanted)| !word.expands && word.text == *wanted)
            && !further.iter().any(|word| is_more(&self.words[0], word))
    }
}

fn is_odd(c: char) -> bool {
    c == '*' || c.is_whitespace() || c.is_control()
}

/// Whether `word`, after an allowed command, makes `program` do more than its
/// job, or could be replaced by an option that does.
fn is_more(program: &str, word: &Word) -> bool {
    let can_be_option = word.expands && word.text.starts_with(['*', '?', '[', '-']);
    program::is_executing(program, &word.text)
        || (can_be_option && program::has_executing_options(program))
}

/// Whether a rule can allow the program, `has_more` with any further words.
fn can_be_allowed(program: &str, has_more: bool) -> Result<(), String> {
    if program::is_reserved(program) {
        return Err(format!("`{program}` is a word of the shell, not a command"));
    }
    if program::is_wrapper(program) {
        return Err(format!(
            "`{program}` runs other commands and is never allowed by its words"
        ));
    }
    if program::is_evaluated(program, std::iter::empty::<&str>()) {
        return Err(format!(
            "`{program}` evaluates its arguments and is never allowed by its words"
        ));
    }
    if has_more && program::changes_shell(program) {
        return Err(format!(
            "`{program} *` can change what later commands do: give all its words"
        ));
    }
    Ok(())
}
