//! An estimate from the fields of a task.

use cr_io::counted;

use crate::{Estimate, Settings, TurnsByType};

/// Words of a complex task.
const COMPLEXITY: [&str; 14] = [
    "migrate",
    "refactor",
    "implement",
    "debug",
    "comprehensive",
    "entire",
    "all",
    "complete",
    "full",
    "across",
    "multiple",
    "system",
    "architecture",
    "framework",
];

/// Words and phrases of a task that changes many places.
const SCOPE: [&str; 8] = [
    "all files",
    "entire codebase",
    "multiple",
    "across",
    "throughout",
    "repository",
    "project-wide",
    "every",
];

/// A task with more lines of code than this is very complex.
const MANY_LINES: u64 = 500;

/// The fields of a task that matter here. A field that is absent says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Task<'a> {
    /// What kind of task it is, such as `debugging`.
    pub task_type: Option<&'a str>,
    /// Its title.
    pub title: Option<&'a str>,
    /// Its description.
    pub description: Option<&'a str>,
    /// How many files it changes; 1 if that is not known.
    pub estimated_files: Option<u64>,
    /// How many lines of code it changes; 0 if that is not known.
    pub estimated_loc: Option<u64>,
}

/// Estimates how many turns `task` deserves. A type of the table decides alone;
/// otherwise the words, the files and the lines of code do.
pub fn estimate(task: &Task<'_>, settings: &Settings) -> Estimate {
    let by_type = task
        .task_type
        .and_then(|name| Some((name, settings.by_type.get(name)?)));
    let (turns, reason) = match by_type {
        Some((name, turns)) => (turns, format!("type {}", TurnsByType::name(name))),
        None => analyse(task),
    };
    Estimate::within(settings.bounds, turns, reason)
}

fn analyse(task: &Task<'_>) -> (u64, String) {
    let texts = [task.title, task.description].map(|text| plain(text.unwrap_or_default()));
    let complexity = found(&COMPLEXITY, &texts);
    let scope = found(&SCOPE, &texts);
    let files = task.estimated_files.unwrap_or(1);
    let loc = task.estimated_loc.unwrap_or(0);

    let lines = (loc > MANY_LINES).then(|| format!("{loc} lines of code"));
    let phrases = listed(&scope, "scope phrase");
    if loc > MANY_LINES || scope.len() >= 2 {
        return (20, joined([lines, phrases.filter(|_| scope.len() >= 2)]));
    }
    let words = listed(&complexity, "complexity word");
    let many = (files > 1).then(|| counted(files, "file"));
    let turns = match (complexity.len(), scope.len(), files) {
        (0, 0, ..=1) => {
            let reason = "no complexity words, no scope phrases, at most 1 file";
            return (3, reason.to_owned());
        }
        (..=1, 0, ..=3) => 6,
        _ => 12,
    };
    (turns, joined([words, phrases, many]))
}

/// The text in lower case, with one space between words.
fn plain(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").to_lowercase()
}

/// The phrases that are in a text as whole words, each once, in the order of the
/// texts.
fn found(phrases: &[&'static str], texts: &[String]) -> Vec<&'static str> {
    let mut found: Vec<_> = phrases
        .iter()
        .filter_map(|phrase| {
            let mut places = (0..).zip(texts);
            let place: (usize, usize) =
                places.find_map(|(number, text)| Some((number, place_of(phrase, text)?)))?;
            Some((place, *phrase))
        })
        .collect();
    found.sort_unstable();
    found.into_iter().map(|(_, phrase)| phrase).collect()
}

/// Where `text` has `phrase` with no letter, digit or underline on either side.
fn place_of(phrase: &str, text: &str) -> Option<usize> {
    let is_inside = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let mut places = text.match_indices(phrase).map(|(at, _)| at);
    places.find(|&at| {
        let (before, after) = (&text[..at], &text[at + phrase.len()..]);
        !is_inside(before.chars().next_back()) && !is_inside(after.chars().next())
    })
}

/// `2 scope phrases: across, every`; nothing if there is none.
fn listed(phrases: &[&str], noun: &str) -> Option<String> {
    let count = u64::try_from(phrases.len()).unwrap_or(u64::MAX);
    (count > 0).then(|| format!("{}: {}", counted(count, noun), phrases.join(", ")))
}

fn joined<const N: usize>(parts: [Option<String>; N]) -> String {
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    parts.join("; ")
}
