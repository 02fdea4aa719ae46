//! What is known of an input apart from its bytes.

use std::rc::Rc;

use super::agent_logs::AgentLogs;

/// What is known of an input apart from its bytes.
#[derive(Clone, Debug, Default)]
pub struct InputOptions {
    /// Its name, where there are several.
    pub name: Option<String>,
    /// Whether lines arrive as they happen; then nothing is held back while
    /// the input is empty.
    pub live: bool,
    /// Whether another input came before; its text in a file is kept.
    pub follows: bool,
    /// The subagents whose own logs are inputs too.
    pub agent_logs: Rc<AgentLogs>,
}
