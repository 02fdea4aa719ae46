//! Commits come from results, never from what was typed.

use crate::{call, quoted, result, shown};

/// The `Commit:` lines for a command and its result.
fn commits(command: &str, output: &str, is_error: bool) -> Vec<String> {
    let input = format!(
        "{}\n{}\n",
        call("Bash", &format!(r#"{{"command":{}}}"#, quoted(command))),
        result(&quoted(output), is_error)
    );
    let text = shown(&["--time", "none"], &input);
    let commits = text
        .lines()
        .filter_map(|line| line.strip_prefix("Commit: "));
    commits.map(str::to_owned).collect()
}

#[test]
fn a_successful_commit_is_told_by_its_subject() {
    #[rustfmt::skip]
    let cases: &[(&str, &str, &[&str])] = &[
        ("git commit -m \"feat: keyword routes\"", "[main 1a2b3c4] feat: keyword routes\n 1 file changed", &["feat: keyword routes"]),
        ("git commit -m \"fix: don't break\"", "[main 1a2b3c4] fix: don't break", &["fix: don't break"]),
        ("git commit -m \"$(cat <<'EOF'\nfeat: heredoc title\n\nbody\nEOF\n)\"", "[main 1a2b3c4] feat: heredoc title", &["feat: heredoc title"]),
        ("git commit -am 'feat: am flag'", "[main 1a2b3c4] feat: am flag", &["feat: am flag"]),
        ("git commit --message='feat: long'", "[main 1a2b3c4] feat: long", &["feat: long"]),
        ("git -C sub commit -m 'feat: dash C'", "[main 1a2b3c4] feat: dash C", &["feat: dash C"]),
        ("git commit -F msg.txt", "husky\nlint ok\n[feat/x (root-commit) abcdef1] from a file", &["from a file"]),
        ("git commit --amend --no-edit", "[main 1a2b3c4] amended\n Date: x", &["amended"]),
        ("echo run git commit -m 'not a commit' | cat", "run git commit -m not a commit", &[]),
        ("git commit -m 'a' && git commit -m 'b'", "[main 1a2b3c4] a\n 1 file\n[main 5a6b7c8] b\n", &["a, b"]),
        ("flock L bash -c 'git add f && git commit -m \"x\"'", "[main 1a2b3c4] x", &["x"]),
        ("cat log.txt", "[main 1a2b3c4] somebody else's", &[]),
        ("git log", "[main 1a2b3c4] a listing", &[]),
        ("git commit -m q", "nothing of the form", &[]),
    ];
    for (command, output, expected) in cases {
        assert_eq!(commits(command, output, false), *expected, "{command}");
    }
}

#[test]
fn a_failed_commit_is_not_announced() {
    assert_eq!(
        commits("git commit -m 'will fail'", "nothing to commit", true),
        [""; 0]
    );
    assert_eq!(
        commits("git commit -m 'x'", "[main 1a2b3c4] x", true),
        [""; 0]
    );
}

#[test]
fn a_script_that_commits_is_believed_when_the_agent_says_so() {
    let call = call("Bash", r#"{"command":"./release.sh"}"#);
    let result = r#"{"type":"user","message":{"role":"user","content":[{"tool_use_id":"t1","type":"tool_result","content":"[main 1a2b3c4] release 2.0"}]},"tool_use_result":{"stdout":"","gitOperation":{"commit":{"sha":"1a2b3c4","kind":"committed","branch":"main"}}}}"#;
    let text = shown(&["--time", "none"], &format!("{call}\n{result}\n"));
    assert_eq!(text, "Bash: ./release.sh\nCommit: release 2.0\n");
}

#[test]
fn another_calls_result_proves_nothing() {
    let call = call("Bash", r#"{"command":"git commit -m x"}"#);
    let other = r#"{"type":"user","message":{"role":"user","content":[{"tool_use_id":"other","type":"tool_result","content":"[main 1234567] decoy"}]}}"#;
    let text = shown(&["--time", "none"], &format!("{call}\n{other}\n"));
    assert_eq!(text, "Bash: git commit -m x\n");
}

#[test]
fn content_as_blocks_is_read_too() {
    let call = call("Bash", r#"{"command":"git commit -m y"}"#);
    let blocks = r#"{"message":{"content":[{"content":[{"text":"[main 7654321] fix: array content","type":"text"}],"tool_use_id":"t1","type":"tool_result"}]},"type":"user"}"#;
    let text = shown(&["--time", "none"], &format!("{call}\n{blocks}\n"));
    assert_eq!(text, "Bash: git commit -m y\nCommit: fix: array content\n");
}

#[test]
fn a_quiet_commit_is_told_from_git_unless_a_line_named_it() {
    let end = |commits: &str, own: &str| {
        format!(
            r#"{{"type":"cr","subtype":"git","phase":"end","commits":{commits},"agent_commits":{own}}}"#
        )
    };
    let told = |command: &str, output: &str, is_error: bool, end: String| {
        let call = call("Bash", &format!(r#"{{"command":{}}}"#, quoted(command)));
        let result = result(&quoted(output), is_error);
        let text = shown(&["--time", "none"], &format!("{call}\n{result}\n{end}\n"));
        let commits = text
            .lines()
            .filter_map(|line| line.strip_prefix("Commit: "));
        commits.map(str::to_owned).collect::<Vec<_>>()
    };
    let two = r#"["2222222 second thing","1111111 first"]"#;
    let push = "Exit code 1\n[main 1111111] first\nno remote";
    #[rustfmt::skip]
    let cases: [(&str, &str, bool, String, &[&str]); 6] = [
        ("git commit -qm x", "", false, end(two, "null"), &["first", "second thing"]),
        ("git commit -m first", "[main 1111111] first", false, end(two, "null"), &["first", "second thing"]),
        ("git commit -m first && git push", push, true, end(r#"["1111111 first"]"#, "null"), &["first"]),
        // Rewritten later: another id, the same subject.
        ("git commit -m first", "[main abcdef1] first", false, end(r#"["1111111 first"]"#, "null"), &["first"]),
        // Somebody else's is not the run's.
        ("git commit -qm x", "", false, end(two, r#"["1111111"]"#), &["first"]),
        ("git status", "", false, end("null", "null"), &[]),
    ];
    for (command, output, is_error, end, expected) in cases {
        assert_eq!(told(command, output, is_error, end), expected, "{command}");
    }
}
