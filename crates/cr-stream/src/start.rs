//! `cr/start`: the first line of a supervised run.

use std::borrow::Cow;

use crate::field::object;
use crate::{LineBody, SCHEMA, Subtype};

object! {
    /// How the run was started.
    pub struct Start<'a> {
        /// The version of the format.
        schema: u32,
        /// The supervisor's process.
        pid: Option<u32>,
        /// The guardian's process, which ends the agent if the supervisor dies.
        guardian_pid: Option<u32>,
        /// The agent's process.
        agent_pid: Option<i32>,
        /// The run that this one was started in.
        parent_run_id: Option<Cow<'a, str>>,
        /// The name that the user gave it.
        name: Option<Cow<'a, str>>,
        /// The agent's arguments, without the prompt.
        argv: Vec<Cow<'a, str>>,
        /// The agent's program.
        claude: AgentProgram<'a>,
        /// The agent's directory.
        cwd: Option<Cow<'a, str>>,
        /// The run's directory.
        run_dir: Option<Cow<'a, str>>,
        /// The model that was asked for.
        model: Option<Cow<'a, str>>,
        /// The session that is resumed.
        resume: Option<Cow<'a, str>>,
        /// The run that this one resumes.
        resumed_run: Option<Cow<'a, str>>,
        /// The length of the prompt.
        prompt_bytes: u64,
        /// The agent's permission mode.
        permission_mode: Option<Cow<'a, str>>,
        /// Background tasks are allowed.
        background: bool,
        /// Leftover processes are not killed.
        keep_children: bool,
        /// The agent runs in a process namespace of its own.
        isolate: bool,
        /// Every limit in force.
        limits: Limits,
        /// The options of `claude-runner` that mean the settings of this run, if
        /// they are not in a run directory.
        options: Option<Vec<Cow<'a, str>>>,
    }
}

object! {
    /// The agent's program.
    pub struct AgentProgram<'a> {
        /// Where it is.
        path: Cow<'a, str>,
        /// Its version, if it is known.
        version: Option<Cow<'a, str>>,
    }
}

object! {
    /// Every limit in force; `null` is none.
    pub struct Limits {
        /// For the whole run.
        timeout_ms: Option<u64>,
        /// To the first line.
        startup_timeout_ms: Option<u64>,
        /// For silence while the model works.
        idle_timeout_ms: Option<u64>,
        /// For one tool call.
        tool_timeout_ms: Option<u64>,
        /// For one turn.
        turn_timeout_ms: Option<u64>,
        /// From the result to the agent's exit.
        post_result_grace_ms: Option<u64>,
        /// Between SIGTERM and SIGKILL.
        grace_ms: Option<u64>,
        /// For the output after the agent's exit.
        drain_ms: Option<u64>,
        /// Turns of the model.
        max_turns: Option<u64>,
        /// Cost.
        max_budget_usd: Option<f64>,
        /// The longest line, in bytes.
        max_line: Option<u64>,
        /// The longest record, in bytes.
        max_record: Option<u64>,
    }
}

impl LineBody for Start<'_> {
    const SUBTYPE: Subtype = Subtype::Start;
}

impl Start<'_> {
    /// Whether the agent takes messages while it runs.
    pub fn takes_messages(&self) -> bool {
        let mut argv = self.argv.iter();
        argv.any(|arg| arg == "--input-format=stream-json")
    }

    /// One with the version that is written here.
    pub fn new() -> Self {
        Self {
            schema: SCHEMA,
            ..Self::default()
        }
    }
}

object! {
    /// The `cr/start` line of a run of several attempts, which no agent has yet.
    /// It stands in the run's directory and not in the stream.
    pub struct RetryStart<'a> {
        /// The process that starts the attempts.
        pid: Option<u32>,
        /// The name that the user gave it.
        name: Option<Cow<'a, str>>,
        /// The agents' directory.
        cwd: Option<Cow<'a, str>>,
        /// The model that was asked for.
        model: Option<Cow<'a, str>>,
        /// The session that is resumed.
        resume: Option<Cow<'a, str>>,
        /// The run's directory.
        run_dir: Option<Cow<'a, str>>,
    }
}

impl LineBody for RetryStart<'_> {
    const SUBTYPE: Subtype = Subtype::Start;
}
