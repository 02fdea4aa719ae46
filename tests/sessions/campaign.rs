//! Messages from eight senders, and SIGKILL of any process at any moment.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use cr_test::{Child, repeats, until};

use serde_json::{Value, json};

use crate::check::check;
use crate::place::{Agent, Place, Random, VERSIONS};
use crate::senders::{messages, send_all};

const SENDERS: usize = 8;
const EACH: usize = 25;

#[test]
fn killed_at_any_moment_every_acknowledged_message_is_delivered_once() {
    for number in 0..repeats(4, 90) {
        let seed = 1000 + number as u64;
        let version = VERSIONS[number % 2];
        println!("seed {seed}, {version}");
        torment(Agent::StandIn(version), seed, version == VERSIONS[1]);
    }
}

/// Any message gets an answer, every second one after a tool.
fn scenario() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let input = json!({"command": "sleep 0.2; echo done", "description": "wait"});
        let call = json!({"type": "tool_use", "name": "Bash", "input": input});
        let steps = [json!({"blocks": [call]}), json!({"text": "answered"})];
        let steps: Vec<&Value> = steps.iter().cycle().take(400).collect();
        let rest = json!({"text": "answered"});
        json!({"turns": steps, "on_exhausted": rest}).to_string()
    });
    &TEXT
}

#[test]
fn the_real_cli_killed_at_any_moment_gets_every_acknowledged_message_once() {
    let paths = std::env::var("CR_REAL_CLAUDE").unwrap_or_default();
    if paths.trim().is_empty() || !cr_test::has_namespaces("sessions of the real CLI") {
        let why = "CR_REAL_CLAUDE is not set, see scripts/setup-claude";
        let required = std::env::var("CR_REAL").is_ok_and(|it| it == "required");
        assert!(!required, "{why}");
        return cr_test::left_out(&format!("sessions of the real CLI: {why}"));
    }
    if !rustix::process::geteuid().is_root() {
        // The senders are outside of the sandbox, where the user has another number
        // than inside: they are refused as strangers.
        return cr_test::left_out("killed sessions of the real CLI: only as root");
    }
    for (index, path) in paths.split_whitespace().enumerate() {
        for number in 0..repeats(1, 5) {
            let seed = 9000 + 100 * index as u64 + number as u64;
            println!("seed {seed}, {path}");
            let agent = Agent::Real(path.into(), scenario());
            torment(agent, seed, path.contains(VERSIONS[1]));
        }
    }
}

/// `is_old`: the agent is the older release.
fn torment(agent: Agent, seed: u64, is_old: bool) {
    let mut random = Random::new(seed);
    let place = Place::with(agent, &[]);
    let lists = messages(&mut random, SENDERS, EACH);
    let acked = AtomicUsize::new(0);
    let mut child = place.start();
    place.wait_for_start(&mut child);
    let child = thread::scope(|scope| {
        for list in &lists {
            let random = Random::new(seed * 100 + list[0].sender as u64);
            let (place, acked) = (&place, &acked);
            scope.spawn(move || send_all(place, list, random, acked));
        }
        for _ in 0..=random.below(3) {
            child = kill_and_resume(&place, child, &mut random, &acked);
        }
        until("all messages are acknowledged", || {
            let is_over = child.try_wait().expect("a child").is_some();
            let run = place.latest();
            assert!(!is_over, "ended by itself: {}", place.errors(&run));
            acked.load(Ordering::Relaxed) == SENDERS * EACH
        });
        child
    });
    place.end_input();
    place.check_code(place.wait_for_end(child));
    println!("{:?}", check(&place, &lists, is_old));
}

/// Kills a process at a random moment: when some messages are acknowledged, or
/// soon after the start, when a resumed run takes over what is left.
fn kill_and_resume(
    place: &Place,
    mut child: Child,
    random: &mut Random,
    acked: &AtomicUsize,
) -> Child {
    let is_resumed = place.runs().len() > 1;
    let start = acked.load(Ordering::Relaxed);
    if !(is_resumed && random.below(2) == 0) {
        let share = usize::try_from(random.below(70)).expect("small");
        let wanted = (start + 1 + share).min(SENDERS * EACH);
        until("some messages are acknowledged", || {
            let is_over = child.try_wait().expect("a child").is_some();
            is_over || acked.load(Ordering::Relaxed) >= wanted
        });
    }
    thread::sleep(Duration::from_millis(
        random.below(4 * place.longest_pause()),
    ));
    let killed = place.kill_any(random);
    let code = place.wait_for_end(child);
    println!("{}: killed {killed}: {code:?}", place.latest());
    resume(place, random.below(2) == 0)
}

/// Resumes the latest run that can be resumed, or always the first.
fn resume(place: &Place, is_first: bool) -> Child {
    let mut targets = place.runs();
    if is_first {
        targets.truncate(1);
    }
    while let Some(target) = targets.pop() {
        let mut child = place.resume(&target);
        place.wait_for_start(&mut child);
        if child.try_wait().expect("a child").is_none() {
            return child;
        }
        let run = place.latest();
        println!("{target} cannot be resumed: {}", place.errors(&run));
        // A run that was killed before it had begun has no session.
        assert!(!targets.is_empty(), "no run can be resumed");
    }
    unreachable!("the first run can be resumed")
}
