//! The output about recorded runs.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;

use cr_test::{World, fixture};
use serde_json::json;

use crate::checker::Checker;

/// Copies with the modes that the tools give, which a checkout does not keep.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    fs::set_permissions(to, fs::Permissions::from_mode(0o700)).expect("set");
    for entry in fs::read_dir(from).expect("there") {
        let entry = entry.expect("an entry");
        let to = to.join(entry.file_name());
        if entry.file_type().expect("a type").is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), &to).expect("copied");
            fs::set_permissions(&to, fs::Permissions::from_mode(0o600)).expect("set");
        }
    }
}

/// A world with the recorded runs.
fn world() -> World {
    let world = World::new();
    copy(&fixture("rundirs/0.1"), &world.state());
    world
}

fn lines(world: &World, tool: &str, args: &[&str]) -> Vec<String> {
    let mut command = world.tool(tool);
    let output = command.args(args).output().expect("run");
    assert_eq!(output.status.code(), Some(0), "{tool} {args:?}");
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().map(str::to_owned).collect()
}

#[test]
fn every_status_of_a_run_satisfies_the_schema_and_every_field_has_a_value_in_one() {
    let mut checker = Checker::of("cr-runs", "--output-schema");
    let world = world();
    let list = lines(&world, "cr-runs", &["ls", "--json"]);
    assert_eq!(list.len(), 2);
    checker.check_lines(&list.join("\n"));
    let status = lines(&world, "cr-runs", &["status", "--json", "--last"]);
    checker.check_lines(&status.join("\n"));
    // Only a session that goes on has an activity.
    let mut session = world
        .tool("cr-spawn")
        .env("CR_CLAUDE", world.stand_in("2.1.326"))
        .current_dir(world.dir())
        .args(["--input", "stream", "--ask", "--run-dir"])
        .arg(world.path("run"))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("start cr-spawn");
    let mut input = session.stdin.take().expect("piped");
    input.write_all(b"ask:Bash:touch x.txt\n").expect("written");
    cr_test::until("the session asks", || {
        let output = world
            .tool("cr-runs")
            .args(["status", "--json"])
            .arg(world.path("run"))
            .output();
        let text = String::from_utf8(output.expect("run").stdout).expect("text");
        let asks = text.contains(r#""activity":"asking""#);
        if asks {
            checker.check_lines(&text);
        }
        asks
    });
    session
        .signal_until_it_ends(cr_test::Signal::TERM)
        .expect("ended");
    checker.every_property_had_a_value();
}

#[test]
fn every_line_about_tasks_satisfies_the_schema_and_every_field_has_a_value_in_one() {
    let mut checker = Checker::of("cr-orchestrate", "--output-schema");
    let world = world();
    let status = lines(&world, "cr-orchestrate", &["status", "--json"]);
    assert_eq!(status.len(), 1);
    checker.check_lines(&status.join("\n"));
    checker.check_lines(&failing(&world));
    asking(&world);
    merging(&world);
    for file in fs::read_dir(world.state().join("orchestrate")).expect("runs") {
        let dir = file.expect("a run").path();
        for name in ["session.log", "report.json"] {
            // A run of an older version has only the log.
            let text = fs::read_to_string(dir.join(name)).unwrap_or_default();
            checker.check_lines(&text);
        }
    }
    checker.check_lines(&schedule(&world));
    checker.every_property_had_a_value();
}

/// The lines of a run whose agent fails: it can be continued.
fn failing(world: &World) -> String {
    let plan = world.write("plan.ndjson", "{\"id\":\"a\",\"prompt\":\"x\"}\n");
    let banner = r#"{"type":"system","subtype":"init","session_id":"s"}"#;
    let agent = world.script("agent", &format!("echo '{banner}'\nexit 1"));
    let mut command = world.tool("cr-orchestrate");
    command.env("PATH", world.path_with_tools());
    command.env("CR_CLAUDE", agent);
    command.args(["--retries=0", "--json"]).arg(plan);
    let output = command.current_dir(world.dir()).output().expect("run");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// A run with a task that fails, one that waits for it and one that asks.
fn asking(world: &World) {
    let plan = "- {id: a, title: t, prompt: x, env: [SAYS=completed], retries: 0, verify: 'false', budget_usd: 1}
- {id: b, prompt: x, depends_on: a, budget_usd: 1}
- {id: c, prompt: x, env: [SAYS=needs-human], budget_usd: 1}\n";
    let plan = world.write("asking.yaml", plan);
    for word in ["completed", "needs-human"] {
        let status = json!({"status": word, "summary": "s"}).to_string();
        let result = json!({"type": "result", "subtype": "success", "is_error": false,
            "errors": ["e"], "num_turns": 1, "session_id": "s", "total_cost_usd": 0.1,
            "result": status});
        world.write(format!("{word}.json"), format!("{result}\n"));
    }
    let agent = world.script("asking", "cat \"$(dirname \"$0\")/$SAYS.json\"");
    let mut command = world.tool("cr-orchestrate");
    command.env("PATH", world.path_with_tools());
    command.env("CR_CLAUDE", agent).args(["--sprint", "--json"]);
    let output = command.current_dir(world.dir()).arg(plan).output();
    let output = output.expect("run");
    assert_eq!(output.status.code(), Some(4), "{output:?}");
}

/// A run whose work is merged.
fn merging(world: &World) {
    let init = "git init -q && git config user.name t && git config user.email t@t &&
        git commit -q --allow-empty -m one";
    let place = world.path("repository");
    fs::create_dir(&place).expect("made");
    let mut shell = world.shell(init);
    let output = shell.current_dir(&place).output().expect("git");
    assert!(output.status.success(), "{output:?}");
    let plan = world.write("merging.ndjson", "{\"id\":\"a\",\"prompt\":\"x\"}\n");
    let result = json!({"type": "result", "subtype": "success", "is_error": false,
        "num_turns": 1, "session_id": "s", "total_cost_usd": 0.1, "result": "ok"});
    let agent = format!("echo x > x && git add x && git commit -q -m two\necho '{result}'");
    let mut command = world.tool("cr-orchestrate");
    command.env("PATH", world.path_with_tools());
    command.env("CR_CLAUDE", world.script("merging", &agent));
    command
        .args(["--isolation", "worktree", "--json"])
        .arg(plan);
    let output = command.current_dir(&place).output().expect("run");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

/// The schedule of a plan in which tasks wait, and one is left out.
fn schedule(world: &World) -> String {
    let plan = "- {id: a, prompt: x, files: [f], budget_usd: 1, estimated_duration: 60}
- {id: b, prompt: x, files: [f], wave: 0}
- {id: c, prompt: x, wave: 1, depends_on: b}
- {id: d, prompt: x, wave: 1}\n";
    let plan = world.write("plan.yaml", plan);
    let print = |until: &str| {
        let mut command = world.tool("cr-orchestrate");
        command.args(["--dry-run", "--json", "--budget=5", "--until", until]);
        let output = command.arg(&plan).output().expect("run");
        String::from_utf8(output.stdout).expect("text")
    };
    print("a") + &print("c")
}
