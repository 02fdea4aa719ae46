//! The record of one attempt: its specification, and how it ended.
//!
//! Both are files in the attempt's directory, which is also the run directory of
//! its agent. With two locks and a marker they say what has happened, also after
//! a crash:
//!
//! * no `attempt.json`: nothing
//! * no `attempt.started`: it may be started
//! * `attempt.lock` or the agent's `lock` held: it is running
//! * `end.json`: it has ended
//! * `exit.json`: the agent has ended, and the rest can still be done
//! * otherwise it is lost

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use cr_agent::AgentOptions;
use cr_rundir::parse_state;
use cr_verdict::policy::{self, Clock, RanOut};
use cr_verdict::{ACTIONS, Category, Outcome};
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::isolation::Place;
use crate::plan_gates::PlanGates;
use crate::sandbox::SandboxSettings;
use crate::task::Task;
use crate::{agent_options, isolation};

/// The variable with the first port of the slot.
const PORT: &str = "CR_PORT";

/// The specification of an attempt.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, and none excludes another"
)]
pub(crate) struct Spec {
    pub(crate) run_id: String,
    pub(crate) number: u32,
    pub(crate) task: Task,
    pub(crate) limits: Limits,
    /// The session to resume.
    pub(crate) resume: Option<String>,
    /// The id of the session that it begins, if that is the session of a milestone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) session_id: Option<String>,
    /// The id of the milestone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) milestone: Option<String>,
    /// The model of `--models` that it has instead of the task's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// It resumes one because the attempt before was cut off.
    pub(crate) resumed: bool,
    pub(crate) sprint: bool,
    /// The attempt whose start the scope is measured from, if not its own: work
    /// outside the scope can only be taken back, which is a change, too.
    #[serde(default)]
    pub(crate) scope_from: Option<u32>,
    /// The agent's options. An older version has recorded `flags` instead.
    #[serde(default)]
    pub(crate) agent: Option<cr_agent::Settings>,
    /// It is an attempt of one run, which the ledger records as a whole.
    #[serde(default)]
    pub(crate) is_part: bool,
    /// Its worktree, if it has one of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) place: Option<Place>,
    /// What its sandbox lets in, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sandbox: Option<SandboxSettings>,
    /// The slot that it runs in, from 0.
    #[serde(default)]
    pub(crate) slot: u32,
    /// What the plan says for all tasks.
    #[serde(default)]
    pub(crate) gates: PlanGates,
    /// Read only: options as arguments of cr-spawn.
    #[serde(default, skip_serializing)]
    pub(crate) flags: Vec<String>,
    /// Read only: a user gave the `flags`, for a task without a plan.
    #[serde(default, skip_serializing)]
    pub(crate) is_command_line: bool,
}

impl Spec {
    /// The agent's options.
    pub(crate) fn agent_options(&self) -> anyhow::Result<AgentOptions> {
        if let Some(settings) = &self.agent {
            return Ok(settings.options());
        }
        let given = agent_options::of_arguments(&self.flags)?;
        let mut options = if self.is_command_line {
            agent_options::of_command_line(given, self.number, false)
        } else {
            agent_options::with_task(given, &self.task)
        };
        options.rest = self.task.claude_args.iter().map(Into::into).collect();
        self.change(&mut options);
        Ok(options)
    }

    /// The working directory of the agent, and of the commands of the plan.
    pub(crate) fn cwd(&self) -> &Path {
        self.place
            .as_ref()
            .map_or(&self.task.cwd, |place| &place.cwd)
    }

    /// The working directory of the plan's own commands.
    pub(crate) fn plan_cwd(&self) -> anyhow::Result<PathBuf> {
        let Some(place) = &self.place else {
            return Ok(self.gates.cwd.clone());
        };
        isolation::plan_cwd(&place.worktrees, &self.gates, &place.dir)
    }

    /// The variables of the agent's environment, and of the commands of the plan.
    pub(crate) fn env(&self) -> Vec<(String, String)> {
        let run = self.place.as_ref().map(|place| place.run.as_str());
        let port = run.map(|run| (PORT.to_owned(), isolation::port(run, self.slot).to_string()));
        let given = self.task.env.iter();
        let given = given.filter_map(|entry| entry.split_once('='));
        let given = given.map(|(name, value)| (name.to_owned(), value.to_owned()));
        // The task's own comes last, and counts.
        port.into_iter().chain(given).collect()
    }

    /// Changes `options` to what this attempt is about.
    pub(crate) fn change(&self, options: &mut AgentOptions) {
        options.cwd = Some(self.cwd().to_owned());
        agent_options::set_limits(options, self.limits);
        if self.model.is_some() {
            options.model.clone_from(&self.model);
        }
        if self.resume.is_some() {
            options.resume.clone_from(&self.resume);
        }
        if self.session_id.is_some() {
            options.session_id.clone_from(&self.session_id);
        }
    }
}

/// The limits of an attempt; times are in seconds.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub(crate) struct Limits {
    pub(crate) max_turns: Option<u64>,
    pub(crate) budget_usd: Option<f64>,
    pub(crate) timeout: Option<f64>,
    /// The other clocks, where the policy has changed them.
    #[serde(flatten)]
    pub(crate) clocks: Clocks,
}

/// Clocks that a policy has lengthened, in seconds.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub(crate) struct Clocks {
    #[serde(skip_serializing_if = "Option::is_none")]
    startup: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    idle: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<f64>,
}

impl Limits {
    /// The limits of a task's first attempt.
    pub(crate) fn first(task: &Task) -> Self {
        Self {
            max_turns: Some(task.max_turns),
            budget_usd: task.budget_usd,
            timeout: Some(task.timeout).filter(|&seconds| seconds > 0.0),
            clocks: Clocks::default(),
        }
    }
}

impl From<Limits> for policy::Limits {
    fn from(limits: Limits) -> Self {
        let time = |seconds: Option<f64>| Duration::try_from_secs_f64(seconds?).ok();
        Self {
            max_turns: limits.max_turns,
            budget_usd: limits.budget_usd,
            timeout: time(limits.timeout),
            startup: time(limits.clocks.startup),
            idle: time(limits.clocks.idle),
            tool: time(limits.clocks.tool),
            turn: time(limits.clocks.turn),
        }
    }
}

impl From<policy::Limits> for Limits {
    fn from(limits: policy::Limits) -> Self {
        let seconds = |time: Option<Duration>| Some(time?.as_secs_f64());
        Self {
            max_turns: limits.max_turns,
            budget_usd: limits.budget_usd,
            timeout: seconds(limits.timeout),
            clocks: Clocks {
                startup: seconds(limits.startup),
                idle: seconds(limits.idle),
                tool: seconds(limits.tool),
                turn: seconds(limits.turn),
            },
        }
    }
}

/// How it ended.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct End {
    pub(crate) outcome: String,
    pub(crate) category: Option<String>,
    /// What the verdict asks for.
    pub(crate) action: String,
    /// The clock that ended it, and what that stood at.
    pub(crate) clock: Option<String>,
    pub(crate) limit_ms: Option<u64>,
    pub(crate) why: String,
    /// What the next attempt should know.
    pub(crate) error: String,
    pub(crate) retry_at: Option<Timestamp>,
    /// The session, if it can be resumed.
    pub(crate) session: Option<String>,
    /// The session, whether it can be resumed or not.
    pub(crate) session_id: Option<String>,
    pub(crate) cost_usd: Option<f64>,
    /// Tokens of every kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tokens: Option<u64>,
    /// The account's window of five hours, as the agent said last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) quota: Option<Quota>,
    pub(crate) num_turns: Option<u64>,
    pub(crate) commits: Vec<String>,
    pub(crate) result: Option<String>,
    /// The question to a person.
    pub(crate) question: Option<String>,
    /// How it ended is not known.
    pub(crate) lost: bool,
    /// The next attempt begins in a new worktree.
    pub(crate) needs_new_base: bool,
    /// The merge commit of its work.
    pub(crate) merged: Option<String>,
    pub(crate) started_at: Option<Timestamp>,
    pub(crate) ended_at: Timestamp,
}

/// How much of a window of the account is used.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct Quota {
    /// From 0 to 1.
    pub(crate) used: f64,
    pub(crate) resets_at: Option<Timestamp>,
}

impl End {
    /// An end without a summary.
    pub(crate) fn new(outcome: Outcome, why: &str) -> Self {
        Self {
            outcome: outcome.as_str().to_owned(),
            why: why.to_owned(),
            error: why.to_owned(),
            ended_at: Timestamp::now(),
            ..Self::default()
        }
    }

    /// The outcome; one that this version does not know is a failure.
    pub(crate) fn outcome(&self) -> Outcome {
        Outcome::parse(&self.outcome).unwrap_or(Outcome::Failed)
    }

    /// The clock that ended it.
    fn ran_out(&self) -> Option<RanOut> {
        let clock = self.clock.as_deref().and_then(Clock::parse)?;
        let limit = self.limit_ms.map(Duration::from_millis);
        Some(RanOut { clock, limit })
    }

    /// Whether the agent was asked for a session that is not on disk. A session
    /// that is there stays resumable, whatever else is wrong with the request.
    fn found_no_session(&self) -> bool {
        self.outcome() == Outcome::Failed && self.action == "fix" && self.session.is_none()
    }

    pub(crate) fn is_success(&self) -> bool {
        self.outcome() == Outcome::Success
    }
}

/// An attempt that has ended.
#[derive(Clone, Debug)]
pub(crate) struct Ended {
    pub(crate) spec: Spec,
    pub(crate) end: End,
    /// A person, or a new start of the run, asked to try again after it.
    pub(crate) again: Option<String>,
}

impl Ended {
    /// What the policy wants to know of it.
    pub(crate) fn facts(&self) -> policy::Attempt {
        let mut actions = ACTIONS.into_iter();
        let action = actions.find(|action| *action == self.end.action);
        policy::Attempt {
            outcome: self.end.outcome(),
            category: self.end.category.as_deref().and_then(Category::parse),
            advice: action.unwrap_or("none"),
            ran_out: self.end.ran_out(),
            limits: self.spec.limits.into(),
            ended_at: self.end.ended_at,
            retry_at: self.end.retry_at,
            can_resume: self.end.session.is_some(),
            resumed: self.spec.resumed,
            session_missing: self.spec.resume.is_some() && self.end.found_no_session(),
            error: self.end.error.clone(),
        }
    }
}

/// Reads the state file `path`; `None` if it is not there. A newer one is refused
/// (78).
pub(crate) fn read_state<T: DeserializeOwned>(path: &Path) -> anyhow::Result<Option<T>> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(err) if err.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(err) => return Err(err).with_context(|| path.display().to_string()),
    };
    let value = parse_state(&bytes).with_context(|| path.display().to_string())?;
    Ok(Some(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An attempt as an older version recorded it, `rest` added.
    fn old(rest: &str) -> Spec {
        let text = format!(
            r#"{{"run_id":"x","number":2,"task":{{"id":"a","prompt":"p","model":"m",
            "max_turns":5,"timeout":60.0,"cwd":"/w"}},"limits":{{"max_turns":10,
            "budget_usd":null,"timeout":60.0}},"resume":"s","resumed":true,"sprint":false,
            "scope_from":null,{rest}}}"#
        );
        serde_json::from_str(&text).expect("an attempt")
    }

    #[test]
    fn an_attempt_that_an_older_version_recorded_has_the_same_options() {
        let spec = old(r#""flags":["--grace=3","--claude=/c"],"is_command_line":false"#);
        let options = spec.agent_options().expect("options");
        assert_eq!(options.name.as_deref(), Some("a"));
        assert_eq!(options.model.as_deref(), Some("m"));
        assert_eq!(options.clocks.grace, Duration::from_secs(3));
        assert_eq!(options.max_turns, 10);
        assert_eq!(options.resume.as_deref(), Some("s"));
        assert_eq!(options.cwd.as_deref(), Some(Path::new("/w")));

        let spec = old(r#""flags":["--name=n","--max-turns=5"],"is_command_line":true"#);
        let options = spec.agent_options().expect("options");
        assert_eq!(options.name.as_deref(), Some("n"));
        assert_eq!(options.model, None);
        assert_eq!((options.max_turns, options.max_record), (10, 0));
        assert!(!options.dangerously_skip_permissions);
    }
}
