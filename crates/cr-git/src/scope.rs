//! `cr-git scope`: the files of a run that are outside what it was allowed.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use cr_glob::Glob;
use cr_io::{Exit, Input, Line, Lines, Out, sanitize};
use cr_repository::{GitError, Repo, Status, Untracked};
use cr_stream::Finder;

use crate::compare::{Base, RunStart};
use crate::dirty;
use crate::history;
use crate::own_lines::{self, Found};
use crate::start_record::{self, Start};

/// The code of a run that went outside its scope.
const OUTSIDE: Exit = Exit::Code(5);

/// Writes the paths outside `globs`, one a line.
pub(crate) fn check(
    repo: &Repo,
    began: &RunStart,
    globs: &[Glob],
    out: impl Write,
) -> anyhow::Result<Exit> {
    let touched = touched(repo, began).context(Exit::Tool)?;
    let mut out = Out::new(out);
    let mut exit = Exit::Ok;
    for path in touched {
        if !globs.iter().any(|glob| glob.allows(&path)) {
            out.line(escaped(&path).as_bytes())?;
            exit = OUTSIDE;
        }
    }
    out.flush()?;
    Ok(exit)
}

/// The start of the run that `input` is of.
pub(crate) fn read_start(input: &Input) -> anyhow::Result<Option<Start>> {
    let mut lines = Lines::new(input.open()?);
    let finder = Finder::new();
    loop {
        let next = lines.next().context("read the stream")?;
        let found = match next {
            None => return Ok(None),
            Some(Line::Whole(line) | Line::Torn(line)) => own_lines::read(&finder, line),
            Some(Line::Long(head)) if Finder::may_be_own(head) => {
                match lines.whole().context("read the stream")? {
                    Some(Line::Whole(line) | Line::Torn(line)) => own_lines::read(&finder, line),
                    _ => None,
                }
            }
            Some(Line::Long(_)) => {
                lines.pass(|_| ()).context("read the stream")?;
                None
            }
        };
        if let Some(Found::GitStart(start, _)) = found {
            return Ok(Some(*start));
        }
    }
}

/// The repository that `began` is about, else the one at `cwd`.
pub(crate) fn repository(cwd: &Path, limit: Duration) -> anyhow::Result<Repo> {
    let repo = Repo::open(cwd, limit);
    repo.with_context(|| cwd.display().to_string())
        .context(Exit::NoInput)
}

/// Every path that a commit of the run or the work tree changes. All commits
/// and not their sum: what one adds and the next removes was still outside.
fn touched(repo: &Repo, began: &RunStart) -> Result<BTreeSet<Vec<u8>>, GitError> {
    began.is_of(repo)?;
    let mut paths = BTreeSet::new();
    let status = Status::read(repo, Untracked::Files)?;
    let prints = began
        .seen
        .as_ref()
        .map(start_record::fingerprints)
        .unwrap_or_default();
    let now = dirty::fingerprints(repo, &status)?;
    for (entry, print) in status.entries.iter().zip(now.entries) {
        if prints.get(&dirty::id(&entry.path)) != Some(&print) {
            paths.insert(entry.path.clone());
            paths.extend(entry.from.clone());
        }
    }
    committed(repo, began, &status, &mut paths)?;
    Ok(paths)
}

/// Adds the paths of every commit that the start did not have.
fn committed(
    repo: &Repo,
    began: &RunStart,
    status: &Status,
    paths: &mut BTreeSet<Vec<u8>>,
) -> Result<(), GitError> {
    let head = status.head.as_deref();
    let start = match &began.base {
        Base::Commit(id) => Some(&**id),
        _ => None,
    };
    if let Some(start) = start {
        // Collected as garbage: there is nothing to compare with.
        repo.commit(start)?;
    }
    let commits = new_commits(repo, began, head)?;
    let mut compared = String::new();
    match (start, head) {
        (Some(start), Some(head)) if !repo.is_ancestor(start, head)? => {
            for commit in commits.lines() {
                compared.push_str(&replacing(repo, commit, start)?);
            }
            if repo.is_ancestor(head, start)? {
                // Gone back: no commit says so.
                let _ = writeln!(compared, "{head} {start}");
            }
        }
        _ => {
            let ids = commits.lines().filter_map(|line| line.split(' ').next());
            compared.extend(ids.map(|id| format!("{id}\n")));
        }
    }
    let names = repo.git.ask_with(NAMES, compared.as_bytes())?;
    let names = names.split(|&b| b == 0).filter(|name| !name.is_empty());
    paths.extend(names.map(<[u8]>::to_vec));
    Ok(())
}

/// The paths of the commits on standard input. A merge has those that differ
/// from all its parents: what it brings from elsewhere is not the run's.
const NAMES: &[&str] = &[
    "diff-tree",
    "--stdin",
    "-r",
    "-c",
    "-z",
    "--root",
    "--no-renames",
    "--name-only",
    "--no-commit-id",
    "--no-ext-diff",
    "--no-textconv",
    "--ignore-submodules=none",
];

/// The commits that the start did not have, on HEAD and on every branch that
/// moved: a line each, with the parents.
fn new_commits(repo: &Repo, began: &RunStart, head: Option<&str>) -> Result<String, GitError> {
    let mut range = String::new();
    range.extend(head.map(|id| format!("{id}\n")));
    if let Some(seen) = &began.seen {
        let (refs, complete) = history::refs(repo)?;
        for (name, id) in &refs {
            let before = seen.refs.get(name.as_str());
            let sure = before.is_some() || (complete && seen.refs_complete);
            if sure && before.is_none_or(|before| before != id) && name.starts_with("refs/heads/") {
                let _ = writeln!(range, "{id}");
            }
        }
        range.extend(seen.refs.values().map(|id| format!("^{id}\n")));
    }
    if let Base::Commit(start) = &began.base {
        let _ = writeln!(range, "^{start}");
    }
    if range.is_empty() {
        return Ok(range);
    }
    let list = ["rev-list", "--ignore-missing", "--parents", "--stdin"];
    let commits = repo.git.ask_with(&list, range.as_bytes())?;
    Ok(String::from_utf8_lossy(&commits).into_owned())
}

/// A commit of a rewritten history and what it is compared with: nothing means
/// its own parents.
///
/// One that takes the place of the start, amended say, is compared with the
/// start: what that had changed already is not the run's.
fn replacing(repo: &Repo, commit: &str, start: &str) -> Result<String, GitError> {
    let mut ids = commit.split(' ');
    let id = ids.next().unwrap_or_default();
    match (ids.next(), ids.next()) {
        (Some(parent), None) if repo.is_ancestor(parent, start)? => Ok(format!("{id} {start}\n")),
        _ => Ok(format!("{id}\n")),
    }
}

/// `path` on one line: what is no plain text is shown as an escape.
fn escaped(path: &[u8]) -> String {
    let mut text = String::new();
    for chunk in path.utf8_chunks() {
        sanitize(&chunk.valid().replace('\\', r"\\"), &mut text);
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_plain_line_whatever_it_holds() {
        let cases: &[(&[u8], &str)] = &[
            (b"src/a b.rs", "src/a b.rs"),
            ("ä'\"漢".as_bytes(), "ä'\"漢"),
            (b"a\nb\t\x1b[31m", r"a\nb\t\x1b[31m"),
            (b"\xff\\", r"\xff\\"),
            ("\u{202e}x\u{85}".as_bytes(), r"\u{202e}x\u{85}"),
        ];
        for (path, text) in cases {
            assert_eq!(escaped(path), *text);
        }
    }
}
