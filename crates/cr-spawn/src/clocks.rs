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
pub(crate) fn next(clocks: &Clocks, activity: &Activity, started: Instant) -> Option<Running> {
    let clock =
        |name, since, limit: Duration| (!limit.is_zero()).then_some(Running { name, since, limit });
    let turn = activity
        .turn_since
        .and_then(|since| clock(Clock::Turn, since, clocks.turn_timeout));
    let all = [
        clock(Clock::Timeout, started, clocks.timeout),
        turn,
        waiting(clocks, activity),
    ];
    all.into_iter().flatten().min_by_key(Running::until)
}

/// The clock of what is being waited for; there is one at a time.
fn waiting(clocks: &Clocks, activity: &Activity) -> Option<Running> {
    let (name, since, limit) = if let Some(call) = activity.longest() {
        (Clock::Tool, call.reset, clocks.tool_timeout)
    } else if let Some(at) = activity.result_at {
        if activity.has_background() {
            (Clock::PostResult, activity.last_line, clocks.tool_timeout)
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
            let next = next(&clocks, &activity, started).expect("a clock runs");
            assert_eq!(
                (next.name.as_str(), next.limit.as_secs()),
                (*name, *seconds),
                "{lines:?}"
            );
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
            let next = next(&clocks, &activity, now).expect("a clock runs");
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
        let next = next(&clocks, &activity, started).expect("a clock runs");
        assert_eq!(next.since, later);
        assert_eq!(activity.doing(later).since_ms, 3_000_000);
    }

    #[test]
    fn zero_turns_a_clock_off() {
        let args = ["cr-spawn", "--startup-timeout", "0"];
        let clocks = AgentOptions::parse_from(args).clocks;
        let now = Instant::now();
        assert_eq!(next(&clocks, &Activity::new(now), now), None);
    }
}
