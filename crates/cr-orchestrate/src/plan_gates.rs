//! What a plan says for all of its tasks: how their work is proven.

use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::fields::Fields;

/// Settings of the whole plan.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub(crate) struct PlanGates {
    /// Commands that must succeed after each attempt, after those of its task.
    pub(crate) verify: Vec<String>,
    /// Patterns of files that no task may change.
    pub(crate) protect: Vec<String>,
    /// Commands to run before each attempt, before those of its task.
    pub(crate) setup: Vec<String>,
    /// Where its commands run: the working directory of the run.
    #[serde(with = "cr_agent::os_path")]
    pub(crate) cwd: PathBuf,
    /// `verify` is expected to fail on the base commit.
    pub(crate) expect_red: bool,
}

/// Fields of a plan for people.
const FOR_PEOPLE: [&str; 3] = ["name", "title", "description"];

impl PlanGates {
    /// Reads what `map` says beside the tasks; everything that is wrong with it goes
    /// to `errors`.
    pub(crate) fn read(map: Map<String, Value>, origin: &str, errors: &mut Vec<String>) -> Self {
        let mut fields = Fields {
            origin: origin.to_owned(),
            map,
            errors,
        };
        let mut list = |name| fields.list(name).unwrap_or_default();
        let (verify, protect, setup) = (list("verify"), list("protect"), list("setup"));
        let expect_red = match fields.text("expect").as_deref() {
            None | Some("green") => false,
            Some("red") => true,
            Some(_) => {
                fields.wrong("expect: expected red or green");
                false
            }
        };
        for name in FOR_PEOPLE {
            fields.map.remove(name);
        }
        fields.finish();
        Self {
            verify,
            protect,
            setup,
            cwd: PathBuf::new(),
            expect_red,
        }
    }
}

/// Programs that run the file that their first argument names.
const INTERPRETERS: [&str; 14] = [
    "sh", "bash", "dash", "zsh", "ksh", "env", "exec", "command", "time", "python", "python3",
    "node", "ruby", "perl",
];

/// The files that the shell command `text` runs, as far as they are named in it: the
/// first word of each simple command, and the script of an interpreter. A word that
/// a shell would change is not read as it would be, and then names no file.
pub(crate) fn programs(text: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for simple in text.split([';', '|', '&', '(', ')', '\n', '{', '}', '`', '!']) {
        let mut words = simple.split_whitespace().map(unquoted);
        let is_before = |word: &&str| {
            let name = word.rsplit('/').next().unwrap_or_default();
            word.starts_with('-') || is_assignment(word) || INTERPRETERS.contains(&name)
        };
        found.extend(words.find(|word| !is_before(word)).map(PathBuf::from));
    }
    found
}

fn unquoted(word: &str) -> &str {
    word.trim_matches(['"', '\''])
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// The path `program`, named in the directory `below` of a tree, from the top of
/// that tree; `None` if it is outside.
pub(crate) fn joined(below: &Path, program: &Path) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for part in below.join(program).components() {
        match part {
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            Component::ParentDir if path.pop() => {}
            _ => return None,
        }
    }
    Some(path).filter(|path| !path.as_os_str().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_of_a_command_are_what_it_runs_and_not_what_it_reads() {
        for (text, expected) in [
            ("./check.sh", &["./check.sh"][..]),
            ("sh -eu scripts/test --quick", &["scripts/test"]),
            ("A=1 ./a && bash 'b' | tee out", &["./a", "b", "tee"]),
            ("cargo test; test -f src/x.rs", &["cargo", "test"]),
            ("grep -q word src/lib.rs", &["grep"]),
        ] {
            let expected: Vec<PathBuf> = expected.iter().map(PathBuf::from).collect();
            assert_eq!(programs(text), expected, "{text}");
        }
    }

    #[test]
    fn a_program_is_named_from_the_top_of_the_tree() {
        let name = |below, program| joined(Path::new(below), Path::new(program));
        assert_eq!(name("", "./check"), Some("check".into()));
        assert_eq!(name("a/b", "../check"), Some("a/check".into()));
        assert_eq!(name("a", "../../check"), None);
        assert_eq!(name("", "/bin/true"), None);
    }
}
