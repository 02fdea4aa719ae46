use std::collections::HashSet;

use cr_verdict::Outcome;
use jiff::{SignedDuration, Timestamp};

use super::*;
use crate::prompt::NextAttempt;

const NOW: Timestamp = Timestamp::constant(1_800_000_000, 0);

/// The moment `seconds` from now.
fn at(seconds: i64) -> Timestamp {
    NOW + SignedDuration::from_secs(seconds)
}

/// The state that a word stands for; `wait:5` is a backoff of five seconds,
/// `hold:5` a limit of the account for so long.
fn state(word: &str) -> TaskState {
    let (word, seconds) = word.split_once(':').unwrap_or((word, ""));
    let moment = seconds.parse().ok().map(at);
    match word {
        "ready" | "wait" | "hold" => TaskState::Ready {
            next: Box::new(NextAttempt::default()),
            not_before: moment,
            holds_all: word == "hold",
        },
        "open" | "runs" => TaskState::Open(1),
        "done" => TaskState::Done,
        "failed" => TaskState::Failed,
        "asks" => TaskState::NeedsPerson,
        "lost" => TaskState::Lost,
        "later" => TaskState::Later,
        "auth" => TaskState::StopAll(Outcome::Auth),
        "stopped" => TaskState::StopAll(Outcome::Interrupted),
        _ => unreachable!("{word}"),
    }
}

/// A plan as a text: `id=state` with `<id` for what it depends on, `@N` for its
/// wave and `!` for a breakpoint. `runs` is an open attempt that is watched.
struct Plan {
    tasks: Vec<TaskRecord>,
    watched: Vec<bool>,
}

fn plan(text: &str) -> Plan {
    let mut plan = Plan {
        tasks: Vec::new(),
        watched: Vec::new(),
    };
    for entry in text.split_whitespace() {
        let (head, rest) = entry.split_once('=').expect("id=state");
        let mut parts = rest.split_inclusive(['<', '@', '!']).peekable();
        let first = parts.next().unwrap_or_default();
        let word = first.trim_end_matches(['<', '@', '!']);
        let mut task = Task {
            id: head.to_owned(),
            ..Task::default()
        };
        let mut mark = first.chars().last().filter(|c| "<@!".contains(*c));
        task.breakpoint = mark == Some('!');
        for part in parts {
            let value = part.trim_end_matches(['<', '@', '!']);
            match mark {
                Some('<') => task.depends_on.push(value.to_owned()),
                Some('@') => task.wave = value.parse().expect("a wave"),
                _ => {}
            }
            mark = part.chars().last().filter(|c| "<@!".contains(*c));
            task.breakpoint |= mark == Some('!');
        }
        plan.watched.push(word == "runs");
        plan.tasks.push(TaskRecord {
            is_suspended: false,
            task,
            attempts: Attempts::default(),
            assessment: Assessment {
                state: state(word),
                reason: format!("reason of {head}"),
            },
            is_break_passed: false,
        });
    }
    plan
}

impl Plan {
    fn schedule(&self, change: impl FnOnce(&mut RunOptions, &mut Situation<'_>)) -> Schedule {
        let mut options = RunOptions {
            slots: 1,
            range: self.tasks.len(),
            ..RunOptions::default()
        };
        let chains = chains(self.tasks.iter().map(|record| &record.task));
        let mut scratch = Situation {
            stuck: None,
            chains: &chains,
            tasks: &self.tasks,
            options: &RunOptions::default(),
            watched: &self.watched,
            pause_file: None,
            signal: None,
            budget: None,
            purse: Purse::default(),
            now: NOW,
        };
        change(&mut options, &mut scratch);
        let situation = Situation {
            options: &options,
            ..scratch
        };
        schedule(&situation)
    }

    fn with_slots(&self, slots: usize) -> Schedule {
        self.schedule(|options, _| options.slots = slots)
    }

    fn ids(&self, chosen: &[usize]) -> String {
        let ids = chosen.iter().map(|&at| self.tasks[at].task.id.as_str());
        ids.collect::<Vec<_>>().join(" ")
    }
}

#[test]
fn the_task_with_the_longest_chain_behind_it_starts_first_if_there_are_slots() {
    // (plan, started with one slot, started with two)
    let cases = [
        ("a=ready b=ready c=ready<b", "a", "b a"),
        ("a=ready b=ready<a c=ready d=ready<c e=ready<d", "a", "c a"),
        ("a=ready b=ready c=ready<a d=ready<b", "a", "a b"),
    ];
    for (text, one, two) in cases {
        let plan = plan(text);
        assert_eq!(plan.ids(&plan.with_slots(1).start), one, "{text}");
        assert_eq!(plan.ids(&plan.with_slots(2).start), two, "{text}");
    }
}

#[test]
fn tasks_that_may_change_the_same_files_never_run_at_the_same_time() {
    let files = |plan: &mut Plan, at: usize, files: &[&str]| {
        plan.tasks[at].task.files = files.iter().map(|&file| file.to_owned()).collect();
    };
    let mut plan = plan("a=ready b=ready c=ready d=ready");
    files(&mut plan, 0, &["src/api/"]);
    files(&mut plan, 1, &["docs/a.md", "src/api/x.rs"]);
    files(&mut plan, 2, &["src/ui/**"]);
    // d has no files, and is not checked.
    assert_eq!(plan.ids(&plan.with_slots(4).start), "a c d");
    plan.tasks[0].assessment.state = TaskState::Open(1);
    plan.watched[0] = true;
    assert_eq!(plan.ids(&plan.with_slots(4).start), "c d");
    plan.tasks[0].assessment.state = TaskState::Done;
    plan.watched[0] = false;
    assert_eq!(plan.ids(&plan.with_slots(4).start), "b c d");
}

#[test]
fn tasks_start_in_order_as_far_as_slots_and_needs_allow() {
    // (plan, started with one slot, started with three)
    let cases = [
        ("a=ready b=ready c=ready d=ready", "a", "a b c"),
        ("a=ready b=ready<a c=ready", "a", "a c"),
        ("a=done b=ready<a c=ready<b", "b", "b"),
        ("a=done b=ready<a c=ready<a", "b", "b c"),
        ("a=runs b=ready c=ready d=ready", "", "b c"),
        ("a=runs b=ready<a c=ready", "", "c"),
        ("a=failed b=ready<a c=ready", "c", "c"),
        ("a=asks b=ready<a c=ready", "c", "c"),
        ("a=lost b=ready<a c=ready", "c", "c"),
        // A wave begins when all of the one before is done.
        ("a=ready b=ready c=ready@1", "a", "a b"),
        ("a=done b=runs c=ready@1", "", ""),
        ("a=done b=done c=ready@1 d=ready@1 e=ready@2", "c", "c d"),
        ("a=done b=failed c=ready@1", "", ""),
        // One task's pause holds up no other.
        ("a=wait:5 b=ready c=ready", "b", "b c"),
        ("a=wait:5 b=ready<a", "", ""),
        ("a=wait:-5 b=ready", "a", "a b"),
        // A limit of the account holds up all.
        ("a=hold:5 b=ready", "", ""),
        ("a=hold:-5 b=ready", "a", "a b"),
        // A wait and a hold.
        ("a=hold:5 b=wait:9 c=ready", "", ""),
    ];
    for (text, one, three) in cases {
        let plan = plan(text);
        for (slots, expected) in [(1, one), (3, three)] {
            let schedule = plan.with_slots(slots);
            assert_eq!(plan.ids(&schedule.start), expected, "{text}, {slots} slots");
        }
    }
}

#[test]
fn what_waits_for_a_moment_names_it() {
    // (plan, slots, when to ask again)
    let cases = [
        ("a=wait:5", 1, Some(5)),
        ("a=wait:5 b=wait:3", 1, Some(3)),
        ("a=wait:5 b=ready<a", 1, Some(5)),
        ("a=hold:5 b=wait:3", 1, Some(5)),
        ("a=hold:5 b=hold:7", 1, Some(7)),
        ("a=wait:5 b=ready", 2, Some(5)),
        // No slot is free, so no moment matters.
        ("a=wait:5 b=runs", 1, None),
        ("a=wait:5 b=runs", 2, Some(5)),
        ("a=ready", 1, None),
    ];
    for (text, slots, expected) in cases {
        let schedule = plan(text).with_slots(slots);
        assert_eq!(schedule.wake_at, expected.map(at), "{text}, {slots} slots");
        assert_eq!(schedule.end, None, "{text}");
    }
}

#[test]
fn an_attempt_that_was_started_is_watched_whatever_else_is_wanted() {
    for text in [
        "a=open b=ready",
        "a=auth b=open",
        "a=later b=open",
        "a=failed b=open",
    ] {
        for signal in [None, Some(15)] {
            let plan = plan(text);
            let schedule = plan.schedule(|options, situation| {
                options.halt = true;
                situation.signal = signal;
            });
            let open = text
                .split_whitespace()
                .position(|entry| entry.ends_with("=open"));
            assert_eq!(schedule.adopt, [open.expect("one is")], "{text}");
            assert_eq!((schedule.end, schedule.start), (None, vec![]), "{text}");
        }
    }
    // More attempts than slots: all are watched, and nothing starts.
    let plan = plan("a=open b=open c=ready");
    let schedule = plan.with_slots(1);
    assert_eq!((schedule.adopt, schedule.start), (vec![0, 1], vec![]));
}

/// The end of a run as (exit, state, reason).
fn end(schedule: Schedule) -> Option<(Exit, &'static str, String)> {
    let end = schedule.end?;
    Some((end.exit, end.state, end.reason))
}

#[test]
fn a_run_ends_when_nothing_is_left_to_do_and_says_how() {
    let counts = |done, failed, asking, left| {
        format!("{done} done, {failed} failed, {asking} need a person, {left} not started")
    };
    let cases = [
        ("a=done b=done", Exit::Ok, counts(2, 0, 0, 0)),
        ("a=done b=failed", Exit::No, counts(1, 1, 0, 0)),
        ("a=failed b=ready<a", Exit::No, counts(0, 1, 0, 1)),
        ("a=asks b=failed", Exit::Code(4), counts(0, 1, 1, 0)),
        ("a=lost b=done", Exit::Code(4), counts(1, 0, 1, 0)),
        ("a=asks b=ready<a", Exit::Code(4), counts(0, 0, 1, 1)),
    ];
    for (text, exit, reason) in cases {
        let schedule = plan(text).with_slots(3);
        assert_eq!(end(schedule), Some((exit, "ended", reason)), "{text}");
    }
    for text in ["a=done b=runs", "a=failed b=runs c=ready<b"] {
        let schedule = plan(text).with_slots(3);
        assert_eq!((schedule.end, schedule.start), (None, vec![]), "{text}");
    }
}

#[test]
fn what_stops_all_tasks_ends_the_run_once_nothing_runs() {
    // (plan, how it ends)
    let cases = [
        ("a=auth b=ready", Exit::Code(77), "stopped"),
        ("a=stopped b=ready", Exit::Code(143), "stopped"),
        ("a=later b=ready", Exit::Retry, "later"),
    ];
    for (text, exit, word) in cases {
        let schedule = plan(text).with_slots(3);
        let reason = "reason of a".to_owned();
        assert_eq!(end(schedule), Some((exit, word, reason)), "{text}");
        let schedule = plan(&format!("{text} c=runs")).with_slots(3);
        assert_eq!((schedule.end, schedule.start), (None, vec![]), "{text}");
    }
    let stopped = plan("a=ready b=hold:5").schedule(|_, situation| situation.signal = Some(2));
    let reason = "by a signal".to_owned();
    assert_eq!(end(stopped), Some((Exit::Code(130), "stopped", reason)));
}

#[test]
fn after_a_failure_halt_starts_nothing() {
    for (text, is_over) in [
        ("a=failed b=ready", true),
        ("a=failed b=ready c=runs", false),
    ] {
        let schedule = plan(text).schedule(|options, _| (options.halt, options.slots) = (true, 3));
        assert_eq!(schedule.end.is_some(), is_over, "{text}");
        assert!(schedule.start.is_empty(), "{text}");
    }
}

#[test]
fn a_pause_is_for_what_would_start() {
    let file = Path::new("/run/PAUSE");
    // (plan, whether it is paused)
    for (text, is_paused) in [
        ("a=ready", true),
        ("a=wait:5", true),
        ("a=hold:5", true),
        ("a=done", false),
        ("a=failed b=ready<a", false),
        ("a=runs b=ready", false),
    ] {
        let schedule = plan(text).schedule(|options, situation| {
            options.slots = 3;
            situation.pause_file = Some(file);
        });
        assert!(schedule.start.is_empty(), "{text}");
        let paused = (Exit::Retry, "paused", "/run/PAUSE is there".to_owned());
        assert_eq!(end(schedule) == Some(paused), is_paused, "{text}");
    }
}

#[test]
fn until_leaves_the_rest_of_the_plan_alone() {
    let plan = plan("a=done b=ready c=ready");
    let schedule = plan.schedule(|options, _| (options.range, options.slots) = (2, 3));
    assert_eq!(schedule.start, [1]);
    let schedule = plan.schedule(|options, _| options.range = 1);
    let reason = "1 done, 0 failed, 0 need a person, 0 not started".to_owned();
    assert_eq!(end(schedule), Some((Exit::Ok, "ended", reason)));
}

#[test]
fn a_breakpoint_stops_the_run_once_and_nothing_after_it_starts() {
    // (plan, started with three slots, whether the run stops)
    let cases = [
        ("a=ready! b=ready", "", true),
        ("a=ready b=ready! c=ready", "a", false),
        ("a=done b=ready! c=ready", "", true),
        ("a=runs b=ready! c=ready", "", false),
        ("a=wait:5 b=ready! c=ready", "", false),
        ("a=ready b=ready<a! c=ready", "a c", false),
    ];
    for (text, started, stops) in cases {
        let mut plan = plan(text);
        let schedule = plan.with_slots(3);
        assert_eq!(plan.ids(&schedule.start), started, "{text}");
        let breakpoint = schedule.end.and_then(|end| end.breakpoint);
        assert_eq!(breakpoint.is_some(), stops, "{text}");
        if let Some(at) = breakpoint {
            plan.tasks[at].is_break_passed = true;
            assert_eq!(plan.with_slots(1).start, [at], "{text}");
        }
    }
    let plan = plan("a=ready b=ready");
    let schedule = plan.schedule(|options, _| options.breaks = vec!["a".to_owned()]);
    let stopped = (Exit::Code(4), "breakpoint", "before a".to_owned());
    assert_eq!(end(schedule), Some(stopped));
}

/// Runs plans of random shape to their end: each task starts exactly once, after
/// what it needs, and never more than the slots allow.
#[test]
fn every_plan_comes_to_its_end() {
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |most: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % most
    };
    for round in 0..500 {
        let count = 1 + random(12);
        let mut text = String::new();
        for at in 0..count {
            text += &format!("t{at}=ready");
            if at > 0 && random(2) == 0 {
                text += &format!("<t{}", random(at));
            }
            text += &format!("@{} ", at * random(2) / 4);
        }
        let mut plan = plan(&text);
        plan.tasks.sort_by_key(|record| record.task.wave);
        let slots = 1 + usize::try_from(random(4)).expect("small");
        let mut done = HashSet::new();
        loop {
            let schedule = plan.with_slots(slots);
            for at in schedule.start {
                let record = &mut plan.tasks[at];
                assert!(record.task.depends_on.iter().all(|id| done.contains(id)));
                record.assessment.state = TaskState::Open(1);
                plan.watched[at] = true;
            }
            let running: Vec<usize> = (0..plan.tasks.len())
                .filter(|&at| plan.watched[at])
                .collect();
            assert!(running.len() <= slots, "{round}: {text}");
            if running.is_empty() {
                break;
            }
            let at = running[usize::try_from(random(running.len() as u64)).expect("small")];
            plan.watched[at] = false;
            plan.tasks[at].assessment.state = TaskState::Done;
            assert!(
                done.insert(plan.tasks[at].task.id.clone()),
                "{round}: {text}"
            );
        }
        let is_possible = |record: &TaskRecord| waits_for(record, &plan.tasks).is_none();
        let left = plan
            .tasks
            .iter()
            .filter(|record| !done.contains(&record.task.id));
        assert_eq!(
            left.filter(|record| is_possible(record)).count(),
            0,
            "{text}"
        );
    }
}
