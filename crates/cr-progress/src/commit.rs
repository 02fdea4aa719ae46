//! Commits, found where git reports them: in the result of a command.
//!
//! A command line proves nothing: a commit can fail, be echoed, or be made by a
//! script. git prints `[branch sha] subject`, and newer releases
//! of the agent add a `gitOperation` of their own.

use cr_event::{Cursor, Event, Raw, Text, ToolResult};

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

/// Whether the output of `command` may report a commit.
pub(crate) fn may_commit(command: &str) -> bool {
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

/// The subjects of the commits that a successful result reports, newest last.
pub(crate) fn reported(event: &Event<'_>, result: &ToolResult<'_>, trusted: bool) -> Vec<String> {
    if result.is_error {
        return Vec::new();
    }
    let operation = event
        .tool_result
        .and_then(|twin| twin.at(&["gitOperation", "commit"]));
    if operation.is_none() && !trusted {
        return Vec::new();
    }
    let mut subjects = Vec::new();
    for text in texts(result.content) {
        subjects.extend(text.decode().lines().filter_map(subject).map(str::to_owned));
    }
    if subjects.is_empty() {
        let sha = operation.and_then(|commit| commit.string("sha"));
        subjects.extend(sha.map(std::borrow::Cow::into_owned));
    }
    subjects
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

/// The subject in `[branch sha] subject`, git's report of a commit.
fn subject(line: &str) -> Option<&str> {
    let (head, subject) = line.strip_prefix('[')?.split_once("] ")?;
    let (branch, sha) = head.rsplit_once(' ')?;
    let is_sha = (4..=64).contains(&sha.len()) && sha.bytes().all(|b| b.is_ascii_hexdigit());
    (is_sha && !branch.is_empty()).then_some(subject.trim_end())
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
            assert_eq!(subject(line), expected, "{line}");
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
