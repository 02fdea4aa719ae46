//! The open calls of a stream, and the agents that they began.

use std::borrow::Cow;
use std::collections::HashMap;

use cr_event::{Event, Text, ToolUse};

/// Calls remembered at once. An agent has a few open; a stream whose results
/// never come must not take all memory.
const MOST: usize = 10_000;

/// A call whose result has not come.
#[derive(Clone, Debug)]
pub(crate) struct OpenCall {
    pub(crate) label: Cow<'static, str>,
    pub(crate) target: String,
    /// A command, which may report a commit.
    pub(crate) is_shell: bool,
    /// A `[branch sha]` in its output is from git.
    pub(crate) may_commit: bool,
    /// The seconds at which it was last shown as running.
    pub(crate) shown_at: u64,
}

/// The agents and open calls of a stream.
#[derive(Debug, Default)]
pub(crate) struct OpenCalls {
    calls: HashMap<Vec<u8>, OpenCall>,
    /// How many of them are commands.
    shells: usize,
    /// Agents by the call that began them.
    agents: HashMap<Vec<u8>, Agent>,
}

/// An agent.
#[derive(Debug)]
struct Agent {
    /// The depth of its own lines.
    depth: usize,
    /// The name that others send messages to, else what it does.
    name: String,
}

impl OpenCalls {
    /// How many agents deep the line is.
    pub(crate) fn depth(&self, event: &Event<'_>) -> usize {
        match event.parent {
            Some(parent) => self.agents.get(parent.bytes()).map_or(1, |it| it.depth),
            None => usize::from(event.is_sidechain),
        }
    }

    pub(crate) fn open(&mut self, id: Text<'_>, call: OpenCall) {
        if self.calls.len() == MOST {
            self.calls.clear();
            self.shells = 0;
        }
        self.shells += usize::from(call.is_shell);
        if let Some(before) = self.calls.insert(id.bytes().to_vec(), call) {
            self.shells -= usize::from(before.is_shell);
        }
    }

    /// The call begins an agent whose lines are at `depth`.
    pub(crate) fn begin_agent(&mut self, call: &ToolUse<'_>, depth: usize) {
        if self.agents.len() == MOST {
            self.agents.clear();
        }
        let text = |key| call.input?.get(key)?.text();
        let name = text("name").or_else(|| text("description"));
        let name = name.map_or_else(String::new, |name| name.prefix(100).into_owned());
        let agent = Agent { depth, name };
        self.agents.insert(call.id.bytes().to_vec(), agent);
    }

    /// The name of the agent that the call `id` began.
    pub(crate) fn agent_name(&self, id: Text<'_>) -> &str {
        let agent = self.agents.get(id.bytes());
        agent.map_or("agent", |agent| &agent.name)
    }

    pub(crate) fn get(&mut self, id: &[u8]) -> Option<&mut OpenCall> {
        self.calls.get_mut(id)
    }

    pub(crate) fn close(&mut self, id: &[u8]) -> Option<OpenCall> {
        let call = self.calls.remove(id)?;
        self.shells -= usize::from(call.is_shell);
        Some(call)
    }

    pub(crate) fn any_shell_open(&self) -> bool {
        self.shells > 0
    }

    pub(crate) fn none_open(&self) -> bool {
        self.calls.is_empty()
    }
}
