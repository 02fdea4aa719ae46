//! A session that is running: the agent itself says how full its context is.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, anyhow};
use cr_config::Config;
use cr_control::{Client, REPLY_TIMEOUT};
use cr_rundir::{ContextUse, ControlOperation, ControlRequest, RunDir, file, runs_in};

/// What the agent says.
#[derive(Debug)]
pub(crate) struct Live {
    /// The run that the session is in.
    pub(crate) run: String,
    pub(crate) context: ContextUse,
}

/// Asks the agent; `None` if no run of the session is going on.
pub(crate) fn ask(config: &Config, session: &str) -> anyhow::Result<Option<Live>> {
    let runs = config.state_dir()?.path().join(file::RUNS);
    let mut running = runs_in(&runs)
        .into_iter()
        .filter(|run| !run.state().is_over());
    let Some(run) = running.find(|run| run.session().as_deref() == Some(session)) else {
        return Ok(None);
    };
    let id = run.id();
    // A run with --retry has its socket in its current attempt.
    let dir = run.current_attempt().map_or(run.dir, |attempt| attempt.dir);
    let context = request(&dir).with_context(|| id.clone())?;
    Ok(Some(Live { run: id, context }))
}

fn request(dir: &Path) -> anyhow::Result<ContextUse> {
    let mut client = Client::connect(&RunDir::existing(dir)?, REPLY_TIMEOUT)?;
    let request = ControlRequest::new(ControlOperation::Context);
    let reply = client.request(&request, Some(Instant::now() + REPLY_TIMEOUT))?;
    if !reply.ok {
        let error = reply.error.unwrap_or_default();
        return Err(anyhow!("refused: {}", cr_io::sanitized(&error)));
    }
    let data = reply.data.as_ref().map_or("{}", |data| data.get());
    serde_json::from_str(data).context("the reply cannot be read")
}
