//! Rules of this project that clippy cannot check.
//!
//! Each rule is a function from the work tree to findings; a finding
//! begins with its location. Exceptions are in [`ALLOWED`].

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use cr_io::Exit;

use crate::{architecture, licences, tools};

/// Lines of a source file.
const FILE_LINES: usize = 400;
/// Lines of a function, signature and braces included.
const FUNCTION_LINES: usize = 50;
/// Lines of a `main.rs`.
const MAIN_LINES: usize = 25;

/// Places that may break a size rule, a file or `file:function`, each with its
/// reason. One that breaks none any more is itself a finding.
const ALLOWED: [(&str, &str); 1] = [(
    "crates/cr-event/src/json.rs",
    "one cursor over one grammar; halves would share every private item",
)];

/// The only places with `unsafe`, which the workspace denies elsewhere.
const UNSAFE: [&str; 2] = [
    // System calls.
    "crates/cr-sys/src/",
    // Instructions beyond the baseline; the file says what they are worth.
    "crates/cr-io/src/scan/avx2.rs",
];

/// Words that mark unfinished work.
const LEFTOVERS: [&str; 4] = [
    concat!("to", "do!"),
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
];
/// Paths that exist on one machine only.
const FOREIGN: [&str; 3] = [
    concat!("../", "shared"),
    concat!("/work", "/"),
    concat!("/root", "/"),
];

/// Checks every rule; the answer is no when there are findings.
pub(crate) fn run(root: &Path, notes: &mut dyn Write) -> anyhow::Result<Exit> {
    let mut large = Vec::new();
    let mut elsewhere = Vec::new();
    for path in sources(root)? {
        let text = fs::read_to_string(root.join(&path)).with_context(|| path.clone())?;
        large.extend(sizes(&path, &text));
        elsewhere.extend(allows_unsafe(&path, &text));
        elsewhere.extend(architecture::second_homes(&path, &text));
    }
    let mut found = not_allowed(large, &ALLOWED);
    found.extend(elsewhere);
    for path in texts(root)? {
        // A binary file has no words to check.
        let Ok(text) = fs::read_to_string(root.join(&path)) else {
            continue;
        };
        found.extend(words(&path, &text));
        found.extend(bare_processes(&path, &text));
    }
    found.extend(architecture::tool_dependencies(root)?);
    found.extend(tools_missing(root)?);
    found.extend(licences::missing(root)?);
    for finding in &found {
        writeln!(notes, "{finding}")?;
    }
    Ok(if found.is_empty() { Exit::Ok } else { Exit::No })
}

/// Complains of a file that sets the workspace's ban on `unsafe` aside.
fn allows_unsafe(path: &str, text: &str) -> Option<String> {
    let attribute = [
        concat!("expect(", "unsafe_code"),
        concat!("allow(", "unsafe_code"),
    ];
    let found = attribute.iter().any(|attribute| text.contains(attribute));
    let is_allowed = UNSAFE.iter().any(|place| path.starts_with(place));
    (found && !is_allowed).then(|| format!("{path}: `unsafe` belongs to cr-sys"))
}

/// Something that is too large: its place, and the words for it.
type Large = (String, String);

/// What is too large in one source file, its unit tests left out.
fn sizes(path: &str, text: &str) -> Vec<Large> {
    let code = text.split("\n#[cfg(test)]\n").next().unwrap_or_default();
    let is_main = path.ends_with("/main.rs");
    let most = if is_main { MAIN_LINES } else { FILE_LINES };
    let lines = code.lines().count();
    let mut found = Vec::new();
    if lines > most {
        let finding = format!("{path}: {lines} lines, at most {most}");
        found.push((path.to_owned(), finding));
    }
    for (number, name, length) in functions(code) {
        if length > FUNCTION_LINES {
            let finding =
                format!("{path}:{number}: `{name}` has {length} lines, at most {FUNCTION_LINES}");
            found.push((format!("{path}:{name}"), finding));
        }
    }
    found
}

/// The findings that no entry of `allowed` covers, and the entries that cover
/// none.
fn not_allowed(large: Vec<Large>, allowed: &[(&str, &str)]) -> Vec<String> {
    let is_allowed = |place: &str| allowed.iter().any(|(allowed, _)| *allowed == place);
    let unused = allowed
        .iter()
        .filter(|(place, _)| !large.iter().any(|(found, _)| found == place))
        .map(|(place, _)| format!("{place}: allowed to be large, and is not"))
        .collect::<Vec<_>>();
    large
        .into_iter()
        .filter(|(place, _)| !is_allowed(place))
        .map(|(_, finding)| finding)
        .chain(unused)
        .collect()
}

/// The functions of formatted source: line number, name, lines. The formatter
/// puts the closing brace under the first letter of the signature, so no
/// parser is needed.
fn functions(text: &str) -> Vec<(usize, &str, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (first, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let Some(name) = function_name(code) else {
            continue;
        };
        let mut rest = lines[first..].iter();
        // A declaration in a trait has no body; a body on one line is short.
        let signature = rest.clone().find(|line| line.ends_with(['{', '}', ';']));
        if !signature.is_some_and(|line| line.ends_with('{')) {
            continue;
        }
        let end = format!("{}}}", &line[..line.len() - code.len()]);
        if let Some(length) = rest.position(|line| *line == end) {
            found.push((first + 1, name, length + 1));
        }
    }
    found
}

/// The name in `code`, if it begins a function.
fn function_name(code: &str) -> Option<&str> {
    const BEFORE: [&str; 7] = [
        "pub",
        "pub(crate)",
        "pub(super)",
        "const",
        "async",
        "unsafe",
        "extern",
    ];
    let (before, after) = code.split_once("fn ")?;
    let qualifiers = before.split_whitespace();
    if before.starts_with("//") || !qualifiers.into_iter().all(|word| BEFORE.contains(&word)) {
        return None;
    }
    after.split(['(', '<']).next()
}

/// Findings about the words of any text file of the project.
fn words(path: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let leftovers = LEFTOVERS.iter().filter(|word| has_word(line, word));
        let foreign = FOREIGN.iter().filter(|part| line.contains(**part));
        for word in leftovers.chain(foreign) {
            found.push(format!("{path}:{}: `{word}`", number + 1));
        }
    }
    found
}

/// Complains of a test that starts a process without the harness, whose waits
/// have a limit.
fn bare_processes(path: &str, text: &str) -> Option<String> {
    let is_test = path.contains("tests/") && Path::new(path).extension() == Some("rs".as_ref());
    let bare = [
        concat!("std::process::", "Command"),
        concat!("use std::process::{", "Child"),
        concat!("use std::process::{", "Command"),
        concat!("assert_cmd::", "Command"),
    ];
    let found = bare.iter().any(|name| text.contains(name));
    (is_test && found).then(|| format!("{path}: processes of tests are started by cr-test"))
}

/// Whether `line` has `word` with no letter or digit on either side.
fn has_word(line: &str, word: &str) -> bool {
    let edge = |c: Option<char>| !c.is_some_and(char::is_alphanumeric);
    line.match_indices(word).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + word.len()..]);
        edge(before.chars().next_back()) && edge(after.chars().next())
    })
}

/// The files that must name every tool.
const PLACES: [&str; 4] = [
    "README.md",
    "man/claude-runner.7",
    "man/cr-rundir.5",
    "man/cr-stream.5",
];

/// Findings about tools that a file of [`PLACES`] does not name.
fn tools_missing(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut found = Vec::new();
    let known: Vec<String> = tools::all().iter().map(|t| t.get_name().into()).collect();
    for name in &known {
        for place in PLACES {
            let text = fs::read_to_string(root.join(place)).context(place)?;
            if !text.contains(name.as_str()) {
                found.push(format!("{place}: does not name {name}"));
            }
        }
    }
    for entry in fs::read_dir(root.join("crates"))? {
        let name = entry?.file_name().display().to_string();
        if is_shipped(&root.join("crates").join(&name))? && !known.contains(&name) {
            found.push(format!("crates/cr-dev/src/tools.rs: does not list {name}"));
        }
    }
    found.sort();
    Ok(found)
}

/// Whether the crate in `dir` is a tool for users: it has a program, and its
/// manifest does not keep it to ourselves.
fn is_shipped(dir: &Path) -> anyhow::Result<bool> {
    if !dir.join("src/main.rs").exists() {
        return Ok(false);
    }
    let manifest = fs::read_to_string(dir.join("Cargo.toml"))?;
    Ok(!manifest.lines().any(|line| line == "publish = false"))
}

/// The Rust sources that are shipped, relative to `root`.
fn sources(root: &Path) -> anyhow::Result<Vec<String>> {
    let is_source = |path: &String| {
        let parts: Vec<&str> = path.split('/').collect();
        let is_rust = Path::new(path).extension().is_some_and(|end| end == "rs");
        is_rust && parts.first() == Some(&"crates") && parts.get(2) == Some(&"src")
    };
    let is_test = |path: &String| path.ends_with("tests.rs") || path.contains("/tests/");
    let mut paths = texts(root)?;
    paths.retain(|path| is_source(path) && !is_test(path));
    Ok(paths)
}

/// Every file of the project that people wrote, relative to `root`.
fn texts(root: &Path) -> anyhow::Result<Vec<String>> {
    const SKIPPED: [&str; 4] = [".git", "target", "tests/fixtures", "Cargo.lock"];
    let mut paths = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in
            fs::read_dir(root.join(&folder)).with_context(|| folder.display().to_string())?
        {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            if SKIPPED.iter().any(|skipped| path == Path::new(skipped)) {
                continue;
            }
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else {
                paths.push(path.display().to_string());
            }
        }
    }
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_measured_from_its_signature_to_its_brace() {
        let text = "\
/// A fn of three.
pub(crate) fn a(x: u8) {
    b();
}

trait T {
    fn declared(&self);

    const fn b() {
        if x {
        }
    }
}
";
        assert_eq!(functions(text), [(2, "a", 3), (9, "b", 4)]);
    }

    #[test]
    fn what_is_too_long_is_named_with_its_place() {
        let body = "    x();\n".repeat(FUNCTION_LINES - 1);
        let text = format!("fn f() {{\n{body}}}\n");
        let words = |found: Vec<Large>| not_allowed(found, &[]);
        assert_eq!(
            words(sizes("crates/a/src/lib.rs", &text)),
            ["crates/a/src/lib.rs:1: `f` has 51 lines, at most 50"]
        );
        assert_eq!(
            words(sizes("crates/a/src/main.rs", &"\n".repeat(26))),
            ["crates/a/src/main.rs: 26 lines, at most 25"]
        );
    }

    #[test]
    fn an_exception_holds_for_its_place_and_only_while_it_is_needed() {
        let large = sizes("crates/a/src/main.rs", &"\n".repeat(26));
        let allowed = [("crates/a/src/main.rs", ""), ("crates/b/src/lib.rs:f", "")];
        assert_eq!(
            not_allowed(large, &allowed),
            ["crates/b/src/lib.rs:f: allowed to be large, and is not"]
        );
    }

    #[test]
    fn a_test_that_starts_processes_by_itself_is_found() {
        let text = concat!("use std::process::{", "Command, Stdio};\n");
        assert!(bare_processes("crates/cr-x/tests/x.rs", text).is_some());
        assert!(bare_processes("crates/cr-x/src/x.rs", text).is_none());
        assert!(bare_processes("tests/x/x.rs", "use cr_test::Command;\n").is_none());
    }

    #[test]
    fn leftovers_and_foreign_paths_are_found() {
        let text = format!("fine\n// {} later\nsee {}x\n", LEFTOVERS[2], FOREIGN[1]);
        assert_eq!(words("a", &text).len(), 2);
        assert!(!has_word("\\uXXXX", LEFTOVERS[3]));
    }
}
