//! Attempts in a sandbox: what the agent and the commands of the plan reach.

use std::fs;

use cr_test::{Command, Signal, appears, left_out, until};

use crate::case::{Case, Ended};
use crate::isolation::commit;

/// In every file and variable that is not for the agent.
const SECRET: &str = "canary-77ab";

/// The agent: it does what the script of its task says.
const AGENT: &str = r#"case "$*" in
*--version*)
    echo "2.1.326 (Claude Code)"
    exit
    ;;
esac
cat >/dev/null
session=80f8ae6e-b027-4253-8e9c-1ffd717366a1
echo '{"type":"system","subtype":"init","session_id":"'$session'","model":"m","tools":[]}'
result() {
    echo '{"type":"result","num_turns":3,"duration_ms":5,"session_id":"'$session'","total_cost_usd":0.01,"usage":{},'"$1"'}'
    exit "$2"
}
good() {
    result '"subtype":"success","is_error":false,"result":"ok"' 0
}
error() {
    result '"subtype":"success","is_error":true,"result":"'"$1"'"' 1
}
. "./$TASK.sh"
good"#;

/// Reads and writes what is not its own; `$1` is a name for what it writes.
const TRY: &str = r#"cat ~/.secret; cat "$W/secret"; echo "$TOKEN"; env
echo x >~/written.$1; echo x >"$W/written.$1"; echo x >"$W/.git/hooks/$1"
git branch "written-$1"; git config core.x "$1"; :"#;

/// A case with `agent`'s scripts in its repository; `None` if there is no sandbox
/// here.
fn case(scripts: &[(&str, &str)]) -> Option<Case> {
    if let Err(refused) = cr_sandbox::probe() {
        left_out(&format!("the sandbox: {refused}"));
        return None;
    }
    Some(anywhere(scripts))
}

fn anywhere(scripts: &[(&str, &str)]) -> Case {
    let case = Case::repository();
    case.world.script("agent", AGENT);
    for (name, text) in scripts {
        case.write(&format!("work/{name}.sh"), text);
    }
    case.write("work/.gitignore", "secret\n");
    case.git("add -A");
    case.git("commit -q --amend --no-edit");
    case.write("work/secret", SECRET);
    case.write("home/.secret", SECRET);
    case
}

impl Case {
    /// Runs the plan, with a secret in the environment.
    fn go_with_secret(&self, args: &[&str]) -> Ended {
        let mut all = vec!["../plan.yaml", "--backoff", "10ms"];
        all.extend(args);
        let mut command = self.command(&all);
        command.env("TOKEN", SECRET);
        command.output().expect("run").into()
    }

    /// Where `TRY` has left something on the host.
    fn traces(&self) -> Vec<String> {
        let mut found = Vec::new();
        for dir in ["home", "work", "work/.git/hooks"] {
            for entry in fs::read_dir(self.path(dir)).expect("a directory") {
                let name = entry.expect("an entry").file_name();
                let name = name.to_string_lossy();
                let is_ours = ["agent", "verify", "setup", "merged"].contains(&&*name);
                if name.starts_with("written") || is_ours {
                    found.push(format!("{dir}/{name}"));
                }
            }
        }
        for branch in self.git("for-each-ref refs/heads/written-*").lines() {
            found.push(branch.to_owned());
        }
        let config = fs::read_to_string(self.path("work/.git/config")).expect("a file");
        found.extend(config.contains("x = ").then(|| config.clone()));
        found.sort();
        found
    }
}

/// A plan of task `a`, whose agent, setup and verification try everything.
fn trying() -> Option<Case> {
    let agent = format!("sh ./try.sh agent >tried 2>&1; {}", commit("b", "b"));
    let case = case(&[
        ("try", TRY),
        (
            "a",
            &format!("{agent}; git add tried; git commit -qm tried"),
        ),
    ])?;
    let work = case.path("work");
    let fields = format!(
        "setup: 'sh ./try.sh setup >setup.log 2>&1', verify: 'sh ./try.sh verify; test -f b', \
         env: ['W={}', TASK=a]",
        work.display()
    );
    let plan = format!("tasks:\n- {{id: a, prompt: do, {fields}}}\n");
    case.write("plan.yaml", &plan);
    Some(case)
}

#[test]
fn nothing_of_an_attempt_reaches_outside_of_its_sandbox_and_its_work_is_merged() {
    let Some(case) = trying() else { return };
    let ended = case.go_with_secret(&["--sandbox"]);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.err, ended.out);
    case.assert_untouched();
    assert_eq!(case.traces(), [""; 0]);
    assert_eq!(case.merged("b"), "b");
    let tried = case.merged("tried");
    assert!(!tried.contains(SECRET), "{tried}");
    assert!(
        tried.contains("TASK=a") && tried.contains("CR_PORT="),
        "{tried}"
    );
    let attempt = case.run_dir().join("attempts/a/1");
    let logs = fs::read_dir(&attempt).expect("a directory");
    let mut count = 0;
    for entry in logs.flatten().map(|entry| entry.path()) {
        if entry.extension().is_some_and(|end| end == "log") {
            let text = fs::read_to_string(&entry).expect("a log");
            assert!(!text.contains(SECRET), "{}: {text}", entry.display());
            count += 1;
        }
    }
    assert!(count >= 2, "{attempt:?}: {count} logs");
}

#[test]
fn the_same_attempt_without_a_sandbox_reaches_all_of_it() {
    let Some(case) = trying() else { return };
    let ended = case.go_with_secret(&["--isolation", "worktree"]);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.err, ended.out);
    let traces = case.traces().join("\n");
    for name in ["home/written", "work/written", "work/.git/hooks/"] {
        for who in ["agent", "verify", "setup"] {
            let dot = if name.ends_with('/') { "" } else { "." };
            assert!(traces.contains(&format!("{name}{dot}{who}")), "{traces}");
        }
    }
    assert!(traces.contains("refs/heads/written-agent"), "{traces}");
    assert!(case.merged("tried").matches(SECRET).count() >= 3);
}

#[test]
fn a_failed_attempt_is_resumed_in_its_session_and_its_worktree() {
    let log = "~/.claude/projects/$(pwd | tr -c 'a-zA-Z0-9\\n' -)/$session.jsonl";
    let script = format!(
        "log={log}; case \"$*\" in
        *--resume*) grep -q once \"$log\" && test -f ~/mine && {} ;;
        *) touch ~/mine; mkdir -p \"${{log%/*}}\"; echo once >\"$log\"; {}; error 'API Error: Overloaded' ;;
        esac",
        commit("c", "c"),
        commit("b", "b"),
    );
    let script = script.replace("log=~", "log=$HOME");
    let Some(case) = case(&[("a", &script)]) else {
        return;
    };
    case.plan(&[("a", "")]);
    let ended = case.go(&["--sandbox"]);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.err, ended.out);
    assert_eq!(case.merged("b"), "b");
    assert_eq!(case.merged("c"), "c");
    case.assert_untouched();
    // It is where the agent's other logs are.
    let projects = fs::read_dir(case.path("home/.claude/projects")).expect("a directory");
    let mut logs = projects.flatten().map(|entry| entry.path());
    let log = logs.next().expect("a project");
    assert!(
        log.join("80f8ae6e-b027-4253-8e9c-1ffd717366a1.jsonl")
            .exists()
    );
    assert_eq!(logs.next(), None);
}

#[test]
fn forged_work_is_not_merged_and_the_next_attempt_begins_anew() {
    let script = format!(
        "git=$(git rev-parse --git-common-dir); ref=$(git symbolic-ref HEAD)
        if [ -e ~/again ] || ! git log -1 --format=%s | grep -q first; then exit 9; fi
        case \"$PWD\" in
        *.1) touch ~/again; {}; rm \"$git/$ref\"; echo 'ref: refs/heads/main' >\"$git/$ref\" ;;
        *) {} ;;
        esac",
        commit("b", "bad"),
        commit("b", "good"),
    );
    let Some(case) = case(&[("a", &script)]) else {
        return;
    };
    case.plan(&[("a", "")]);
    let ended = case.go(&["--sandbox", "--retries", "1"]);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.err, ended.out);
    assert_eq!(case.merged("b"), "good");
    case.assert_untouched();
}

#[test]
fn no_connection_leaves_a_sandbox_without_a_network() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let number = port.local_addr().expect("an address").port();
    let connect = format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{number}'");
    let script = format!(
        "if {connect}; then echo yes; else echo no; fi >net 2>&1; git add net; git commit -qm net"
    );
    for (network, seen) in [("host", "yes"), ("none", "no")] {
        let Some(case) = case(&[("a", &script)]) else {
            return;
        };
        case.plan(&[("a", "")]);
        let ended = case.go(&["--sandbox", "--sandbox-network", network]);
        assert_eq!(ended.code, Some(0), "{}\n{}", ended.err, ended.out);
        let text = case.merged("net");
        assert!(text.ends_with(seen), "{network}: {text}");
    }
}

#[test]
fn what_is_let_in_can_be_read_or_written() {
    let script = "cat \"$W/secret\" >got; echo x >\"$W/secret\" || echo refused >>got; \
        echo y >\"$W/out/file\"; git add got; git commit -qm got";
    let Some(case) = case(&[("a", script)]) else {
        return;
    };
    let work = case.path("work");
    fs::create_dir(work.join("out")).expect("made");
    case.write("work/.git/info/exclude", "out\n");
    let plan = format!(
        "tasks:\n- {{id: a, prompt: do, env: ['W={}', TASK=a]}}\n",
        work.display()
    );
    case.write("plan.yaml", &plan);
    let ended = case.go(&[
        "--sandbox",
        "--sandbox-read",
        "secret",
        "--sandbox-write",
        "out",
    ]);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.err, ended.out);
    assert_eq!(case.merged("got"), format!("{SECRET}refused"));
    assert_eq!(case.read("work/out/file"), "y\n");
    assert_eq!(case.read("work/secret"), SECRET);
}

/// The processes of `case`, also those in a sandbox, which have only the variables of
/// their agent.
fn processes_of(case: &Case) -> Vec<u32> {
    let dir = case.world.dir().as_os_str().as_encoded_bytes();
    let names = |path: &std::path::Path| {
        let line = fs::read(path.join("cmdline")).unwrap_or_default();
        line.windows(dir.len()).any(|part| part == dir)
    };
    let all = fs::read_dir("/proc").expect("processes").flatten();
    let all = all.filter(|entry| names(&entry.path()));
    let ids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let tagged = case.world.processes().into_iter().map(|found| found.pid);
    ids.chain(tagged).collect()
}

#[test]
fn an_attempt_that_is_killed_with_its_sandbox_is_tried_anew() {
    let script = format!(
        "case \"$PWD\" in *.1) {}; touch up; sleep 1000 ;; *) {} ;; esac",
        commit("b", "lost"),
        commit("b", "b"),
    );
    let Some(case) = case(&[("a", &script)]) else {
        return;
    };
    case.plan(&[("a", "")]);
    let mut run = case
        .command(&["../plan.yaml", "--sandbox"])
        .spawn()
        .expect("run");
    until("a run", || {
        fs::read_dir(case.path("state/orchestrate")).is_ok_and(|mut runs| runs.next().is_some())
    });
    appears(&case.run_dir().join("worktrees/a.1/up"));
    until("nobody is left", || {
        let left = processes_of(&case);
        for &process in &left {
            cr_test::kill(process, Signal::KILL);
        }
        left.is_empty()
    });
    run.wait().expect("an end");
    let ended = case.resume(&["--rerun-lost"]);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.err, ended.out);
    assert_eq!(case.merged("b"), "b");
    case.assert_untouched();
    // What it had committed is not lost.
    let branch = format!("cr-task/{}/a.1", case.run_id());
    assert_eq!(case.git(&format!("show {branch}:b")), "lost");
    let private = case.run_dir().join("sandbox");
    // That of merged work is gone with its worktree.
    let left = |dir| fs::read_dir(dir).expect("a directory").count();
    assert_eq!(left(&private), 1);
    let ended = case.run(&["gc", "--older-than", "0"]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert_eq!(left(&private), 0);
}

/// Runs the plan behind `wrap`, which must end with 78 and name `cure`, before
/// anything is there.
fn refused(case: &Case, wrap: impl Fn(Command) -> Command, cure: &str) {
    let mut command = wrap(case.command(&["../plan.yaml", "--sandbox"]));
    let ended: Ended = command.output().expect("run").into();
    assert_eq!(ended.code, Some(78), "{}", ended.err);
    assert!(ended.err.contains(cure), "{}", ended.err);
    assert!(!case.path("state/orchestrate").exists());
    assert_eq!(
        case.git("for-each-ref '--format=%(refname)'"),
        "refs/heads/main"
    );
}

#[test]
fn without_bubblewrap_nothing_begins_and_the_cure_is_named() {
    let case = anywhere(&[]);
    case.plan(&[("a", "")]);
    fs::create_dir(case.path("bin")).expect("made");
    for name in ["git", "sh", "env"] {
        let all = std::env::var_os("PATH").expect("a PATH");
        let mut places = std::env::split_paths(&all).map(|dir| dir.join(name));
        let program = places.find(|program| program.exists());
        let link = case.path("bin").join(name);
        std::os::unix::fs::symlink(program.expect("a program"), link).expect("linked");
    }
    let only_those = |mut command: Command| {
        command.env("PATH", case.path("bin"));
        command
    };
    refused(&case, only_those, "install the package `bubblewrap`");
}

#[test]
fn where_the_kernel_allows_no_sandbox_nothing_begins_and_the_setting_is_named() {
    let Some(case) = case(&[]) else { return };
    case.plan(&[("a", "")]);
    // In a namespace of users, which has its own.
    let setting = "echo 0 >/proc/sys/user/max_user_namespaces && exec \"$@\"";
    let without = |command: Command| {
        let options = ["--user", "--map-root-user", "sh", "-c", setting, "sh"];
        let mut behind = command.behind("unshare", &options);
        behind.current_dir(case.path("work"));
        behind
    };
    refused(&case, without, "sysctl -w user.max_user_namespaces=");
}

#[test]
fn a_sandbox_in_a_shared_tree_is_refused() {
    let case = anywhere(&[]);
    case.plan(&[("a", "")]);
    let ended = case.go(&["--sandbox", "--isolation", "shared"]);
    assert_eq!(ended.code, Some(2), "{}", ended.err);
    assert!(ended.err.contains("--isolation shared"), "{}", ended.err);
    let ended = case.go(&["--sandbox-network", "none"]);
    assert_eq!(ended.code, Some(2), "{}", ended.err);
}
