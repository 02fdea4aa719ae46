//! Facts that every part of a run may use.

use cr_agent::AgentOptions;
use cr_io::Redactor;
use cr_rundir::RunDir;

/// The run that a part belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    pub(crate) options: &'a AgentOptions,
    pub(crate) run_id: &'a str,
    pub(crate) redactor: &'a Redactor,
    pub(crate) run_dir: Option<&'a RunDir>,
    /// The agent's directory.
    pub(crate) cwd: &'a std::path::Path,
}
