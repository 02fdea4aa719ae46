//! The CLI in the sandbox of a plan.

use std::fs;

use cr_test::{bin, left_out, root};

use crate::cli::{Cli, each};
use crate::place::Place;
use crate::run::RUN_LIMIT;

/// In a file of the user.
const SECRET: &str = "canary-93cd";

/// Runs the scenario `sandbox` as a plan of one task, with these flags.
fn run(place: &Place, cli: &Cli, flags: &[&str]) -> (Option<i32>, String) {
    place.world.write("home/.secret", SECRET);
    let plan = "- {id: a, prompt: please, max_turns: 1}\n";
    let plan = place.world.write("plan.yaml", plan);
    let path = std::env::var("PATH").expect("a PATH");
    let output = place
        .world
        .tool("cr-mock")
        .timeout(RUN_LIMIT)
        .args(["run", "--scenario"])
        .arg(root().join("tests/real/scenarios/sandbox.json"))
        .arg("--cwd")
        .arg(place.repository())
        .arg("--home")
        .arg(place.path("home"))
        .arg("--bodies")
        .arg(place.path("bodies"))
        .arg("--env")
        .arg(format!("PATH={path}"))
        .arg("--env")
        .arg(format!("CR_CLAUDE={}", cli.path.display()))
        .arg("--")
        .arg(bin("cr-orchestrate"))
        .arg(plan)
        .arg("--json")
        .args(flags)
        .output()
        .expect("run");
    println!("{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.code(), text)
}

/// How many sessions have a log where the CLI keeps them.
fn session_logs(place: &Place) -> usize {
    let projects = fs::read_dir(place.path("home/.claude/projects"));
    let projects = projects.expect("projects").flatten();
    let files = projects.flat_map(|project| fs::read_dir(project.path()).into_iter().flatten());
    let paths = files.flatten().map(|file| file.path());
    paths
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
        .count()
}

#[test]
fn it_works_and_is_resumed_in_a_sandbox_and_reaches_nothing_else() {
    if let Err(refused) = cr_sandbox::probe() {
        return left_out(&format!("the sandbox: {refused}"));
    }
    each(|cli| {
        for (flags, is_inside) in [(["--sandbox"], true), (["--isolation=worktree"], false)] {
            let place = Place::new();
            let (code, lines) = run(&place, cli, &flags);
            assert_eq!(code, Some(0), "{flags:?}: {lines}");
            assert!(lines.contains("limit_turns"), "{flags:?}: {lines}");
            let branch = place.git(&["for-each-ref", "--format=%(refname)", "refs/heads/cr"]);
            let file = format!("{}:b.txt", branch.trim());
            assert_eq!(place.git(&["show", &file]), "new\n");
            let requests = place.requests();
            let last = requests.last().expect("a request").to_string();
            // The session goes on where the turns were used up.
            assert!(last.contains("tried"), "{flags:?}: {last}");
            assert_eq!(!last.contains(SECRET), is_inside, "{flags:?}: {last}");
            for name in ["repository/written", "repository/.git/hooks/written"] {
                assert_eq!(!place.path(name).exists(), is_inside, "{flags:?}: {name}");
            }
            assert_eq!(session_logs(&place), 1, "{flags:?}");
        }
    });
}
