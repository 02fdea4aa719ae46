//! The agent's options of an attempt: from a task of a plan, or from a command
//! line, with what the attempt changes.

use std::collections::BTreeMap;
use std::ffi::OsString;

use anyhow::anyhow;
use clap::Parser;
use cr_agent::AgentOptions;
use cr_io::Exit;
use cr_verdict::policy;

use crate::attempt::Limits;
use crate::task::Task;

/// Settings that a plan's defaults have taken from the configuration already.
const SETTLED_IN_TASK: [&str; 5] = [
    "model",
    "max_turns",
    "max_budget",
    "permission_mode",
    "timeout",
];

/// The options for the agent of `task`, with what the configuration says beside.
pub(crate) fn of_task(
    task: &Task,
    configured: &BTreeMap<&'static str, String>,
) -> anyhow::Result<AgentOptions> {
    let mut options = AgentOptions::defaults();
    for setting in cr_config::SETTINGS
        .iter()
        .filter(|setting| setting.flag.is_some())
    {
        let value = configured.get(setting.key);
        if let Some(value) = value.filter(|_| !SETTLED_IN_TASK.contains(&setting.key)) {
            let set = options.set(setting.key, value);
            set.map_err(|text| anyhow!(text).context(Exit::Config))?;
        }
    }
    Ok(with_task(options, task))
}

/// `options` with what `task` says itself.
pub(crate) fn with_task(mut options: AgentOptions, task: &Task) -> AgentOptions {
    options.name = Some(task.id.clone());
    options.model.clone_from(&task.model);
    options.json_schema.clone_from(&task.schema);
    options.permission_mode.clone_from(&task.permission_mode);
    options.rest = task.claude_args.iter().map(OsString::from).collect();
    if !task.allowed_tools.is_empty() {
        options.allowed_tools.clone_from(&task.allowed_tools);
    }
    if task.system_prompt.is_some() {
        options.system_prompt.clone_from(&task.system_prompt);
        options.system_prompt_file = None;
    }
    let variable = std::env::var_os("CR_PERMISSION_MODE");
    let is_set = variable.is_some_and(|mode| !mode.is_empty());
    // Without a person the agent cannot ask for permission.
    options.dangerously_skip_permissions = task.permission_mode.is_none() && !is_set;
    options
}

/// The options of attempt `number`, of those that the user gave. One that
/// continues takes over from the attempt before it, in whatever session.
pub(crate) fn of_command_line(
    given: AgentOptions,
    number: u32,
    is_continuing: bool,
) -> AgentOptions {
    let mut options = given;
    // One file for the stream of all attempts; the engine writes it.
    options.output_file = None;
    // The record of an attempt is what the relay reads.
    options.max_record = 0;
    if number > 1 {
        options.session_id = None;
    }
    if is_continuing {
        options.resume = None;
        options.continue_last = false;
        options.fork_session = false;
    }
    options
}

/// Sets what an attempt may use.
pub(crate) fn set_limits(options: &mut AgentOptions, limits: Limits) {
    let limits = policy::Limits::from(limits);
    options.max_turns = limits.max_turns.unwrap_or(0);
    options.max_budget = limits.budget_usd.unwrap_or(0.0);
    let clocks = &mut options.clocks;
    clocks.timeout = limits.timeout.unwrap_or_default();
    for (clock, raised) in [
        (&mut clocks.startup_timeout, limits.startup),
        (&mut clocks.idle_timeout, limits.idle),
        (&mut clocks.tool_timeout, limits.tool),
        (&mut clocks.turn_timeout, limits.turn),
    ] {
        *clock = raised.unwrap_or(*clock);
    }
}

/// Options that an older version recorded as arguments of cr-spawn.
pub(crate) fn of_arguments(arguments: &[String]) -> anyhow::Result<AgentOptions> {
    let name = std::iter::once("cr-spawn");
    let arguments = name.chain(arguments.iter().map(String::as_str));
    AgentOptions::try_parse_from(arguments)
        .map_err(|err| anyhow!(err.to_string()).context(Exit::Config))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argv(options: &AgentOptions) -> Vec<String> {
        let argv = options.to_argv().into_iter();
        argv.map(|arg| arg.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_task_comes_before_the_configuration() {
        let configured = BTreeMap::from([
            ("allowed_tools", "Read".to_owned()),
            ("system_prompt_file", "/s".to_owned()),
            ("idle_timeout", "7m".to_owned()),
            ("model", "old".to_owned()),
        ]);
        let mut task = Task {
            id: "a".to_owned(),
            ..Task::default()
        };
        let options = of_task(&task, &configured).expect("options");
        let arguments = argv(&options);
        for given in [
            "--allowed-tools=Read",
            "--system-prompt-file=/s",
            "--name=a",
        ] {
            assert!(arguments.iter().any(|arg| arg == given), "{arguments:?}");
        }
        assert_eq!(options.clocks.idle_timeout.as_secs(), 420);
        assert_eq!(options.model, None);
        task.allowed_tools = vec!["Bash(git *)".to_owned()];
        task.system_prompt = Some("--x".to_owned());
        task.permission_mode = Some("plan".to_owned());
        let options = of_task(&task, &configured).expect("options");
        assert_eq!(options.allowed_tools, task.allowed_tools);
        assert_eq!(options.system_prompt_file, None);
        assert!(!options.dangerously_skip_permissions);
    }

    #[test]
    fn an_attempt_that_continues_has_the_session_of_the_one_before() {
        let id = "11111111-1111-4111-8111-111111111111";
        let given = [
            format!("--session-id={id}"),
            "--resume=x".to_owned(),
            "--fork-session".to_owned(),
            "--output-file=o".to_owned(),
            "--model=m".to_owned(),
        ];
        let given = of_arguments(&given).expect("options");
        // (attempt, whether it continues, its session options)
        for (number, is_continuing, session_id, resume) in [
            (1, false, Some(id), Some("x")),
            (2, false, None, Some("x")),
            (2, true, None, None),
        ] {
            let options = of_command_line(given.clone(), number, is_continuing);
            assert_eq!(options.session_id.as_deref(), session_id, "{number}");
            assert_eq!(options.resume.as_deref(), resume, "{number}");
            assert_eq!(options.fork_session, !is_continuing, "{number}");
            assert_eq!((options.output_file, options.max_record), (None, 0));
            assert_eq!(options.model.as_deref(), Some("m"));
        }
    }

    #[test]
    fn only_clocks_that_were_raised_change() {
        let mut options = AgentOptions::defaults();
        let before = options.clocks.clone();
        let limits: Limits =
            serde_json::from_str(r#"{"max_turns":5,"timeout":null,"idle":2.5}"#).expect("limits");
        set_limits(&mut options, limits);
        assert_eq!((options.max_turns, options.max_budget), (5, 0.0));
        assert_eq!(options.clocks.timeout.as_secs(), 0);
        assert_eq!(options.clocks.idle_timeout.as_millis(), 2500);
        assert_eq!(options.clocks.tool_timeout, before.tool_timeout);
    }
}
