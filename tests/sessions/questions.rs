//! Questions of the agent, and SIGKILL while one is open: it is asked again or
//! reported, and an answer counts once.

use std::fs;
use std::thread;
use std::time::Duration;

use cr_test::{Child, repeats, until};
use serde_json::{Value, json};

use crate::place::{Place, Random, VERSIONS};

/// What the agent asks for: each time that it runs adds a line.
const COMMAND: &str = "echo ran >> ran.txt";

/// How the process dies.
#[derive(Clone, Copy, Debug)]
enum Death {
    /// Soon after the message: the question may not be there yet.
    Early,
    /// While the question is open.
    Asking,
    /// While it is being answered.
    Answering,
    /// While it is open, and the answer comes when the run is over.
    BeforeAnswer,
}

const DEATHS: [Death; 4] = [
    Death::Early,
    Death::Asking,
    Death::Answering,
    Death::BeforeAnswer,
];

#[test]
fn killed_while_asking_the_question_comes_again_and_no_answer_counts_twice() {
    for number in 0..repeats(8, 100) {
        let seed = 5000 + number as u64;
        let (version, death) = (VERSIONS[number / 4 % 2], DEATHS[number % 4]);
        println!("seed {seed}, {version}, {death:?}");
        ask_and_die(version, death, &mut Random::new(seed));
    }
}

fn ask_and_die(version: &'static str, death: Death, random: &mut Random) {
    let place = Place::new(version, &["--ask"]);
    let child = place.start();
    let id = random.uuid();
    let text = format!("ask:Bash:{COMMAND}");
    place.write(&json!({"text": text, "id": id}).to_string());
    until("the message is queued", || {
        let lines = place.latest_lines("stream.ndjson");
        lines.iter().any(|it| it["id"] == id.as_str())
    });
    let mut answering = None;
    if !matches!(death, Death::Early) {
        let question = open_question(&place);
        if matches!(death, Death::Answering) {
            answering = Some(allow(&place, &question).spawn().expect("cr-send"));
        }
    }
    thread::sleep(Duration::from_millis(random.below(60)));
    let killed = place.kill_any(random);
    place.wait_for_end(child);
    answering.map(|mut it| it.wait().expect("cr-send"));
    println!("killed {killed}");
    check_reported(&place);
    if matches!(death, Death::BeforeAnswer) {
        let question = open_question(&place);
        let kept = allow(&place, &question).output().expect("cr-send");
        assert!(kept.status.success(), "{kept:?}");
    }
    let child = place.resume(&place.latest());
    place.end_input();
    answer_all(&place, child);
    check_answers(&place);
}

/// Every question that is open when a run has ended can be listed; one whose
/// answer came too late, and is kept, is not open any more.
fn check_reported(place: &Place) {
    let run = place.latest();
    let asks = place.outside("cr-send").args([&run, "--asks"]).output();
    let asks = asks.expect("cr-send");
    assert!(asks.status.success(), "{asks:?}");
    let told = String::from_utf8(asks.stdout).expect("UTF-8");
    let kept = place.latest_lines("answers");
    for id in open(&place.latest_lines("questions")) {
        let is_kept = kept.iter().any(|answer| answer["id"] == id.as_str());
        assert!(is_kept || told.contains(&id), "{id} is not in {told:?}");
    }
}

/// Allows what is asked until the run ends.
fn answer_all(place: &Place, mut child: Child) {
    let mut tried = Vec::new();
    let mut code = None;
    until("the resumed run ends", || {
        for id in open(&place.latest_lines("questions")) {
            if !tried.contains(&id) {
                // It may be answered by an answer that was kept.
                allow(place, &id).output().expect("cr-send");
                tried.push(id);
            }
        }
        code = child.try_wait().expect("a child");
        code.is_some()
    });
    place.check_code(code.and_then(|status| status.code()));
    place.world.wait_until_nobody_is_left();
}

/// Each question has one answer at most, and the command ran once for an answer at
/// most. At the end it ran.
fn check_answers(place: &Place) {
    let runs = place.runs();
    let lines = runs.iter().flat_map(|run| place.lines_of(run, "questions"));
    let answered = lines.filter(|line| line["state"] == "answered");
    let mut ids: Vec<String> = answered.map(|line| line["id"].to_string()).collect();
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), count, "a question with two answers");
    let given = runs.iter().flat_map(|run| place.lines_of(run, "answers"));
    let given = given.filter(|line| line["given_in"] == place.latest().as_str());
    assert!(given.count() <= 2, "taken over once, given once");
    let ran = fs::read_to_string(place.world.path("work/ran.txt")).unwrap_or_default();
    let ran = ran.lines().count();
    assert!(
        (1..=count).contains(&ran),
        "ran {ran} times, {count} answers"
    );
}

/// The questions without an answer.
fn open(lines: &[Value]) -> Vec<String> {
    let is_closed = |id: &Value| {
        let lines = lines.iter().filter(|line| line["id"] == *id);
        lines.into_iter().any(|line| line["state"] != "open")
    };
    let lines = lines.iter().filter(|line| line["state"] == "open");
    let open = lines.filter(|line| !is_closed(&line["id"]));
    open.filter_map(|line| line["id"].as_str().map(str::to_owned))
        .collect()
}

/// Waits for the open question of the latest run.
fn open_question(place: &Place) -> String {
    let mut found = None;
    until("a question is open", || {
        found = open(&place.latest_lines("questions")).pop();
        found.is_some()
    });
    found.expect("a question")
}

fn allow(place: &Place, id: &str) -> cr_test::Command {
    let mut command = place.outside("cr-send");
    command.args([&place.latest(), "--allow", id]);
    command
}

#[test]
fn an_answer_after_the_end_is_given_once_and_another_command_is_asked_anew() {
    for version in VERSIONS {
        let place = Place::new(version, &["--ask"]);
        let child = place.start();
        place.write(&format!("ask:Bash:{COMMAND}"));
        let question = open_question(&place);
        // The agent's log has the turn by then.
        until("the turn is in the log", || !place.log().is_empty());
        place.kill("cr-mock agent");
        place.wait_for_end(child);
        let kept = allow(&place, &question).output().expect("cr-send");
        assert!(kept.status.success(), "{kept:?}");
        let again = allow(&place, &question).output().expect("cr-send");
        assert_eq!(again.status.code(), Some(65), "{again:?}");

        let child = place.resume(&place.latest());
        let ran = place.world.path("work/ran.txt");
        cr_test::appears(&ran);
        until("the kept answer is told", || {
            let lines = place.latest_lines("questions");
            lines.iter().any(|line| line["state"] == "answered")
        });
        place.write("ask:Bash:echo other >> other.txt");
        let other = open_question(&place);
        let mut deny = place.outside("cr-send");
        let denied = deny
            .args([&place.latest(), "--deny", &other, "no"])
            .output();
        assert!(denied.expect("cr-send").status.success());
        // The same command is asked anew, too.
        place.write(&format!("ask:Bash:{COMMAND}"));
        let mut deny = place.outside("cr-send");
        let same = open_question(&place);
        let denied = deny.args([&place.latest(), "--deny", &same, "no"]).output();
        assert!(denied.expect("cr-send").status.success());
        place.end_input();
        place.wait_for_end(child);
        let text = fs::read_to_string(&ran).expect("a file");
        assert_eq!(text, "ran\n", "{version}");
        assert!(!place.world.path("work/other.txt").exists(), "{version}");
    }
}

/// Commands that begin like an allowed one, or look like one, and make `x`.
#[rustfmt::skip]
const HOSTILE: [&str; 56] = [
    "git status && touch x", "git status; touch x", "git status | touch x", "git status || touch x",
    "git status & touch x", "touch x; git status", "git status |& touch x", "ls;touch x", "ls&&touch x",
    "ls $(touch x)", "ls `touch x`", "ls \"$(touch x)\"", "ls \"`touch x`\"", "ls <(touch x)",
    "ls >(touch x)", "ls ${a:-$(touch x)}", "ls $((a[$(touch x)]))", "ls \"${a[$(touch x)]}\"",
    "ls '$('$(touch x)", "ls 'a'\"$(touch x)\"", "ls \\`$(touch x)", "ls $'\\n'; touch x",
    "ls > x", "ls >x", "ls >> x", "ls >| x", "ls &> x", "ls 2> x", "> x ls", "> x", "ls {fd}>x",
    "ls 2>&1 > x", "cargo test 2>&1 | tee x", "A=$(touch x) ls", "A=b; touch x", "ls <<< $(touch x)",
    "(touch x)", "{ touch x; }", "if ls; then touch x; fi", "for i in 1; do touch x; done",
    "ls() { touch x; }; ls", "alias ls='touch x'; ls", "trap 'touch x' EXIT", "eval 'touch x'",
    "exec touch x", "command touch x", "env touch x", "env -S 'touch x'", "echo x | xargs touch",
    "nohup touch x", "timeout 1 touch x", "sh -c 'touch x'", "bash -c 'touch x'",
    "git -c alias.status='!touch x' status", "find . -maxdepth 0 -exec touch x \\;",
    "awk 'BEGIN{system(\"touch x\")}'",
];

const POLICY: &str = r#"
[[rule]]
tool = "Bash"
command = ["git status", "cargo test *", "ls *"]
action = "allow"
"#;

#[test]
fn no_hostile_command_gets_past_the_policy_of_a_session() {
    for version in VERSIONS {
        let policy = tempfile::NamedTempFile::new().expect("a file");
        fs::write(policy.path(), POLICY).expect("written");
        let path = policy.path().to_str().expect("UTF-8");
        // What the policy does not decide is denied by the command.
        let place = Place::new(version, &["--ask-policy", path, "--ask-cmd", "echo deny"]);
        let child = place.start();
        let asks = HOSTILE.map(|command| format!("ask:Bash:{command}"));
        // An allowed command shows that the policy is in force.
        let text = format!("{}\nask:Bash:ls -a", asks.join("\n"));
        assert!(place.write(&json!({"text": text}).to_string()));
        place.end_input();
        let code = place.wait_for_end(child);
        let lines = place.latest_lines("questions");
        let answered: Vec<&Value> = lines
            .iter()
            .filter(|line| line["state"] == "answered")
            .collect();
        assert_eq!(answered.len(), HOSTILE.len() + 1, "{version} {code:?}");
        let allowed = answered.iter().filter(|line| line["answer"] != "deny");
        let allowed: Vec<_> = allowed.collect();
        assert_eq!(allowed.len(), 1, "{version} {allowed:?}");
        assert_eq!(allowed[0]["by"], "policy", "{version}");
        assert!(!place.world.path("work/x").exists(), "{version}");
    }
}
