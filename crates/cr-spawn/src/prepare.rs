//! What a run needs before it can begin: a prompt, an id, a run directory.

use std::fs;
use std::io::{self, Read};

use anyhow::{Context, anyhow};
use cr_io::{Exit, message};
use cr_rundir::{RunDir, RunId, StateDir, Unsafe};

use crate::phases::DRAIN_TIMEOUT;
use crate::record::millis;
use cr_agent::AgentOptions;
use cr_stream::Limits;

/// The prompt when a session is resumed without one.
pub(crate) const RESUME_PROMPT: &str = "Continue from where you left off";

pub(crate) fn prompt(options: &AgentOptions) -> anyhow::Result<Vec<u8>> {
    let is_given = options.prompt.is_some() || options.prompt_file.is_some();
    if options.session.is_stream() && !is_given {
        // The messages come later.
        return Ok(Vec::new());
    }
    let text = match (&options.prompt, &options.prompt_file) {
        (Some(text), _) => text.clone().into_bytes(),
        (None, Some(path)) => {
            let shown = || path.display().to_string();
            fs::read(path).with_context(shown).context(Exit::NoInput)?
        }
        (None, None) => {
            let mut text = Vec::new();
            let read = io::stdin().lock().read_to_end(&mut text);
            read.context("standard input").context(Exit::NoInput)?;
            text
        }
    };
    if !text.trim_ascii().is_empty() {
        return Ok(text);
    }
    if options.resumes_session() {
        return Ok(RESUME_PROMPT.into());
    }
    Err(anyhow!("the prompt is empty").context(Exit::Usage))
}

pub(crate) fn run_id() -> anyhow::Result<RunId> {
    let given = RunId::given().context("CR_RUN_ID").context(Exit::Config)?;
    Ok(given.unwrap_or_default())
}

/// The run directory. One that cannot be written does not stop the run; one that
/// is unsafe does.
pub(crate) fn run_dir(
    options: &AgentOptions,
    state: Option<&StateDir>,
    id: &RunId,
) -> anyhow::Result<Option<RunDir>> {
    if options.no_record {
        return Ok(None);
    }
    if let Some(path) = &options.run_dir {
        return RunDir::at(path).map(Some).map_err(refused);
    }
    let Some(state) = state else {
        note("not recorded: no state directory, because HOME is not set");
        return Ok(None);
    };
    match RunDir::create(state, id) {
        Ok(dir) => Ok(Some(dir)),
        Err(err) if err.downcast_ref::<Unsafe>().is_some() => Err(refused(err)),
        Err(err) => {
            note(&format!("not recorded: {}", message(&err)));
            Ok(None)
        }
    }
}

pub(crate) fn refused(err: anyhow::Error) -> anyhow::Error {
    let exit = match err.downcast_ref::<Unsafe>() {
        Some(_) => Exit::Config,
        None => Exit::Io,
    };
    err.context(exit)
}

pub(crate) fn no_isolation(err: io::Error) -> anyhow::Error {
    anyhow::Error::from(err)
        .context("--isolate: this system does not allow a process id namespace")
        .context(Exit::Config)
}

/// A note to the user. That it cannot be written is no reason to stop.
pub(crate) fn note(text: &str) {
    let _ = io::Write::write_all(&mut io::stderr(), format!("cr-spawn: {text}\n").as_bytes());
}

pub(crate) fn limits(options: &AgentOptions) -> Limits {
    let clock = |limit: std::time::Duration| (!limit.is_zero()).then(|| millis(limit));
    let clocks = &options.clocks;
    Limits {
        timeout_ms: clock(clocks.timeout),
        startup_timeout_ms: clock(clocks.startup_timeout),
        idle_timeout_ms: clock(clocks.idle_timeout),
        tool_timeout_ms: clock(clocks.tool_timeout),
        turn_timeout_ms: clock(clocks.turn_timeout),
        post_result_grace_ms: clock(clocks.post_result_grace),
        grace_ms: Some(millis(clocks.grace)),
        drain_ms: Some(millis(DRAIN_TIMEOUT)),
        max_turns: (options.max_turns > 0).then_some(options.max_turns),
        max_budget_usd: (options.max_budget > 0.0).then_some(options.max_budget),
        max_line: Some(options.max_line as u64),
        max_record: (options.max_record > 0).then_some(options.max_record),
    }
}
