//! Which commits of the reflog the agent's git commands made.

use std::collections::HashSet;
use std::os::unix::fs::MetadataExt;

use cr_repository::{GitError, Repo};
use jiff::{SignedDuration, Timestamp};

use crate::trace::CommitCommand;

/// Most entries of a reflog that are read.
const ENTRIES: &str = "--max-count=10000";

/// A file's time may lie behind the clock by one tick of the kernel, which is
/// 10 ms at most.
const TICK: SignedDuration = SignedDuration::from_millis(10);

/// A change of HEAD.
#[derive(Debug)]
struct Entry {
    id: String,
    message: String,
    /// When the commit was written: the first and the last possible moment.
    written: (Timestamp, Timestamp),
}

/// The commits that `commands` made in this work tree.
///
/// A commit belongs to a command if git wrote it while the command ran and the
/// reflog names that kind of command. If a command makes one commit and could have
/// made several, the subject decides; else it is evidence for none of them.
pub(crate) fn commits_of(
    repo: &Repo,
    commands: &[CommitCommand],
) -> Result<HashSet<String>, GitError> {
    let top = repo.top.to_string_lossy();
    let here: Vec<&CommitCommand> = commands.iter().filter(|c| c.worktree == top).collect();
    if here.is_empty() {
        return Ok(HashSet::new());
    }
    let entries = entries(repo)?;
    Ok(attribute(&entries, &here))
}

fn attribute(entries: &[Entry], commands: &[&CommitCommand]) -> HashSet<String> {
    let mut found: HashSet<String> = HashSet::new();
    for command in commands {
        let made = entries.iter().filter(|entry| {
            let (first, last) = entry.written;
            let is_within = last + TICK >= command.start && first <= command.end;
            is_within && command.writes(&entry.message) && !found.contains(&entry.id)
        });
        let made: Vec<&Entry> = made.collect();
        let mut ids = ids(made.iter().copied());
        if ids.len() > 1 && command.makes_one() {
            let subject = command.subject.as_deref();
            let is_named = |entry: &&Entry| Some(entry.subject()) == subject;
            ids = self::ids(made.into_iter().filter(is_named));
            if ids.len() > 1 {
                continue;
            }
        }
        found.extend(ids);
    }
    found
}

fn ids<'a>(entries: impl Iterator<Item = &'a Entry>) -> HashSet<String> {
    entries.map(|entry| entry.id.clone()).collect()
}

impl Entry {
    fn subject(&self) -> &str {
        self.message.split_once(": ").map_or("", |(_, text)| text)
    }
}

/// The reflog of HEAD, newest first; without one it is empty.
fn entries(repo: &Repo) -> Result<Vec<Entry>, GitError> {
    let answer = repo.git.answer(
        &[
            "log",
            "--walk-reflogs",
            "-z",
            "--no-patch",
            "--no-show-signature",
            "--date=unix",
            ENTRIES,
            "--format=%H %gd %gs",
            "HEAD",
            "--",
        ],
        b"",
    )?;
    let records = answer.text.split(|&b| b == 0);
    Ok(records.filter_map(|record| entry(repo, record)).collect())
}

/// `id HEAD@{seconds} message`
fn entry(repo: &Repo, record: &[u8]) -> Option<Entry> {
    let text = String::from_utf8_lossy(record);
    let (id, rest) = text.split_once(' ')?;
    let (at, message) = rest.split_once("} ")?;
    let seconds = at.strip_prefix("HEAD@{")?.parse().ok()?;
    let second = Timestamp::from_second(seconds).ok()?;
    let written = written(repo, id).map_or_else(
        || (second, second + SignedDuration::from_millis(999)),
        |at| (at, at),
    );
    Some(Entry {
        id: id.to_owned(),
        message: message.to_owned(),
        written,
    })
}

/// When the file of a commit was written. It has none if it is packed; then the
/// second that the reflog gives must do.
fn written(repo: &Repo, id: &str) -> Option<Timestamp> {
    let (dir, file) = id.split_at_checked(2)?;
    let path = repo.shared.join("objects").join(dir).join(file);
    let meta = path.symlink_metadata().ok()?;
    Timestamp::new(meta.mtime(), i32::try_from(meta.mtime_nsec()).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millisecond(1_800_000_000_000 + ms).expect("a time")
    }

    fn command(name: &str, start: i64, end: i64) -> CommitCommand {
        CommitCommand {
            name: name.to_owned(),
            worktree: String::new(),
            subject: None,
            start: at(start),
            end: at(end),
        }
    }

    fn entry(id: &str, ms: i64, message: &str) -> Entry {
        Entry {
            id: id.to_owned(),
            message: message.to_owned(),
            written: (at(ms), at(ms)),
        }
    }

    fn found(entries: &[Entry], commands: &[CommitCommand]) -> Vec<String> {
        let commands: Vec<&CommitCommand> = commands.iter().collect();
        let mut found: Vec<String> = attribute(entries, &commands).into_iter().collect();
        found.sort();
        found
    }

    #[test]
    fn a_commit_belongs_to_the_command_that_ran_when_it_was_written() {
        let entries = [
            entry("c", 900, "commit: by another"),
            entry("b", 108, "commit (amend): two"),
            entry("a", 99, "commit: one"),
        ];
        // The second command starts less than a tick after the first commit.
        let commands = [command("commit", 100, 103), command("commit", 104, 112)];
        assert_eq!(found(&entries, &commands), ["a", "b"]);
    }

    #[test]
    fn of_two_commits_during_a_command_that_makes_one_the_subject_decides() {
        let entries = [
            entry("b", 150, "commit: two"),
            entry("a", 110, "commit: one"),
        ];
        assert!(found(&entries, &[command("commit", 100, 200)]).is_empty());
        let named = CommitCommand {
            subject: Some("two".to_owned()),
            ..command("commit", 100, 200)
        };
        assert_eq!(found(&entries, &[named]), ["b"]);
        let picks = [
            entry("b", 150, "rebase (pick): two"),
            entry("a", 110, "rebase (pick): one"),
            entry("x", 120, "commit: by another"),
            entry("y", 105, "rebase (start): checkout main"),
        ];
        assert_eq!(found(&picks, &[command("rebase", 100, 200)]), ["a", "b"]);
    }
}
