//! What bash really runs, beside what the policy says about the same text.
//!
//! PATH holds only recorders, which write down their arguments, and links to a
//! few programs that start others. A command can do no harm with them.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use cr_policy::{Action, Policy, Word, simple_commands};
use cr_test::{World, left_out, repeats};

use crate::commands::{BENIGN, HOSTILE};
use crate::{COMMANDS, decide_command, policy};

const RECORDED: [&str; 8] = ["git", "cargo", "ls", "rm", "touch", "cat", "sudo", "make"];
const REAL: [&str; 9] = [
    "env", "xargs", "nice", "timeout", "nohup", "find", "sh", "bash", "stdbuf",
];

const DENY_RM: &str = r#"
[[rule]]
tool = "Bash"
command = "rm"
action = "deny"
[[rule]]
tool = "Bash"
action = "allow"
"#;

struct Bash {
    world: World,
    program: PathBuf,
    allowing: Policy,
    denying: Policy,
    runs: usize,
    /// Texts that ran `rm`, and how many of them were denied, not only asked.
    ran_rm: usize,
    denied: usize,
}

/// What one text did.
struct Ran {
    programs: Vec<Vec<String>>,
    files: Vec<String>,
}

impl Bash {
    /// `None` where there is no bash.
    fn new() -> Option<Self> {
        let program = found("bash")?;
        let world = World::new();
        fs::create_dir(world.path("bin")).expect("made");
        fs::create_dir(world.path("log")).expect("made");
        let log = world.path("log").display().to_string();
        for name in RECORDED {
            let body = format!("printf '%s\\0' \"${{0##*/}}\" \"$@\" > '{log}'/$$\necho x\n");
            world.script(Path::new("bin").join(name), &body);
        }
        for name in REAL {
            let Some(real) = found(name) else { continue };
            symlink(real, world.path("bin").join(name)).expect("linked");
        }
        Some(Self {
            program,
            allowing: policy(COMMANDS),
            denying: policy(DENY_RM),
            world,
            runs: 0,
            ran_rm: 0,
            denied: 0,
        })
    }

    /// Runs `text` in a new directory.
    fn run(&mut self, text: &str) -> Ran {
        self.runs += 1;
        let (cwd, log) = (self.world.path("cwd"), self.world.path("log"));
        fs::create_dir(&cwd).expect("made");
        let mut command = self.world.command(&self.program);
        command.env("PATH", self.world.path("bin"));
        command.args(["-c", "--", text]).current_dir(&cwd);
        let _ = command.output().expect("bash runs");
        // A command in the background is still on its way.
        self.world.wait_until_nobody_is_left();
        let name = |path: PathBuf| path.display().to_string();
        let files = entries(&cwd).into_iter().map(name).collect();
        let mut programs = Vec::new();
        for record in entries(&log) {
            let bytes = fs::read(&record).expect("a record");
            let text = String::from_utf8_lossy(&bytes).into_owned();
            programs.push(text.split_terminator('\0').map(str::to_owned).collect());
            fs::remove_file(record).expect("removed");
        }
        fs::remove_dir_all(&cwd).expect("removed");
        Ran { programs, files }
    }

    /// Runs `text` and compares.
    fn check(&mut self, text: &str) {
        let ran = self.run(text);
        if decide_command(&self.allowing, text) == Action::Allow {
            assert!(ran.files.is_empty(), "{text:?} made {:?}", ran.files);
            let other = ran.programs.iter().find(|argv| !is_allowed(argv));
            assert_eq!(other, None, "{text:?}");
        }
        check_words(text, &ran);
        if ran.programs.iter().any(|argv| argv[0] == "rm") {
            let action = decide_command(&self.denying, text);
            assert_ne!(action, Action::Allow, "{text:?} runs rm");
            self.ran_rm += 1;
            self.denied += usize::from(action == Action::Deny);
        }
    }
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).expect("a directory");
    entries
        .map(|entry| entry.expect("an entry").path())
        .collect()
}

fn found(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut files = std::env::split_paths(&path).map(|dir| dir.join(name));
    files.find(|file| file.is_file())
}

/// The policy of [`COMMANDS`], written a second time.
fn is_allowed(argv: &[String]) -> bool {
    match argv[0].as_str() {
        "git" => argv[1..] == ["status"],
        "cargo" => argv.get(1).is_some_and(|word| word == "test"),
        name => name == "ls",
    }
}

/// If the text is understood, bash ran exactly the commands with these words, or
/// after `||` some of them. Recorders end with 0.
fn check_words(text: &str, ran: &Ran) {
    let Some(commands) = simple_commands(text) else {
        return;
    };
    if commands.iter().flatten().any(|word| word.expands) {
        return;
    }
    let words = |command: Vec<Word>| command.into_iter().map(|word| word.text).collect();
    let mut read: Vec<Vec<String>> = commands.into_iter().map(words).collect();
    let mut ran = ran.programs.clone();
    read.sort();
    ran.sort();
    // A command of the shell itself, `exit` or `export PATH=x`, is not recorded
    // and changes what comes after it.
    let is_recorded = |argv: &Vec<String>| RECORDED.contains(&argv[0].as_str());
    let can_skip = text.contains("||") || !read.iter().all(is_recorded);
    if can_skip {
        let read: BTreeSet<_> = read.iter().collect();
        let other = ran.iter().find(|argv| !read.contains(argv));
        assert_eq!(other, None, "{text:?}");
    } else {
        assert_eq!(ran, read, "{text:?}");
    }
}

/// xorshift64*: the same numbers in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(number).expect("31 bits") % limit
    }

    fn of<'a>(&mut self, texts: &[&'a str]) -> &'a str {
        texts[self.below(texts.len())]
    }
}

/// Parts of commands. None can loop, and none names a file elsewhere.
#[rustfmt::skip]
const FRAGMENTS: &[&str] = &[
    "git status", "cargo test", "cargo test x", "ls", "ls -l", "rm", "rm x", "git", "status", "test", "x",
    " ", " ", " ", "\t", "\n", "\r", ";", ";", "&&", "||", "|", "|&", "&", ";;", "'", "'", "\"", "\"", "\\", "\\\n",
    "$", "$(", ")", "(", "`", "$x", "${x}", "${x:-rm}", "$IFS", "${IFS}", "$@", "$'", "$\"", "$((", "))", "{", "}",
    ",", "{ls,x}", "<", ">", ">>", "<<", "<<<", "2>&1", ">&", "&>", "2>", "<(", ">(", "<<E\n", "\nE\n", "#", "!",
    "~", "*", "?", "[", "]", "[[ ", " ]]", "=", "x=rm", "A=b ", "x=rm;$x ", "if ", "then ", "else ", "fi", "do ",
    "done", "case x in x) ", "esac", "time ", "coproc ", "eval ", "exec ", "command ", "builtin ", "env ", "xargs ",
    "nice ", "timeout 5 ", "sh -c ", "bash -c ", "'rm x'", "\"rm x\"", "alias ls=rm\n", "shopt -s expand_aliases\n",
    "trap 'rm x' EXIT\n", "set -k\n", "r'm' x", "\\r\\m x", "\u{a0}", "é", "\u{1}", "^", "%", "-c ", "--config ",
];

/// What could loop or reach a process after a change, or is no argument.
const UNSAFE: [&str; 8] = [
    "\0", "while", "until", "for", "select", "()", "function", "kill",
];

/// A text of `texts` with a few fragments in it.
fn mutated(random: &mut Random, texts: &[&str]) -> String {
    let mut text = random.of(texts).to_owned();
    for _ in 0..=random.below(2) {
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        let places = [places.as_slice(), &[text.len()]].concat();
        let at = places[random.below(places.len())];
        text.insert_str(at, random.of(FRAGMENTS));
    }
    text
}

fn joined(random: &mut Random) -> String {
    let length = 1 + random.below(9);
    (0..length).map(|_| random.of(FRAGMENTS)).collect()
}

#[test]
fn bash_runs_the_commands_that_were_read_and_no_others() {
    let Some(mut bash) = Bash::new() else {
        return left_out("commands of a policy compared with bash: no bash");
    };
    for text in BENIGN.iter().chain(HOSTILE) {
        // An argument cannot hold a NUL.
        if !text.contains('\0') {
            bash.check(text);
        }
    }
    assert!(bash.ran_rm > 50, "{} texts ran rm", bash.ran_rm);
    assert_eq!(bash.denied, bash.ran_rm, "each is also denied");
}

#[test]
fn random_texts_that_are_allowed_run_only_what_is_allowed() {
    let Some(mut bash) = Bash::new() else {
        return left_out("random commands of a policy compared with bash: no bash");
    };
    let mut random = Random(0x1234_5678_9abc_def1);
    let (most, mut allowed) = (repeats(200, 5000), 0);
    for round in 0..repeats(4000, 200_000) {
        let text = match round % 2 {
            0 => mutated(&mut random, BENIGN),
            _ => joined(&mut random),
        };
        if allowed < most && decide_command(&bash.allowing, &text) == Action::Allow {
            allowed += 1;
            bash.check(&text);
        }
    }
    assert!(allowed > 100, "{allowed} were allowed");
}

#[test]
fn random_texts_that_run_a_denied_program_are_never_allowed() {
    let Some(mut bash) = Bash::new() else {
        return left_out("random commands of a policy compared with bash: no bash");
    };
    let is_safe = |text: &&&str| !UNSAFE.iter().any(|word| text.contains(word));
    let hostile = HOSTILE.iter().filter(|text| text.contains("rm x"));
    let hostile: Vec<&str> = hostile.filter(is_safe).copied().collect();
    let mut random = Random(0xfeed_beef_cafe_f00d);
    for _ in 0..repeats(250, 5000) {
        bash.check(&mutated(&mut random, &hostile));
        bash.check(&joined(&mut random));
    }
    assert!(bash.ran_rm > 50, "{} texts ran rm", bash.ran_rm);
}
