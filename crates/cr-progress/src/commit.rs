//! Commits, found where git reports them: in the result of a command.
//!
//! A command line proves nothing: a commit can fail, be echoed, or be made by a
//! script. git prints `[branch sha] subject`, and newer releases
//! of the agent add a `gitOperation` of their own.

use cr_event::{Cursor, Event, Raw, Text, ToolResult};
use cr_stream::GitEnd;

/// Words of a command after which `[branch sha]` is git's and not a listing's.
const MAKERS: [&str; 7] = [
    "commit",
    "merge",
    "revert",
    "cherry-pick",
    "rebase",
    "am",
    "pull",
];

/// A commit that a result reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its id, as long as the report has it.
    pub sha: String,
    /// The first line of its message.
    pub subject: String,
}

/// Whether the output of `command` may report a commit.
pub fn may_commit(command: &str) -> bool {
    if memchr::memmem::find(command.as_bytes(), b"git").is_none() {
        return false;
    }
    let (mut git, mut maker) = (false, false);
    for word in command.split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_')) {
        git |= word == "git";
        maker |= MAKERS.contains(&word);
    }
    git && maker
}

/// The commits that a successful result reports, newest last. It is trusted if its
/// command [`may_commit`].
pub fn reported(event: &Event<'_>, result: &ToolResult<'_>, trusted: bool) -> Vec<Commit> {
    if result.is_error {
        return Vec::new();
    }
    let operation = event
        .tool_result
        .and_then(|twin| twin.at(&["gitOperation", "commit"]));
    if operation.is_none() && !trusted {
        return Vec::new();
    }
    let mut commits = Vec::new();
    for text in texts(result.content) {
        commits.extend(text.decode().lines().filter_map(report).map(Commit::new));
    }
    if commits.is_empty() {
        let sha = operation.and_then(|commit| commit.string("sha"));
        commits.extend(sha.map(|sha| Commit::new((&sha, &sha))));
    }
    commits
}

impl Commit {
    fn new((sha, subject): (&str, &str)) -> Self {
        let (sha, subject) = (sha.to_owned(), subject.to_owned());
        Self { sha, subject }
    }

    /// Whether one id is the start of the other.
    pub fn is(&self, sha: &str) -> bool {
        self.sha.starts_with(sha) || sha.starts_with(&self.sha)
    }
}

/// The subjects of the agent's commits that git found and no result reported,
/// oldest first: `git commit -q` prints nothing, and a failed command may have
/// made a commit before. A commit that was rewritten has another id and the same
/// subject.
pub(crate) fn unnamed(
    git: &GitEnd<'_>,
    mut named: Vec<Commit>,
) -> impl Iterator<Item = String> + use<> {
    let all = git.commits.iter().flatten().rev();
    let own = git.agent_commits.as_ref();
    let split = all.filter_map(|commit| commit.split_once(' '));
    let is_own = |sha: &str| own.is_none_or(|own| own.iter().any(|id| id == sha));
    let mut quiet: Vec<_> = split.filter(|(sha, _)| is_own(sha)).collect();
    let mut take = |is: &dyn Fn(&Commit) -> bool| {
        let at = named.iter().position(is);
        at.map(|at| named.swap_remove(at)).is_some()
    };
    quiet.retain(|(sha, _)| !take(&|commit| commit.is(sha)));
    quiet.retain(|(_, subject)| !take(&|commit| commit.subject == *subject));
    let subjects: Vec<_> = quiet.iter().map(|(_, subject)| (*subject).into()).collect();
    subjects.into_iter()
}

/// The strings of a result: itself, or its text blocks.
pub(crate) fn texts(content: Option<Raw<'_>>) -> Vec<Text<'_>> {
    let Some(content) = content else {
        return Vec::new();
    };
    if let Some(text) = content.text() {
        return vec![text];
    }
    let mut found = Vec::new();
    // A result that breaks off is read as far as it goes.
    let _ = Cursor::new(content.bytes()).array(|cursor| {
        found.extend(cursor.raw()?.get("text").and_then(Raw::text));
        Ok(())
    });
    found
}

/// The id and the subject in `[branch sha] subject`, git's report of a commit.
fn report(line: &str) -> Option<(&str, &str)> {
    let (head, subject) = line.strip_prefix('[')?.split_once("] ")?;
    let (branch, sha) = head.rsplit_once(' ')?;
    let is_sha = (4..=64).contains(&sha.len()) && sha.bytes().all(|b| b.is_ascii_hexdigit());
    (is_sha && !branch.is_empty()).then_some((sha, subject.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_of_git_is_told_from_other_brackets() {
        #[rustfmt::skip]
        let cases = [
            ("[main 1234567] feat: x", Some("feat: x")),
            ("[feat/x (root-commit) abcdef1] feat: real ✓", Some("feat: real ✓")),
            ("[detached HEAD 0123456789abcdef] fix", Some("fix")),
            ("[main 1234567]", None),
            ("[main xyz] no", None),
            ("[1234567] no branch", None),
            (" [main 1234567] indented", None),
            ("[INFO] done", None),
        ];
        for (line, expected) in cases {
            let subject = report(line).map(|(_, subject)| subject);
            assert_eq!(subject, expected, "{line}");
        }
    }

    #[test]
    fn only_a_command_that_can_commit_is_believed() {
        #[rustfmt::skip]
        let cases = [
            ("git commit -m x", true), ("git -C sub commit -am x", true), ("cat log.txt", false),
            ("flock L bash -c 'git add f && git commit -m \"x\"'", true), ("git log", false),
            ("git cherry-pick abc", true), ("gitk commits", false), ("cd x && git merge y", true),
        ];
        for (command, expected) in cases {
            assert_eq!(may_commit(command), expected, "{command}");
        }
    }
}
