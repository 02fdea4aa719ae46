//! The clocks: which one runs, and until when.

use std::time::{Duration, Instant};

use crate::activity::Activity;
use cr_agent::Clocks;
use cr_stream::Clock;

/// A clock that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Running {
    pub(crate) name: Clock,
    pub(crate) since: Instant,
    pub(crate) limit: Duration,
}

impl Running {
    /// When it runs out.
    pub(crate) fn until(&self) -> Instant {
        self.since + self.limit
    }
}

/// The clock that runs out next.
///
/// `expects_turn`: the agent has a reason to begin another turn, so its last result
/// is not its end.
pub(crate) fn next(
    clocks: &Clocks,
    activity: &Activity,
    started: Instant,
    expects_turn: bool,
) -> Option<Running> {
    let clock =
        |name, since, limit: Duration| (!limit.is_zero()).then_some(Running { name, since, limit });
    let turn = activity
        .turn_since
        .and_then(|since| clock(Clock::Turn, since, clocks.turn_timeout));
    let all = [
        clock(Clock::Timeout, started, clocks.timeout),
        turn,
        waiting(clocks, activity, expects_turn),
    ];
    all.into_iter().flatten().min_by_key(Running::until)
}

/// The clock of what is being waited for; there is one at a time.
fn waiting(clocks: &Clocks, activity: &Activity, expects_turn: bool) -> Option<Running> {
    let (name, since, limit) = if let Some(call) = activity.longest() {
        (Clock::Tool, call.reset, clocks.tool_timeout)
    } else if let Some(at) = activity.result_at {
        if activity.has_background() {
            (Clock::PostResult, activity.last_line, clocks.tool_timeout)
        } else if expects_turn {
            (Clock::Idle, activity.last_line, clocks.idle_timeout)
        } else {
            (Clock::PostResult, at, clocks.post_result_grace)
        }
    } else if activity.has_spoken {
        (Clock::Idle, activity.last_line, clocks.idle_timeout)
    } else {
        (Clock::Startup, activity.started, clocks.startup_timeout)
    };
    (!limit.is_zero()).then_some(Running { name, since, limit })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use cr_agent::AgentOptions;
    use cr_stream::Named;

    const CALL: &str = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"make"}}]}}"#;
    const ANSWER: &str = r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}}"#;
    const INIT: &str = r#"{"type":"system","subtype":"init"}"#;
    const RESULT: &str = r#"{"is_error":false,"type":"result","subtype":"success"}"#;
    const SAID: &str =
        r#"{"type":"assistant","message":{"content":[{"type":"text","text":"so"}]}}"#;
    const NESTED: &str = r#"{"type":"assistant","parent_tool_use_id":"t9","message":{"content":[{"type":"text","text":"so"}]}}"#;
    const OPEN: &str =
        r#"{"type":"system","subtype":"background_tasks_changed","tasks":[{"task_id":"b1"}]}"#;
    const CLOSED: &str = r#"{"type":"system","subtype":"background_tasks_changed","tasks":[]}"#;

    #[test]
    fn the_clock_follows_what_the_agent_does() {
        #[rustfmt::skip]
        let cases: &[(&[&str], &str, u64)] = &[
            (&[],                             "startup",     120),
            (&[INIT],                         "idle",        900),
            (&[INIT, CALL],                   "tool",        3600),
            (&[INIT, CALL, ANSWER],           "idle",        900),
            (&[INIT, RESULT],                 "post_result", 30),
            (&[INIT, CALL, RESULT],           "post_result", 30),
            (&[INIT, RESULT, OPEN],           "post_result", 3600),
            (&[INIT, RESULT, OPEN, CLOSED],   "post_result", 30),
            (&[INIT, RESULT, INIT],           "idle",        900),
            // A turn that nobody announced.
            (&[INIT, RESULT, SAID],           "idle",        900),
            (&[INIT, RESULT, CALL, ANSWER],   "idle",        900),
            (&[INIT, SAID, RESULT, NESTED],   "post_result", 30),
            (&["not json"],                   "idle",        900),
        ];
        let clocks = AgentOptions::parse_from(["cr-spawn"]).clocks;
        let started = Instant::now();
        for (lines, name, seconds) in cases {
            let mut activity = Activity::new(started);
            for line in *lines {
                activity.line(line.as_bytes(), started);
            }
            let next = next(&clocks, &activity, started, false).expect("a clock runs");
            assert_eq!(
                (next.name.as_str(), next.limit.as_secs()),
                (*name, *seconds),
                "{lines:?}"
            );
        }
    }

    #[test]
    fn the_turn_after_a_background_task_has_its_own_time_to_begin() {
        const STARTED: &str = r#"{"type":"system","subtype":"task_started","task_id":"b1","task_type":"local_agent","tool_use_id":"t1"}"#;
        const ENDED: &str = r#"{"type":"system","subtype":"task_updated","task_id":"b1","patch":{"status":"completed"}}"#;
        let clocks = AgentOptions::parse_from(["cr-spawn"]).clocks;
        let started = Instant::now();
        // Newer versions list their background tasks, older ones do not.
        let cases = [
            ([INIT, OPEN, RESULT], [CLOSED, CLOSED]),
            ([STARTED, ANSWER, RESULT], [ENDED, INIT]),
        ];
        for (before, after) in cases {
            let mut activity = Activity::new(started);
            for line in before {
                activity.line(line.as_bytes(), started);
            }
            let at = |activity: &Activity, expects_turn| {
                let clock = next(&clocks, activity, started, expects_turn).expect("a clock runs");
                (clock.name.as_str(), clock.since, clock.limit.as_secs())
            };
            assert_eq!(at(&activity, false), ("post_result", started, 3600));
            let ended = started + Duration::from_mins(10);
            activity.line(after[0].as_bytes(), ended);
            assert_eq!(at(&activity, false), ("post_result", ended, 30));
            assert_eq!(at(&activity, true), ("idle", ended, 900));
            activity.line(after[1].as_bytes(), ended + Duration::from_secs(1));
            let name = if after[1] == INIT {
                "idle"
            } else {
                "post_result"
            };
            assert_eq!(at(&activity, false).0, name);
        }
    }

    #[test]
    fn a_result_before_a_resumed_session_has_said_anything_is_not_its_end() {
        let clocks = AgentOptions::parse_from(["cr-spawn"]).clocks;
        let now = Instant::now();
        let error = RESULT.replace("false", "true");
        let cases: &[(bool, &[&str], &str)] = &[
            (true, &[INIT, RESULT], "idle"),
            (true, &[INIT, &error], "post_result"),
            (true, &[INIT, SAID, RESULT], "post_result"),
            (true, &[INIT, RESULT, SAID, RESULT], "post_result"),
            (false, &[INIT, RESULT], "post_result"),
        ];
        for (is_resumed, lines, name) in cases {
            let mut activity = Activity::new(now);
            activity.is_resumed = *is_resumed;
            for line in *lines {
                activity.line(line.as_bytes(), now);
            }
            let next = next(&clocks, &activity, now, false).expect("a clock runs");
            assert_eq!(next.name.as_str(), *name, "{is_resumed} {lines:?}");
        }
    }

    #[test]
    fn a_subagents_lines_reset_the_clock_of_its_call() {
        let agent = CALL.replace("Bash", "Agent");
        let nested = r#"{"type":"assistant","parent_tool_use_id":"t1","message":{"content":[]}}"#;
        let clocks = AgentOptions::parse_from(["cr-spawn"]).clocks;
        let started = Instant::now();
        let later = started + Duration::from_mins(50);
        let mut activity = Activity::new(started);
        activity.line(agent.as_bytes(), started);
        activity.line(nested.as_bytes(), later);
        let next = next(&clocks, &activity, started, false).expect("a clock runs");
        assert_eq!(next.since, later);
        assert_eq!(activity.doing(later).since_ms, 3_000_000);
    }

    #[test]
    fn zero_turns_a_clock_off() {
        let args = ["cr-spawn", "--startup-timeout", "0"];
        let clocks = AgentOptions::parse_from(args).clocks;
        let now = Instant::now();
        assert_eq!(next(&clocks, &Activity::new(now), now, false), None);
    }
}
