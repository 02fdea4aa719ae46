//! A milestone whose tasks fill the model's window.

use std::io::Write;

use serde_json::{Value, json};

use crate::cli::{Cli, each};
use crate::place::Place;
use crate::run::Run;
use crate::runner::command;

const PLAN: &str = "1. the first part\n2. the second part\n";

/// A milestone called `parts`, on the ledger of the runs.
struct Milestone<'a> {
    place: &'a Place,
    cli: &'a Cli,
    id: String,
    window: u64,
}

/// What became of a task.
struct Task {
    session: Value,
    /// The first request for an answer, as text.
    request: String,
}

impl<'a> Milestone<'a> {
    fn start(place: &'a Place, cli: &'a Cli) -> Self {
        place.world.write("plan.md", PLAN);
        let mut milestone = Self {
            place,
            cli,
            id: String::new(),
            window: 0,
        };
        let plan = place.path("plan.md");
        let plan = plan.to_str().expect("a path");
        let repository = place.repository();
        let project = repository.to_str().expect("a path");
        let args = ["milestone", "start", "parts", "--plan", plan];
        let started = milestone.ledger(&[&args[..], &["--project", project]].concat(), "");
        started.trim().clone_into(&mut milestone.id);
        milestone
    }

    /// What `cr-ledger ARGS` prints.
    fn ledger(&self, args: &[&str], input: &str) -> String {
        let state = self.place.path("home/.local/state/claude-runner");
        std::fs::create_dir_all(&state).expect("made");
        let mut tool = self.place.world.tool("cr-ledger");
        tool.arg("--ledger").arg(state.join("ledger.db")).args(args);
        let output = tool.write_stdin(input.as_bytes()).output().expect("run");
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).expect("text")
    }

    /// Runs task `number`, whose answer fills `percent` of the window.
    fn task(&mut self, number: u32, percent: u64) -> Task {
        // The window is not known before the first task.
        let used = (self.window * percent / 100).max(20_000);
        let answer = json!({"text": format!("Part {number} is done."), "usage": {
            "input_tokens": used, "output_tokens": 10}});
        let scenario = self.place.path(&format!("task{number}.json"));
        let mut file = std::fs::File::create(&scenario).expect("made");
        write!(file, "{}", json!({"turns": [answer]})).expect("written");
        let options = vec!["--scenario".into(), scenario.into_os_string()];
        let run = Run::new(self.place, self.cli, options)
            .command(command(self.place, self.cli))
            .options(&["--env", "IS_SANDBOX=1"])
            .args(&["--json", "--milestone", "parts"])
            .prompt(&format!("Do part {number} now."));
        let (code, text, said) = run.text();
        assert_eq!(code, Some(0), "{number}: {text} {said}");
        let summary: Value = serde_json::from_str(&text).expect("a summary");
        // A run that is recorded twice is there once.
        self.ledger(&["record", "--milestone", &self.id], &text);
        let window = summary["tokens"]["context_window"].as_u64();
        self.window = window.expect("the result names the window");
        println!("task {number}: {}", summary["tokens"]);
        let requests = self.place.requests();
        Task {
            session: summary["session_id"].clone(),
            request: requests.first().expect("a request")["messages"].to_string(),
        }
    }
}

impl Milestone<'_> {
    /// What `next` says now, and after a pause of an hour.
    fn next_after_a_pause(&self) -> Value {
        let logs = self.place.path("home/.claude/projects");
        self.ledger(&["import", logs.to_str().expect("a path")], "");
        let next = |more: &[&str]| -> Value {
            let text = self.ledger(&[&["next", "--milestone", &self.id], more].concat(), "");
            serde_json::from_str(&text).expect("a decision")
        };
        let now = next(&[]);
        assert_eq!(
            (&now["action"], &now["cache"]["is_warm"]),
            (&json!("resume"), &json!(true)),
            "{now}"
        );
        let clock = "SELECT strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '+1 hour') AS at";
        let clock: Value = serde_json::from_str(&self.ledger(&["sql", clock], "")).expect("JSON");
        let later = next(&["--at", clock["at"].as_str().expect("a time")]);
        assert_eq!(later["cache"]["is_warm"], false, "{later}");
        let price = |name: &str| later["price"][name].as_f64().expect("a price");
        let is_cheaper = price("refresh_usd") < price("resume_usd");
        let cheaper = if is_cheaper { "refresh" } else { "resume" };
        assert_eq!(later["action"], cheaper, "{later}");
        later
    }
}

#[test]
fn a_milestone_of_six_tasks_is_refreshed_in_time_and_loses_nothing() {
    each(|cli| {
        let place = Place::new();
        let mut milestone = Milestone::start(&place, cli);
        // The window is known when the first task has run.
        let first = milestone.task(1, 0);
        for part in ["# Work plan", "2. the second part", "Do part 1 now."] {
            assert!(first.request.contains(part), "{part}: {}", first.request);
        }
        let second = milestone.task(2, 70);
        assert_eq!(second.session, first.session);
        // Little was in the context when the session began.
        assert_eq!(milestone.next_after_a_pause()["action"], "refresh");
        let third = milestone.task(3, 80);
        assert_eq!(third.session, first.session, "70 % is not enough");
        assert!(third.request.contains("Part 2 is done."), "it is resumed");

        let fourth = milestone.task(4, 95);
        assert_ne!(fourth.session, first.session, "refreshed at 80 %");
        for part in [
            "# The session before this one",
            "> Do part 1 now.",
            "> Do part 3 now.",
            "> Part 3 is done.",
            "# Runs of this milestone so far",
            "2. the second part",
            "Do part 4 now.",
        ] {
            assert!(fourth.request.contains(part), "{part}: {}", fourth.request);
        }
        let fifth = milestone.task(5, 30);
        assert_ne!(fifth.session, fourth.session, "refreshed at 95 %");
        for part in [
            "> Do part 1 now.",
            "> Part 4 is done.",
            "2. the second part",
        ] {
            assert!(fifth.request.contains(part), "{part}: {}", fifth.request);
        }
        // All of it was there when the session began.
        assert_eq!(milestone.next_after_a_pause()["action"], "resume");
        let sixth = milestone.task(6, 40);
        assert_eq!(sixth.session, fifth.session);
        assert!(
            sixth.request.contains("Part 5 is done."),
            "{}",
            sixth.request
        );

        let repository = place.repository();
        let project = repository.to_str().expect("a path");
        let args = ["milestone", "show", "parts", "--json", "--project", project];
        let shown: Value = serde_json::from_str(&milestone.ledger(&args, "")).expect("JSON");
        assert_eq!(shown["runs"], 6);
        let sessions = shown["sessions"].as_array().expect("a list");
        let statuses: Vec<&Value> = sessions.iter().map(|it| &it["status"]).collect();
        assert_eq!(statuses, ["refreshed", "refreshed", "active"]);
        let ids: Vec<&Value> = sessions.iter().map(|it| &it["session_id"]).collect();
        assert_eq!(ids, [&first.session, &fourth.session, &fifth.session]);
    });
}
