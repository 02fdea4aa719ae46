//! Traces as git 2.47 writes them with `GIT_TRACE2_EVENT_BRIEF`.

use super::*;

/// The events of one process.
fn process(sid: &str, command: &[&str], code: i32) -> String {
    let name = command[0];
    let argv = serde_json::to_string(command).expect("JSON");
    format!(
        r#"{{"event":"version","sid":"{sid}","thread":"main","time":"2026-11-18T11:37:34.169663Z","evt":"4","exe":"2.47.3"}}
{{"event":"start","sid":"{sid}","thread":"main","t_abs":0.000250,"argv":{argv}}}
{{"event":"cmd_ancestry","sid":"{sid}","thread":"main","ancestry":["bash"]}}
{{"event":"def_repo","sid":"{sid}","thread":"main","repo":1,"worktree":"/r"}}
{{"event":"cmd_name","sid":"{sid}","thread":"main","name":"{name}","hierarchy":"{name}"}}
{{"event":"exit","sid":"{sid}","thread":"main","t_abs":0.003011,"code":{code}}}
{{"event":"atexit","sid":"{sid}","thread":"main","time":"2026-11-18T11:37:34.172442Z","t_abs":0.003019,"code":{code}}}
"#
    )
}

fn names(text: &str) -> Vec<String> {
    let commands = Trace::parse(text.as_bytes()).commands;
    commands.into_iter().map(|command| command.name).collect()
}

#[test]
fn only_commands_that_can_have_made_a_commit_are_kept() {
    let text = [
        process("1", &["commit", "-m", "x"], 0),
        process("2", &["commit", "-m", "nothing to commit"], 1),
        process("3", &["commit", "--dry-run"], 0),
        process("4", &["status"], 0),
        process("5", &["stash"], 0),
        process("6", &["rebase", "main"], 1),
        "{\"event\":\"version\"\nnot JSON\n".to_owned(),
    ]
    .concat();
    assert_eq!(names(&text), ["commit", "rebase"]);
    let kept = Trace::parse(text.as_bytes()).lines;
    let again = Trace::parse(&*kept);
    assert_eq!(again.commands, Trace::parse(text.as_bytes()).commands);
    assert_eq!(again.lines, kept);
}

#[test]
fn the_subject_is_the_first_line_of_the_message() {
    let of = |args: &[&str]| {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        subject(&args)
    };
    assert_eq!(
        of(&["commit", "-qm", " one \n\nmore"]).as_deref(),
        Some("one")
    );
    assert_eq!(of(&["commit", "--message=two"]).as_deref(), Some("two"));
    assert_eq!(of(&["commit", "--amend", "-F", "file"]), None);
    assert_eq!(of(&["commit", "-m"]), None);
}

#[test]
fn a_command_that_was_killed_is_no_evidence() {
    let text = process("1", &["commit"], 0);
    let lines: Vec<&str> = text.lines().collect();
    assert!(names(&lines[..lines.len() - 1].join("\n")).is_empty());
}

#[test]
fn the_reflog_says_which_command_made_a_commit() {
    let text = process("1", &["rebase"], 0);
    let rebase = &Trace::parse(text.as_bytes()).commands[0];
    assert!(rebase.writes("rebase (pick): one"));
    assert!(rebase.writes("pull --rebase (pick): one"));
    assert!(!rebase.writes("rebase (start): checkout main"));
    assert!(!rebase.writes("rebase (pick): fast-forward"));
    assert!(!rebase.writes("commit: one"));
    let text = process("1", &["merge"], 0);
    let merge = &Trace::parse(text.as_bytes()).commands[0];
    assert!(merge.writes("merge side: Merge made by the 'ort' strategy."));
    assert!(!merge.writes("merge side: Fast-forward"));
}
