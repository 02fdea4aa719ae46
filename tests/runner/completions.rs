//! The completions, asked by the shells themselves.

use std::fs;

use cr_test::{Command, bin_dir, left_out, root};

use crate::case::{Case, INIT, RESULT};

/// A name that is a command for a shell that evaluates it.
const TRAP: &str = "$(touch pwned)`touch pwned`;touch pwned";

/// Runs called `docs` and [`TRAP`], and a plan.
fn runs() -> Case {
    let case = Case::new(&[INIT, RESULT].concat());
    for name in ["docs", TRAP] {
        assert_eq!(case.run(&["go", "--name", name]).code(), Some(0));
    }
    let plan = "- {id: schema, prompt: a}\n- {id: routes, prompt: b}\n";
    fs::write(case.path("repo/plan.yaml"), plan).expect("written");
    case
}

/// `shell` on `script`, with the tools in the PATH.
fn shell(case: &Case, shell: &str, script: &str) -> Command {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = case.command(shell);
    command
        .args(["-c", script])
        .env("PATH", format!("{}:{path}", bin_dir().display()));
    command
}

fn lines(case: &Case, name: &str, script: &str) -> Vec<String> {
    let output = shell(case, name, script).output().expect("run the shell");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && errors.is_empty(), "{errors}");
    let text = String::from_utf8(output.stdout).expect("text");
    let made = case.path("repo/pwned");
    assert!(!made.exists(), "a name became a command: {script}");
    text.lines().map(str::to_owned).collect()
}

/// What bash offers for the last of `words`.
fn bash(case: &Case, words: &[&str]) -> Vec<String> {
    let tool = words[0];
    let file = root().join(format!("completions/{tool}.bash"));
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let script = format!(
        "source '{}'\nCOMP_WORDS=({})\nCOMP_CWORD={}\n\
         _{}\n[ ${{#COMPREPLY[@]}} -eq 0 ] || printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        file.display(),
        quoted.join(" "),
        words.len() - 1,
        tool.replace('-', "_")
    );
    lines(case, "bash", &script)
}

#[test]
fn bash_offers_commands_options_models_runs_and_tasks() {
    let case = runs();
    let ids: Vec<String> = case
        .runs()
        .iter()
        .map(|run| run.file_name().expect("an id").display().to_string())
        .collect();
    assert_eq!(bash(&case, &["cr-runs", "st"]), ["status", "stop"]);
    assert_eq!(bash(&case, &["cr-runs", "status", "--l"]), ["--last"]);
    assert_eq!(bash(&case, &["cr-runs", "wait", "d"]), ["docs"]);
    let all = bash(&case, &["cr-runs", "wait", "--any", ""]);
    assert_eq!(all.len(), 3, "{all:?}");
    assert!(ids.iter().all(|id| all.contains(id)), "{all:?}");
    assert_eq!(
        bash(&case, &["claude-runner", "--resume-run", "d"]),
        ["docs"]
    );
    assert_eq!(
        bash(&case, &["claude-runner", "--resume-run", "=", "d"]),
        ["docs"]
    );
    assert_eq!(bash(&case, &["claude-runner", "--model", "o"]), ["opus"]);
    assert_eq!(
        bash(&case, &["cr-spawn", "-m", ""]),
        ["haiku", "opus", "sonnet"]
    );
    assert_eq!(
        bash(&case, &["claude-runner", "--output", "s"]),
        ["summary", "stream"]
    );
    for tool in ["cr-orchestrate", "sprint-loop"] {
        let tasks = bash(&case, &[tool, "plan.yaml", "--until", ""]);
        assert_eq!(tasks, ["schema", "routes"], "{tool}");
        let task = bash(&case, &[tool, "plan.yaml", "--break", "r"]);
        assert_eq!(task, ["routes"], "{tool}");
    }
}

#[test]
fn bash_offers_the_runs_and_tasks_of_cr_orchestrate() {
    let case = runs();
    let mut run = case.tool("cr-orchestrate", &["plan.yaml", "--quiet"]);
    case.finish(&mut run);
    let ids = bash(&case, &["cr-orchestrate", "--resume-run", ""]);
    let [id] = &ids[..] else {
        panic!("one run: {ids:?}");
    };
    assert_eq!(bash(&case, &["cr-orchestrate", "status", ""]), ids);
    let tasks = bash(
        &case,
        &["cr-orchestrate", "--resume-run", id, "--again", "s"],
    );
    assert_eq!(tasks, ["schema"]);
}

#[test]
fn what_is_hidden_is_not_offered() {
    let case = runs();
    for entry in fs::read_dir(root().join("completions")).expect("completions") {
        let path = entry.expect("an entry").path();
        let text = fs::read_to_string(&path).expect("text");
        for hidden in ["control-fd", "resumed-run"] {
            assert!(!text.contains(hidden), "{}: {hidden}", path.display());
        }
    }
    let options = bash(&case, &["claude-runner", "-"]);
    assert!(options.contains(&"--retry".to_owned()), "{options:?}");
    assert!(!options.contains(&"--watch-pid".to_owned()), "{options:?}");
    let commands = bash(&case, &["cr-orchestrate", ""]);
    assert_eq!(commands, ["status", "gc", "help"]);
}

#[test]
fn fish_offers_the_same() {
    let case = runs();
    if Command::new("fish").arg("--version").output().is_err() {
        return left_out("completions in fish: no fish");
    }
    let fish = |line: &str| {
        let tool = line.split(' ').next().expect("a tool");
        let file = root().join(format!("completions/{tool}.fish"));
        let script = format!("source '{}'; complete -C '{line}'", file.display());
        let mut words = lines(&case, "fish", &script);
        for word in &mut words {
            word.truncate(word.find('\t').unwrap_or(word.len()));
        }
        words
    };
    assert_eq!(fish("cr-runs wait d"), ["docs"]);
    assert_eq!(fish("cr-runs wait "), fish("cr-runs path "));
    assert_eq!(fish("cr-runs wait ").len(), 3);
    assert_eq!(fish("claude-runner --resume-run d"), ["docs"]);
    assert_eq!(fish("claude-runner --model o"), ["opus"]);
    assert_eq!(fish("cr-orchestrate plan.yaml --until r"), ["routes"]);
    assert!(!fish("claude-runner --").contains(&"--watch-pid".to_owned()));
}

#[test]
fn zsh_offers_the_same() {
    let case = runs();
    if Command::new("zsh").arg("--version").output().is_err() {
        return left_out("completions in zsh: no zsh");
    }
    for entry in fs::read_dir(root().join("completions")).expect("completions") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none() {
            lines(&case, "zsh", &format!("zsh -n '{}'", path.display()));
        }
    }
    // The lists, without the line editor that would show them.
    let zsh = |tool: &str, function: &str, words: &str| {
        let file = root().join(format!("completions/_{tool}"));
        let script = format!(
            "compdef() {{ : }}; _arguments() {{ : }}\n\
             source '{}' 2>/dev/null\ncompadd() {{ print -rl -- $found }}\n\
             words=({words}); {function}",
            file.display()
        );
        lines(&case, "zsh", &script)
    };
    assert_eq!(zsh("cr-runs", "_cr_runs_runs", "cr-runs").len(), 3);
    assert_eq!(
        zsh("claude-runner", "_claude_runner_models", "claude-runner"),
        ["haiku", "opus", "sonnet"]
    );
    let words = "cr-orchestrate plan.yaml --until ''";
    assert_eq!(
        zsh("cr-orchestrate", "_cr_orchestrate_tasks", words),
        ["schema", "routes"]
    );
    let text = fs::read_to_string(root().join("completions/_cr-runs")).expect("text");
    assert!(text.contains("-- The run:_cr_runs_runs'"), "{text}");
}
