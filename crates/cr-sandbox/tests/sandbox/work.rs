//! What works in the sandbox as it does outside.

use std::fs;
use std::io::BufReader;
use std::process::{Output, Stdio};

use cr_test::{Signal, appears, line_with, repeats, until};
use serde_json::Value;

use crate::place::{Place, SECRET, users};

/// The line of `output` with `subtype`.
fn line(output: &Output, subtype: &str) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let found = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .find(|line| line["subtype"] == subtype);
    found.unwrap_or_else(|| panic!("no {subtype} in {output:?}"))
}

#[test]
fn a_commit_of_the_agent_is_in_the_repository_when_it_ends() {
    for user in users() {
        let mut place = Place::new(user);
        let tree = place.sandbox.work_tree.clone();
        let script = "cat >prompt; echo two >file; git add . && git commit -qm two && \
            git stash list && echo three >file && git stash -q && git stash pop -q && git add file";
        let output = place.spawn(script).output().expect("a run");
        assert_eq!(output.status.code(), Some(0), "{user:?}: {output:?}");
        assert_eq!(line(&output, "exit")["leaked_total"], 0, "{output:?}");
        assert_eq!(place.git(&tree, "log --format=%s"), "two\none");
        assert_eq!(
            place.git(&place.repo, "log -1 --format=%s cr/run/task"),
            "two"
        );
        assert_eq!(place.git(&tree, "show HEAD:prompt"), "work");
        // What is staged is there, too.
        assert_eq!(place.git(&tree, "show :file"), "three");
        assert_eq!(place.git(&place.repo, "log -1 --format=%s main"), "one");
        place.git(&place.repo, "fsck --full --strict");

        // The next attempt goes on from there.
        place.prepare();
        let output = place
            .spawn("git commit -qam three")
            .output()
            .expect("a run");
        assert_eq!(output.status.code(), Some(0), "{user:?}: {output:?}");
        assert_eq!(place.git(&tree, "log --format=%s"), "three\ntwo\none");
        assert_eq!(place.git(&tree, "status --porcelain"), "");
    }
}

#[test]
fn the_commits_of_an_agent_that_removes_its_directory_are_in_the_repository() {
    for user in users() {
        let mut place = Place::new(user);
        let tree = place.sandbox.work_tree.clone();
        place.world.write("trees/task/sub/file", "");
        place.sandbox.cwd = tree.join("sub");
        let script = "git commit -q --allow-empty -m two; cd ..; rm -r sub";
        let output = place.spawn(script).output().expect("a run");
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(!tree.join("sub").exists());
        assert_eq!(place.git(&tree, "log -1 --format=%s"), "two");
    }
}

#[test]
fn an_attempt_that_was_killed_has_its_commits_imported_later() {
    for user in users() {
        let place = Place::new(user);
        let tree = place.sandbox.work_tree.clone();
        let script = "git commit -q --allow-empty -m two && touch done && sleep 1000";
        let mut run = place.spawn(script).spawn().expect("a run");
        appears(&tree.join("done"));
        let victim = place.victim.id();
        until("only the victim is left", || {
            let mut left = place.world.processes();
            left.retain(|process| process.pid != victim);
            for process in &left {
                cr_test::kill(process.pid, Signal::KILL);
            }
            left.is_empty()
        });
        run.wait().expect("an end");
        assert_eq!(place.git(&tree, "log --format=%s"), "one");
        place.sandbox.import().expect("imported");
        assert_eq!(place.git(&tree, "log --format=%s"), "two\none");
    }
}

#[test]
fn a_session_log_stays_outside_and_is_found_again() {
    for user in users() {
        let place = Place::new(user);
        let write = "p=$(pwd | tr -c 'a-zA-Z0-9\\n' -); echo \"$p\" >name; \
            for p in \"$p\" -p; do mkdir -p ~/.claude/projects/$p; echo {} >~/.claude/projects/$p/s.jsonl; done
            touch ~/.cache-of-agent; cat ~/.claude/.credentials.json ~/.claude.json";
        let output = place.spawn(write).output().expect("a run");
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let name = fs::read_to_string(place.sandbox.work_tree.join("name")).expect("a name");
        // That of its own directory is where it is without a sandbox.
        let home = place.world.home();
        let usual = home.join(".claude/projects").join(name.trim_end());
        assert_eq!(fs::read(usual.join("s.jsonl")).expect("a log"), b"{}\n");
        assert!(place.sandbox.session_logs.join("-p/s.jsonl").exists());
        assert!(!home.join(".claude/projects/-p").exists());
        let read = "cat ~/.claude/projects/$(cat name)/s.jsonl ~/.claude/projects/-p/s.jsonl && \
            [ -e ~/.cache-of-agent ]";
        let output = place.spawn(read).output().expect("a run");
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
}

#[test]
fn a_directory_of_the_agent_that_is_elsewhere_is_the_usual_one_inside() {
    for user in users() {
        let mut place = Place::new(user);
        let all = [".credentials.json", ".claude.json", "settings.json"];
        for name in all {
            place
                .world
                .write(format!("own/{name}"), format!("{name}\n"));
        }
        place.move_agent_dir("own");
        let script =
            "p=~/.claude/projects/$(pwd | tr -c 'a-zA-Z0-9\\n' -); mkdir -p $p && touch $p/s.jsonl
            cd ~ && cat .claude/.credentials.json .claude.json .claude/settings.json >$OLDPWD/seen";
        let output = place.spawn(script).output().expect("a run");
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let seen = fs::read_to_string(place.sandbox.work_tree.join("seen"));
        assert_eq!(seen.expect("a file").lines().collect::<Vec<_>>(), all);
        let own = place
            .sandbox
            .own_session_logs
            .as_ref()
            .expect("a directory");
        assert!(own.starts_with(place.world.path("own/projects")));
        assert!(own.join("s.jsonl").exists());
    }
}

#[test]
fn the_wrapper_runs_no_program_that_the_agent_has_made() {
    for user in users() {
        let place = Place::new(user);
        let bin = place.sandbox.work_tree.join("bin");
        let own = place.world.path("was-run");
        let fake = format!("touch {}; exit 0", own.display());
        for name in ["git", "env", "find", "head"] {
            place.world.script(bin.join(name), &fake);
        }
        let mut path = bin.into_os_string();
        path.push(":bin:");
        path.push(std::env::var_os("PATH").expect("a PATH"));
        let script = "/usr/bin/git commit -q --allow-empty -m two; echo \"$PATH\" >path";
        let mut run = place.spawn(script);
        let output = run.env("CR_AGENT_PATH", &path).output().expect("a run");
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(!own.exists(), "{output:?}");
        let tree = &place.sandbox.work_tree;
        let seen = fs::read_to_string(tree.join("path")).expect("a PATH");
        assert_eq!(seen.trim_end(), path.to_string_lossy());
        assert_eq!(place.git(tree, "log -1 --format=%s"), "two");
    }
}

#[test]
fn the_agents_exit_code_is_the_codes_of_the_run() {
    for user in users() {
        let place = Place::new(user);
        for (script, code) in [("exit 0", 0), ("exit 7", 7), ("kill -KILL $$", 137)] {
            let output = place.spawn(script).output().expect("a run");
            assert_eq!(output.status.code(), Some(code), "{script}: {output:?}");
            assert_eq!(line(&output, "exit")["leaked_total"], 0, "{output:?}");
        }
    }
}

#[test]
fn the_agent_ends_by_its_own_rules_after_sigterm() {
    for user in users() {
        let place = Place::new(user);
        let script = r#"trap 'echo "{\"type\":\"bye\"}"; git commit -q --allow-empty -m bye; exit 5' TERM
            echo '{"type":"up"}'; while :; do sleep 0.01; done"#;
        let mut run = place.spawn(script);
        let mut run = run.stdout(Stdio::piped()).spawn().expect("a run");
        let mut lines = BufReader::new(run.stdout.take().expect("a pipe"));
        line_with(&mut lines, "\"up\"");
        run.signal(Signal::TERM);
        let rest = line_with(&mut lines, "\"subtype\":\"exit\"");
        assert!(rest.contains("\"bye\""), "{rest}");
        assert!(rest.contains("\"leaked_total\":0"), "{rest}");
        run.wait().expect("an end");
        assert_eq!(
            place.git(&place.sandbox.work_tree, "log -1 --format=%s"),
            "bye"
        );
        let left = place.world.processes();
        assert_eq!(left.len(), 1, "only the victim: {left:?}");
    }
}

#[test]
fn what_the_agent_leaves_behind_is_listed_and_killed() {
    for user in users() {
        let place = Place::new(user);
        let script = "setsid sleep 1000 >/dev/null 2>&1 & (sleep 1001 >/dev/null 2>&1 &); exit 3";
        let output = place.spawn(script).output().expect("a run");
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        let leaked = line(&output, "exit")["leaked"].to_string();
        // The first process of the sandbox waits for them.
        assert_eq!(leaked.matches("\"sleep\"").count(), 2, "{leaked}");
        assert_eq!(leaked.matches("\"bwrap\"").count(), 1, "{leaked}");
        let left = place.world.processes();
        assert_eq!(left.len(), 1, "only the victim: {left:?}");
    }
}

#[test]
fn an_agent_that_leaves_nothing_behind_is_not_accused() {
    for user in users() {
        let place = Place::new(user);
        for _ in 0..repeats(10, 200) {
            let output = place.spawn("echo '{}'").output().expect("a run");
            let exit = line(&output, "exit");
            assert_eq!(exit["leaked_total"], 0, "{exit}");
        }
    }
}

#[test]
fn the_agent_gets_sigterm_when_all_supervisors_are_killed() {
    for user in users() {
        let place = Place::new(user);
        // Nobody reads what the shell says about a signal.
        let script = "exec >/dev/null 2>&1; trap 'touch got-term; exit' TERM; touch up; while :; do sleep 0.01; done";
        let mut run = place.spawn(script).spawn().expect("a run");
        appears(&place.sandbox.work_tree.join("up"));
        let mut ours = place.world.processes();
        ours.retain(|process| process.argv[0].ends_with("cr-spawn"));
        assert_eq!(ours.len(), 2, "{ours:?}");
        // Stopped first, so that neither can do anything about the other's end.
        for signal in [Signal::STOP, Signal::KILL] {
            for process in &ours {
                cr_test::kill(process.pid, signal);
            }
        }
        run.wait().expect("an end");
        appears(&place.sandbox.work_tree.join("got-term"));
        until("only the victim is left", || {
            place.world.processes().len() == 1
        });
    }
}

#[test]
fn the_agent_gets_its_variables_and_no_others() {
    for user in users() {
        let place = Place::new(user);
        let script = "env >variables; tr '\\0' '\\n' </proc/1/environ >>variables";
        let output = place.spawn(script).output().expect("a run");
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let text = fs::read_to_string(place.sandbox.work_tree.join("variables")).expect("a file");
        for kept in ["ANTHROPIC_API_KEY=for-the-agent", "IS_SANDBOX=1", "CR_RUN="] {
            assert!(text.contains(kept), "{text}");
        }
        let home = format!("HOME={}\n", place.world.home().display());
        assert!(text.contains(&home), "{text}");
        assert!(!text.contains(SECRET), "{text}");
    }
}

#[test]
fn a_wrapper_has_the_version_of_its_program() {
    for user in users() {
        let place = Place::new(user);
        let node = place.world.script("node", "echo '2.1.326 (Claude Code)'");
        let text = format!("#!{}\n", node.display());
        let text = place.world.write("text/agent", text);
        let agent = place.world.copy_program(&text);
        let wrapper = place.program(&agent);
        for _ in 0..2 {
            let output = place.supervise(&wrapper).output().expect("a run");
            let start = line(&output, "start");
            assert_eq!(start["claude"]["version"], "2.1.326", "{output:?}");
            assert_eq!(output.status.code(), Some(0), "{output:?}");
        }
        let asked = fs::read_to_string(place.world.state().join("cache/versions.json"));
        assert!(asked.expect("a cache").contains("/agent\""));
    }
}
