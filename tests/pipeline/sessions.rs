//! A session of many turns, as the readers show it.

use std::io::{BufRead, BufReader, Write};
use std::process::ChildStdin;
use std::process::Stdio;
use std::time::Instant;

use cr_test::{Child, Pipe, World, fixture, until};
use serde_json::{Value, json};

/// The versions that the stand-in acts as.
const VERSIONS: [&str; 2] = ["2.1.326", "2.1.197"];

/// A session that goes on.
struct Session {
    world: World,
    child: Child,
    input: Option<ChildStdin>,
    out: BufReader<Pipe>,
    stream: String,
}

impl Session {
    fn start(version: &str, args: &[&str]) -> Self {
        let world = World::new();
        let agent = world.stand_in(version);
        let mut child = world
            .tool("cr-spawn")
            .env("CR_CLAUDE", agent)
            .current_dir(world.dir())
            .args(["--input", "stream", "--run-dir"])
            .arg(world.path("run"))
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("start cr-spawn");
        let input = child.stdin.take();
        let out = BufReader::new(child.stdout.take().expect("piped"));
        Self {
            world,
            child,
            input,
            out,
            stream: String::new(),
        }
    }

    fn say(&mut self, text: &str) {
        let input = self.input.as_mut().expect("an open input");
        input
            .write_all(format!("{text}\n").as_bytes())
            .expect("written");
    }

    /// Reads on until a line fits.
    fn until(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        // Signs of life come without end.
        let deadline = Instant::now() + cr_test::limit();
        loop {
            assert!(Instant::now() < deadline, "no {what} in {}", self.stream);
            let mut line = String::new();
            self.out.read_line(&mut line).expect("read");
            assert!(!line.is_empty(), "no {what} in {}", self.stream);
            self.stream.push_str(&line);
            let line: Value = serde_json::from_str(&line).expect("JSON");
            if fits(&line) {
                return line;
            }
        }
    }

    fn until_state(&mut self, subtype: &str, state: &str) -> Value {
        self.until(&format!("{subtype} {state}"), |line| {
            line["type"] == "cr" && line["subtype"] == subtype && line["state"] == state
        })
    }

    fn send(&self, args: &[&str]) {
        let mut command = self.world.tool("cr-send");
        let output = command.arg(self.world.path("run")).args(args).output();
        let output = output.expect("run cr-send");
        assert_eq!(output.status.code(), Some(0), "{args:?}: {output:?}");
    }

    /// What `cr-runs` says of the session.
    fn runs(&self, args: &[&str]) -> String {
        let mut command = self.world.tool("cr-runs");
        let output = command.args(args).arg(self.world.path("run")).output();
        String::from_utf8(output.expect("run cr-runs").stdout).expect("text")
    }

    /// The same, when it contains `text`.
    fn runs_until(&self, args: &[&str], text: &str) -> String {
        let mut said = String::new();
        until(&format!("cr-runs {args:?} says {text}"), || {
            said = self.runs(args);
            said.contains(text)
        });
        said
    }

    /// Ends the input and reads to the end.
    fn finish(mut self) -> Over {
        self.input = None;
        let mut line = String::new();
        while self.out.read_line(&mut line).expect("read") > 0 {}
        self.stream.push_str(&line);
        self.child.wait().expect("wait");
        self.world.assert_nobody_left("a session");
        Over {
            world: self.world,
            stream: self.stream,
        }
    }
}

/// A session that is over.
struct Over {
    world: World,
    stream: String,
}

impl Over {
    fn read_by(&self, tool: &str, args: &[&str]) -> (i32, String) {
        let mut command = self.world.tool(tool);
        let output = command.args(args).write_stdin(&*self.stream).output();
        let output = output.expect("run");
        let text = String::from_utf8(output.stdout).expect("text");
        (output.status.code().expect("a code"), text)
    }

    /// The progress lines, without their times.
    fn shown(&self) -> Vec<String> {
        let (_, text) = self.read_by("cr-filter", &["--time", "none"]);
        text.lines().map(str::to_owned).collect()
    }

    fn rows(&self) -> Vec<Value> {
        let (_, text) = self.read_by("cr-filter", &["--format", "json"]);
        let rows = text.lines().map(serde_json::from_str);
        rows.collect::<Result<_, _>>().expect("rows")
    }

    fn summary(&self) -> (i32, Value) {
        let (code, text) = self.read_by("cr-summarize", &["--full"]);
        (code, serde_json::from_str(&text).expect("a summary"))
    }
}

/// How often `line` is among the lines.
fn count(lines: &[String], line: &str) -> usize {
    lines.iter().filter(|shown| *shown == line).count()
}

fn sum(turns: &Value, field: &str) -> f64 {
    let turns = turns.as_array().expect("turns").iter();
    turns
        .map(|turn| {
            turn.pointer(field)
                .and_then(Value::as_f64)
                .expect("a number")
        })
        .sum()
}

#[test]
fn every_turn_has_its_cause_its_messages_and_its_part_of_the_cost() {
    for version in VERSIONS {
        let mut session = Session::start(version, &[]);
        session.say("agent:300ms one");
        let one = session.until_state("input", "done");
        session.until("a second result", |line| line["type"] == "result");
        session.say("tool:700ms two");
        session.until("a call", |line| line.to_string().contains("sleep 0.7"));
        session.send(&["three"]);
        session.until_state("input", "done");
        let over = session.finish();
        let (code, summary) = over.summary();
        assert_eq!(code, 0, "{version}: {summary}");
        let turns = &summary["turns"];
        let facts = |key: &str| -> Vec<Value> {
            let turns = turns.as_array().expect("turns").iter();
            turns.map(|turn| turn[key].clone()).collect()
        };
        assert_eq!(facts("number"), [1, 2, 3], "{version}");
        assert_eq!(facts("cause"), ["message", "task", "message"], "{version}");
        assert_eq!(turns[0]["messages"], json!([one["id"]]), "{version}");
        assert_eq!(turns[2]["messages"].as_array().map(Vec::len), Some(2));
        assert_eq!(facts("outcome"), ["success"; 3], "{version}");
        assert!(facts("context_used").iter().all(Value::is_u64), "{version}");
        let total = summary["cost_usd"].as_f64().expect("a cost");
        assert!((sum(turns, "/cost_usd") - total).abs() < 1e-9, "{version}");
        let input = summary["tokens"]["input"].as_f64().expect("tokens");
        assert!(
            (sum(turns, "/tokens/input") - input).abs() < 0.5,
            "{version}"
        );
        assert_eq!(summary["inputs"]["done"], 3, "{version}");
        assert_eq!(summary["completed_by"], "input_end", "{version}");
        let shown = over.shown();
        assert_eq!(count(&shown, "Turn 1: message"), 1, "{version}: {shown:#?}");
        assert_eq!(
            count(&shown, "Turn 2: finished task"),
            1,
            "{version}: {shown:#?}"
        );
        assert_eq!(count(&shown, "Prompt: three"), 1, "{version}: {shown:#?}");
        let added = |line: &&String| line.ends_with(", added to turn 3");
        assert_eq!(
            shown.iter().filter(added).count(),
            1,
            "{version}: {shown:#?}"
        );
        let end = shown.last().expect("an end");
        assert!(end.contains("the work is complete"), "{version}: {end}");
    }
}

#[test]
fn a_question_is_shown_with_its_answer_and_its_echo_is_nothing_else() {
    for version in VERSIONS {
        let mut session = Session::start(version, &["--ask"]);
        session.say("ask:Bash:touch yes.txt");
        let ask = session.until_state("ask", "open");
        let id = ask["id"].as_str().expect("an id");
        session.until_state("state", "asking");
        // The record may be a moment behind the stream.
        let status = session.runs_until(&["status", "--json"], "\"asking\"");
        let status: Value = serde_json::from_str(&status).expect("JSON");
        assert_eq!(status["state"], "running", "{version}");
        assert_eq!(status["activity"], "asking", "{version}");
        assert_eq!(status["question"], "Bash: touch yes.txt", "{version}");
        let line = session.runs(&["status"]);
        assert!(
            line.contains("asks: Bash: touch yes.txt"),
            "{version}: {line}"
        );
        session.send(&["--when", "now", "urgent"]);
        session.until("a message that waits", |line| line["reason"].is_string());
        session.runs_until(&["status"], "1 message not taken up");
        session.send(&["--allow", id]);
        session.until_state("input", "done");
        session.say("choose:Which colour?:Red,Blue");
        let choice = session.until_state("ask", "open");
        session.send(&["--answer", choice["id"].as_str().expect("an id"), "Blue"]);
        session.until_state("input", "done");
        let over = session.finish();
        let shown = over.shown();
        let run = over.world.path("run");
        let asks = format!(
            "Asks: Bash: touch yes.txt (cr-send {} --allow {id})",
            run.display()
        );
        assert_eq!(count(&shown, &asks), 1, "{version}: {shown:#?}");
        assert_eq!(
            count(&shown, "Waiting: for an answer"),
            2,
            "{version}: {shown:#?}"
        );
        for begin in [
            "Answered: Bash: touch yes.txt: allow, by ",
            "Asks: Which colour? [Red | Blue] (cr-send ",
            "Answered: Which colour?: choose, by ",
        ] {
            let found = shown.iter().filter(|line| line.starts_with(begin)).count();
            assert_eq!(found, 1, "{version}: {begin} in {shown:#?}");
        }
        assert!(
            shown
                .iter()
                .any(|line| line.contains("it waits until the open question"))
        );
        let rows = over.rows();
        let ask = rows
            .iter()
            .find(|row| row["kind"] == "cr/ask")
            .expect("a row");
        assert_eq!(
            (&ask["tool"], &ask["target"]),
            (&"Bash".into(), &"touch yes.txt".into())
        );
        for row in &rows {
            let kind = row["kind"].as_str().expect("a kind");
            assert!(
                !kind.starts_with("control_") && kind != "command_lifecycle",
                "{row}"
            );
            let is_model = kind == "text" || kind == "error";
            assert!(!is_model || row["text"] != "urgent", "{version}: {row}");
        }
        let (code, summary) = over.summary();
        assert_eq!(code, 0, "{version}: {summary}");
        assert_eq!(summary["questions"], Value::Null, "{version}");
        assert_eq!(summary["permission_denials"], json!([]), "{version}");
    }
}

#[test]
fn a_question_that_nobody_answers_in_time_needs_input_and_says_how_to_go_on() {
    for version in VERSIONS {
        let mut session = Session::start(version, &["--ask", "--ask-timeout", "200ms"]);
        session.say("ask:Bash:touch no.txt");
        let ask = session.until_state("ask", "answered");
        let over = session.finish();
        let (code, summary) = over.summary();
        assert_eq!(
            (code, &summary["outcome"]),
            (4, &"needs_input".into()),
            "{version}: {summary}"
        );
        assert_eq!(summary["completed_by"], "ask_timeout", "{version}");
        let why = summary["why"].as_str().expect("why");
        assert!(why.contains("Bash: touch no.txt"), "{version}: {why}");
        let question = &summary["questions"][0];
        assert_eq!(
            (&question["id"], &question["state"]),
            (&ask["id"], &"timeout".into())
        );
        let run = over.world.path("run").display().to_string();
        let next = summary["next"].as_str().expect("next");
        let id = ask["id"].as_str().expect("an id");
        assert!(
            next.contains(&format!("cr-send {run} --allow {id}")),
            "{next}"
        );
        assert!(
            next.contains(&format!("claude-runner --resume-run {run}")),
            "{next}"
        );
        let shown = over.shown();
        assert!(
            shown.iter().any(|line| line.ends_with("deny, by timeout")),
            "{shown:#?}"
        );
        assert!(
            shown
                .last()
                .is_some_and(|line| line.contains("nobody answered a question in time"))
        );
    }
}

#[test]
fn a_turn_that_failed_or_was_interrupted_does_not_fail_a_session_that_ended_well() {
    for version in VERSIONS {
        let args = ["--turn-timeout", "1s", "--turn-timeout-action", "interrupt"];
        let mut session = Session::start(version, &args);
        session.say("fail");
        session.until("a result", |line| line["type"] == "result");
        session.until_state("state", "waiting_for_input");
        session.say("agent:20s silent two");
        let limit = session.until("a limit", |line| line["subtype"] == "limit");
        session.until_state("input", "cancelled");
        session.say("three");
        session.until_state("input", "done");
        let over = session.finish();
        let (code, summary) = over.summary();
        assert_eq!(
            (code, &summary["outcome"]),
            (0, &"success".into()),
            "{version}: {summary}"
        );
        let turns = summary["turns"].as_array().expect("turns").iter();
        let outcomes: Vec<_> = turns.map(|turn| turn["outcome"].clone()).collect();
        assert_eq!(outcomes, ["auth", "interrupted", "success"], "{version}");
        assert_eq!(summary["inputs"]["cancelled"], 1, "{version}");
        assert_eq!(
            summary["limit"]["stopped_tasks"], limit["stopped_tasks"],
            "{version}"
        );
        let task = limit["stopped_tasks"][0].as_str().expect("an agent");
        let shown = over.shown();
        let stopped = format!("(interrupt), which also ends the agents {task}");
        assert!(
            shown.iter().any(|line| line.ends_with(&stopped)),
            "{version}: {shown:#?}"
        );
        let cancelled = "Message: from stdin, cancelled: interrupted";
        assert_eq!(count(&shown, cancelled), 1, "{version}: {shown:#?}");
    }
}

#[test]
fn a_session_that_is_stopped_when_idle_has_the_verdict_of_its_last_result() {
    for version in VERSIONS {
        let mut session = Session::start(version, &["--keep-open"]);
        session.say("one");
        session.until_state("input", "done");
        until("the session waits", || {
            session.runs(&["status"]).contains("waits for a message")
        });
        session.send(&["--stop"]);
        let over = session.finish();
        let (code, summary) = over.summary();
        assert_eq!(
            (code, &summary["completed_by"]),
            (0, &"stop".into()),
            "{version}"
        );
        let shown = over.shown();
        assert_eq!(
            count(&shown, "Waiting: for a message"),
            1,
            "{version}: {shown:#?}"
        );
        assert!(
            shown
                .last()
                .is_some_and(|line| line.contains("stopped on request"))
        );
    }
}

#[test]
fn messages_without_an_answer_are_counted_and_the_command_that_delivers_them_is_named() {
    for version in VERSIONS {
        let mut session = Session::start(version, &[]);
        session.say("tool:60s one");
        session.until_state("input", "started");
        session.send(&["--when", "idle", "two"]);
        session.until_state("input", "queued");
        session.child.signal(cr_test::Signal::TERM);
        let over = session.finish();
        let (_, summary) = over.summary();
        let waiting = summary["inputs_unanswered"].as_u64().unwrap_or(0);
        assert!(waiting > 0, "{version}: {summary}");
        let next = summary["next"].as_str().expect("next");
        let run = over.world.path("run").display().to_string();
        let messages = if waiting == 1 { "message" } else { "messages" };
        let told = format!("claude-runner --resume-run {run} delivers {waiting} {messages}");
        assert!(next.ends_with(&told), "{version}: {next}");
    }
}

#[test]
fn a_leader_and_its_agents_are_shown_as_who_said_what_to_whom() {
    let recording = fixture("multiturn/mt-sendmsg-plain.326.ndjson");
    let world = World::new();
    let output = world
        .tool("cr-filter")
        .args(["--time", "none"])
        .arg(&recording)
        .output();
    let text = String::from_utf8(output.expect("run").stdout).expect("text");
    for line in [
        "Message: main to worker: extra wish for worker",
        "  Message: worker to main: progress of step one",
        "Message: worker to main: HELLO-LEAD step1 is done",
    ] {
        assert_eq!(
            text.lines().filter(|shown| *shown == line).count(),
            1,
            "{line} in {text}"
        );
    }
    assert!(!text.contains("Another Claude session"), "{text}");
    let output = world
        .tool("cr-filter")
        .args(["--format", "json"])
        .arg(&recording)
        .output();
    let rows = String::from_utf8(output.expect("run").stdout).expect("text");
    let peer = rows
        .lines()
        .map(|row| serde_json::from_str::<Value>(row).expect("a row"));
    let peer: Vec<_> = peer.filter(|row| row["kind"] == "peer").collect();
    assert_eq!(peer.len(), 1);
    assert_eq!(
        (&peer[0]["target"], &peer[0]["text"]),
        (&"worker".into(), &"HELLO-LEAD step1 is done".into())
    );
    let output = world
        .tool("cr-summarize")
        .arg("--full")
        .arg(&recording)
        .output();
    let summary: Value = serde_json::from_slice(&output.expect("run").stdout).expect("JSON");
    let turns = summary["turns"].as_array().expect("turns").iter();
    let causes: Vec<_> = turns.map(|turn| turn["cause"].clone()).collect();
    assert_eq!(
        causes,
        ["message", "message", "peer", "task", "message", "task"]
    );
    assert_eq!(summary["peer_turns"], 1);
}

#[test]
fn the_team_of_a_leader_is_shown_in_full_in_both_dialects() {
    for version in ["326", "197"] {
        let recording = fixture(&format!("multiturn/mt-team-pipeline.{version}.ndjson"));
        let output = cr_test::tool("cr-summarize")
            .arg("--full")
            .arg(recording)
            .output();
        let output = output.expect("run");
        let summary: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(output.status.code(), Some(0), "{version}: {summary}");
        let turns = &summary["turns"];
        let by_task = turns
            .as_array()
            .expect("turns")
            .iter()
            .filter(|turn| turn["cause"] == "task");
        assert_eq!(
            (turns.as_array().map(Vec::len), by_task.count()),
            (Some(6), 5),
            "{version}"
        );
        let total = summary["cost_usd"].as_f64().expect("a cost");
        assert!((sum(turns, "/cost_usd") - total).abs() < 1e-9, "{version}");
    }
}
