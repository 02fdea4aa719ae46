//! No program that a repository names is run.
//!
//! Each case plants one key that names a program, asks every subcommand of
//! ours, and then shows that plain git, in the same state, does run it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::place::{Place, feed, line_of};

/// What it takes to make plain git run the program.
struct Case {
    key: &'static str,
    plant: fn(&Trap),
    trigger: &'static [&'static str],
}

/// A repository between the start and the end of a run, and a program that
/// must not be run.
struct Trap {
    place: Place,
    start: String,
    first: String,
}

impl Trap {
    fn new() -> Self {
        let place = Place::new();
        place.write("f.txt", "1\n");
        place.commit("first");
        let (start, first) = (place.start(), place.head());
        place.write("f.txt", "1\n2\n");
        place.as_agent(|| place.commit("second"));
        place.write("f.txt", "1\n2\n3\n");
        place.write("d/new", "1\n");
        let trap = Self {
            place,
            start,
            first,
        };
        let script = format!("#!/bin/sh\necho \"$0 $*\" >>{}\n", trap.log().display());
        trap.program("canary", &script);
        trap
    }

    fn log(&self) -> PathBuf {
        self.place.beside("log")
    }

    fn canary(&self) -> String {
        self.place.beside("canary").display().to_string()
    }

    fn program(&self, name: &str, text: &str) {
        let path = self.place.beside(name);
        fs::write(&path, text).expect("written");
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("set");
    }

    fn config(&self, key: &str, value: &str) {
        self.place.git(&["config", key, value]);
    }

    fn attributes(&self, text: &str) {
        fs::write(self.place.path().join(".git/info/attributes"), text).expect("written");
    }

    /// Gives a file another time, so that git has to look inside.
    fn age(&self, path: &str) {
        let file = fs::File::options()
            .append(true)
            .open(self.place.path().join(path));
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        file.and_then(|f| f.set_modified(time)).expect("set");
    }

    /// What has run since the last time.
    fn ran(&self) -> String {
        let text = fs::read_to_string(self.log()).unwrap_or_default();
        let _ = fs::remove_file(self.log());
        text
    }

    /// Every subcommand of ours, on every path of theirs.
    fn ask_everything(&self) {
        let place = &self.place;
        line_of(place.cr(&["start"]).output().expect("runs"));
        let ended = place.end(&self.start);
        assert_eq!(ended["error"], Value::Null);
        assert_eq!(ended["changed_files"], 1);
        let mut by_sha = place.cr(&["end", "--start-sha", &self.first]);
        line_of(feed(&mut by_sha, b""));
        let mut scope = place.cr(&["scope", "--allow", "**"]);
        line_of(feed(&mut scope, self.start.as_bytes()));
        let base = ["scope", "--allow", "**", "--base", &self.first];
        line_of(place.cr(&base).output().expect("runs"));
        line_of(place.cr(&["lock", "--", "true"]).output().expect("runs"));
    }
}

#[rustfmt::skip]
const CASES: &[Case] = &[
    Case { key: "core.fsmonitor", trigger: &["status"],
        plant: |t| t.config("core.fsmonitor", &t.canary()) },
    Case { key: "core.hooksPath", trigger: &["status"],
        plant: |t| {
            let hooks = t.place.beside("hooks");
            fs::create_dir(&hooks).expect("made");
            for hook in ["post-index-change", "reference-transaction", "post-checkout"] {
                fs::copy(t.canary(), hooks.join(hook)).expect("copied");
            }
            t.place.git(&["update-index", "--force-write-index"]);
            t.place.git(&["checkout", "-q", "-f", "--", "a.txt"]);
            t.place.write("a.txt", "a\n");
            t.config("core.hooksPath", &hooks.display().to_string());
        } },
    Case { key: "filter.evil.clean", trigger: &["status"],
        plant: |t| { t.attributes("* filter=evil\n"); t.config("filter.evil.clean", &t.canary()); } },
    Case { key: "filter.evil.process", trigger: &["status"],
        plant: |t| { t.attributes("* filter=evil\n"); t.config("filter.evil.process", &t.canary()); } },
    Case { key: "filter.evil.required", trigger: &["status"],
        plant: |t| {
            t.attributes("* filter=evil\n");
            t.config("filter.evil.required", "true");
            t.config("filter.evil.clean", &t.canary());
        } },
    Case { key: "filter.a=b.clean", trigger: &["status"],
        plant: |t| { t.attributes("* filter=a=b\n"); t.config("filter.a=b.clean", &t.canary()); } },
    Case { key: "filter.a.b.clean", trigger: &["status"],
        plant: |t| { t.attributes("* filter=a.b\n"); t.config("filter.a.b.clean", &t.canary()); } },
    Case { key: "include.path", trigger: &["status"],
        plant: |t| {
            t.attributes("* filter=evil\n");
            let file = t.place.beside("included");
            fs::write(&file, format!("[filter \"evil\"]\nclean = {}\n", t.canary())).expect("written");
            t.config("include.path", &file.display().to_string());
        } },
    Case { key: "diff.external", trigger: &["diff"],
        plant: |t| t.config("diff.external", &t.canary()) },
    Case { key: "diff.evil.command", trigger: &["diff", "HEAD~1", "HEAD"],
        plant: |t| { t.attributes("* diff=evil\n"); t.config("diff.evil.command", &t.canary()); } },
    Case { key: "diff.evil.textconv", trigger: &["diff", "HEAD~1", "HEAD"],
        plant: |t| { t.attributes("* diff=evil\n"); t.config("diff.evil.textconv", &t.canary()); } },
    Case { key: "gpg.program", trigger: &["log"],
        plant: |t| {
            sign(t);
            t.config("gpg.program", &t.canary());
            t.config("log.showSignature", "true");
        } },
    Case { key: "core.sshCommand", trigger: &["fetch"],
        plant: |t| {
            t.config("core.sshCommand", &t.canary());
            t.config("remote.origin.url", "ssh://localhost/x");
        } },
    Case { key: "remote.evil.url", trigger: &["show", "HEAD~1:f.txt"],
        plant: |t| {
            t.config("protocol.ext.allow", "always");
            t.config("remote.evil.url", &format!("ext::{}", t.canary()));
            t.config("remote.evil.promisor", "true");
            t.config("extensions.partialClone", "evil");
            t.config("core.repositoryFormatVersion", "1");
            // The lines of the first version are asked for, and gone.
            let blob = t.place.git(&["rev-parse", "HEAD~1:f.txt"]);
            let object = t.place.path().join(".git/objects").join(&blob[..2]).join(&blob[2..]);
            fs::remove_file(object).expect("removed");
        } },
    Case { key: "credential.helper", trigger: &["credential", "fill"],
        plant: |t| t.config("credential.helper", &t.canary()) },
    Case { key: "core.editor", trigger: &["commit", "-a"],
        plant: |t| t.config("core.editor", &t.canary()) },
    Case { key: "alias", trigger: &["st"],
        plant: |t| {
            for name in ["st", "status", "rev-parse", "diff-tree", "rev-list"] {
                t.config(&format!("alias.{name}"), &format!("!{}", t.canary()));
            }
        } },
    Case { key: "a submodule's filter", trigger: &["status"],
        plant: |t| {
            let place = &t.place;
            place.git(&["init", "-q", "sub"]);
            place.write("sub/f", "1\n");
            place.git(&["-C", "sub", "add", "f"]);
            place.git(&["-C", "sub", "commit", "-q", "-m", "inner"]);
            place.git(&["add", "sub"]);
            place.write(".gitmodules", "[submodule \"sub\"]\npath = sub\nurl = ./sub\n");
            place.git(&["-C", "sub", "config", "filter.evil.clean", &t.canary()]);
            place.git(&["-C", "sub", "config", "core.fsmonitor", &t.canary()]);
            place.write("sub/.gitattributes", "* filter=evil\n");
            place.write("sub/f", "2\n");
            t.age("sub/f");
        } },
];

/// Puts a signature on HEAD that only a program can check.
fn sign(trap: &Trap) {
    let place = &trap.place;
    let commit = place.git(&["cat-file", "commit", "HEAD"]);
    let signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----";
    let signed = commit.replacen("\n\n", &format!("\n{signature}\n\n"), 1);
    let mut write = place.command("git");
    write.args(["hash-object", "-t", "commit", "-w", "--stdin"]);
    let id = line_of(feed(&mut write, format!("{signed}\n").as_bytes()));
    place.git(&["reset", "-q", "--soft", id.trim()]);
}

/// Ours runs nothing, plain git in the same state does.
fn holds(case: &Case) {
    let trap = Trap::new();
    (case.plant)(&trap);
    trap.age("a.txt");
    trap.ran();
    if case.key == "remote.evil.url" {
        // The difference cannot be counted; the line says so.
        let ended = trap.place.end(&trap.start);
        let error = ended["error"].as_str().expect("text");
        assert!(error.starts_with("git diff-tree: "), "{error}");
    } else {
        trap.ask_everything();
    }
    assert_eq!(trap.ran(), "", "{}: ours", case.key);
    let mut plain = trap.place.command("git");
    plain.args(case.trigger);
    feed(&mut plain, b"protocol=https\nhost=example.org\n\n");
    assert_ne!(trap.ran(), "", "{}: plain git", case.key);
}

#[test]
fn t3_no_program_that_a_key_names_is_run() {
    assert!(CASES.len() >= 12);
    for case in CASES {
        holds(case);
    }
}

#[test]
fn t3_no_program_is_run_when_all_keys_are_set() {
    let trap = Trap::new();
    let apart = ["remote.evil.url", "a submodule's filter"];
    for case in CASES.iter().filter(|case| !apart.contains(&case.key)) {
        (case.plant)(&trap);
    }
    trap.age("a.txt");
    trap.ran();
    trap.ask_everything();
    assert_eq!(trap.ran(), "");
}

/// What every call must have.
const HARDENED: &[&str] = &[
    "--no-pager --no-optional-locks ",
    "-c core.fsmonitor=false ",
    "-c core.hooksPath=/dev/null ",
    "-c safe.bareRepository=explicit ",
    "GIT_ALLOW_PROTOCOL=none ",
    "GIT_CONFIG_NOSYSTEM=1 ",
    "GIT_NO_LAZY_FETCH=1 ",
    "GIT_TERMINAL_PROMPT=0 ",
];

#[test]
fn t3_every_call_of_git_is_hardened() {
    let trap = Trap::new();
    trap.place.write(".gitmodules", "");
    let bin = trap.place.beside("bin");
    fs::create_dir(&bin).expect("made");
    let calls = trap.place.beside("calls");
    let path = std::env::var("PATH").expect("text");
    let script = format!(
        "#!/bin/sh\nline=$(printf '%s ' \"$@\"; env | grep ^GIT_ | sort | tr '\\n' ' ')\n\
         echo \"$line\" >>{}\n\
         PATH='{path}' exec git \"$@\"\n",
        calls.display()
    );
    trap.program("bin/git", &script);
    let path = format!("{}:{path}", bin.display());
    let ask = |args: &[&str], input: &str| {
        let mut command = trap.place.cr(args);
        line_of(feed(command.env("PATH", &path), input.as_bytes()));
    };
    ask(&["start"], "");
    ask(&["end"], &trap.start);
    let run_dir = trap.place.beside("agent-run");
    let run_dir = run_dir.to_str().expect("text");
    ask(&["end", "--run-dir", run_dir], &trap.start);
    ask(&["end", "--start-sha", &trap.first], "");
    ask(&["scope", "--allow", "**"], &trap.start);
    ask(&["lock", "--", "true"], "");
    let text = fs::read_to_string(&calls).expect("calls were made");
    for call in text.lines() {
        for needed in HARDENED {
            assert!(call.contains(needed), "{needed}: {call}");
        }
        assert!(!call.contains("GIT_AUTHOR_NAME"), "{call}");
    }
    for name in [
        "config",
        "rev-parse",
        "status",
        "ls-files",
        "for-each-ref",
        "rev-list",
        "diff-tree",
        "merge-base",
        "log",
    ] {
        let called = |call: &str| call.contains(&format!(" {name} "));
        assert!(text.lines().any(called), "{name} is among the calls");
    }
}
