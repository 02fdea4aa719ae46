//! Every command of the skill, run as an agent would run it.

use std::fs;

use cr_test::{Command, bin_dir, root};

use crate::case::{Case, INIT, RESULT, SESSION};

/// The commands, in blocks and inside sentences, with the placeholders filled in.
fn commands(case: &Case) -> Vec<String> {
    let text = fs::read_to_string(root().join("skills/headless-runner/SKILL.md"));
    let text = text.expect("the skill");
    let repository = case.path("repo").display().to_string();
    let blocks = text.split("```bash\n").skip(1);
    let blocks = blocks.map(|rest| rest.split("```").next().unwrap_or_default());
    // Between the blocks, every second piece is code.
    let prose = text.split("```").step_by(2);
    let code = prose.flat_map(|prose| prose.split('`').skip(1).step_by(2));
    let tools = ["claude-runner ", "cr-ledger ", "cr-runs ", "cr-send "];
    let inline = code.filter(|code| tools.iter().any(|tool| code.starts_with(tool)));
    blocks
        .chain(inline)
        .map(|block| block.replace("/path/to/worktree", &repository))
        .map(|block| block.replace("SESSION_ID", SESSION))
        .map(|block| block.replace("RUN_ID", "a"))
        .collect()
}

/// bash on `script`, with the tools installed.
fn bash(case: &Case, script: &str) -> Command {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = case.command("bash");
    command
        .args(["-c", script])
        .env("PATH", format!("{}:{path}", case.path("bin").display()))
        .env("CR_BIN_DIR", bin_dir())
        .env("CLAUDE_PLUGIN_ROOT", root());
    command
}

/// The tools in a directory of their own, the runs that the commands name, and
/// their prompt.
fn prepared() -> Case {
    // It answers as its schema asks.
    let answer = r#","structured_output":{"bugs":[]},"session_id""#;
    let result = RESULT.replacen(r#","session_id""#, answer, 1);
    let case = Case::new(&[INIT, &result].concat());
    fs::create_dir(case.path("bin")).expect("made");
    let scripts = ["claude-runner"].map(|name| root().join("scripts").join(name));
    let tools = [
        "cr-spawn",
        "cr-git",
        "cr-filter",
        "cr-summarize",
        "cr-extract",
        "cr-ledger",
        "cr-orchestrate",
        "cr-runs",
        "cr-send",
    ];
    let tools = tools.map(|name| bin_dir().join(name));
    for file in scripts.iter().chain(&tools) {
        let name = file.file_name().expect("a name");
        std::os::unix::fs::symlink(file, case.path("bin").join(name)).expect("a link");
    }
    fs::write(case.path("repo/prompt.md"), "do it").expect("written");
    fs::create_dir(case.path("repo/tasks")).expect("made");
    let task = "---\ncommit: none\n---\nLook at it\n";
    fs::write(case.path("repo/tasks/a.md"), task).expect("written");
    fs::write(case.path("repo/tasks/plan.yaml"), "verify: git status").expect("written");
    for name in ["a", "b", "c"] {
        assert_eq!(case.run(&["go", "--name", name]).code(), Some(0));
    }
    case
}

/// Runs the commands of `blocks` that talk to a run, one after the other, with a
/// session that has the name they use. A command about a question gets one.
fn talk(case: &Case, blocks: &[String]) {
    let start = "claude-runner --detach --name task-3 --input stream --keep-open --ask </dev/null";
    let agent = case.world.stand_in("2.1.326");
    let run = |line: &str| {
        let mut command = bash(case, line);
        command.env("CR_CLAUDE", &agent).env("CR_PARENT", "task-3");
        let output = command.output().expect("run bash");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}\n{errors}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    run(start);
    for line in blocks.iter().flat_map(|block| block.lines()) {
        if let Some((session, _)) = line.split_once(" &") {
            // It goes on in the background, and is stopped again.
            let stop = "until cr-send ./DIR --stop 2>/dev/null; do :; done; wait";
            run(&format!("{session} 2>/dev/null & {stop}"));
            continue;
        }
        if !line.contains(" ID") {
            run(line);
            continue;
        }
        run("cr-send task-3 'ask:Bash:true'");
        let mut asks = String::new();
        cr_test::until("there is a question", || {
            asks = run("cr-send task-3 --asks --json");
            asks.contains(r#""id""#)
        });
        let id = asks
            .split(r#""id":""#)
            .nth(1)
            .and_then(|rest| rest.split('"').next());
        let id = id.expect("an id");
        run(&line.replacen(" ID", &format!(" {id}"), 1));
    }
    run("cr-send task-3 --stop && cr-runs wait task-3");
}

#[test]
fn every_command_of_the_skill_runs() {
    let case = prepared();
    let commands = commands(&case);
    assert!(commands.len() >= 8, "{commands:#?}");
    let (talks, commands): (Vec<_>, Vec<_>) = commands
        .into_iter()
        .partition(|block| block.contains("cr-send "));
    assert!(talks.len() >= 2, "{talks:#?}");
    talk(&case, &talks);
    for block in &commands {
        let output = bash(&case, &format!("set -e\n{block}"))
            .output()
            .expect("run bash");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{block}\n{text}{errors}");
        if block.contains("--json ") {
            assert!(text.contains(r#""outcome":"success""#), "{block}\n{text}");
        }
    }
    let bugs = fs::read_to_string(case.path("repo/bugs.json")).expect("an answer");
    assert_eq!(bugs.trim(), r#"{"bugs":[]}"#);
    assert!(
        case.path("home/.local/bin/claude-runner").is_file(),
        "installed"
    );
}

#[test]
fn every_option_and_command_that_the_skill_names_exists() {
    let case = prepared();
    let text = fs::read_to_string(root().join("skills/headless-runner/SKILL.md"));
    let text = text.expect("the skill");
    let all = "claude-runner --help; cr-send --help; for c in wait status tail stop; do \
               cr-runs $c --help; done; for c in next report; do cr-ledger $c --help; done; \
               cr-orchestrate --help";
    let help = bash(&case, all).output().expect("run bash");
    let help = String::from_utf8(help.stdout).expect("text");
    let words = text.split(|c: char| c.is_whitespace() || "`(),;".contains(c));
    let options = words.filter(|word| word.starts_with("--") && word.len() > 3);
    for option in options {
        let name = option.split('=').next().unwrap_or_default();
        assert!(help.contains(name), "{option}");
    }
}

#[test]
fn the_skill_names_the_other_two_modes() {
    let text = fs::read_to_string(root().join("skills/headless-runner/SKILL.md"));
    let text = text.expect("the skill");
    for part in [
        "**subagent-driven**",
        "**executing-plans**",
        "## If it is not installed",
    ] {
        assert!(text.contains(part), "{part}");
    }
}
