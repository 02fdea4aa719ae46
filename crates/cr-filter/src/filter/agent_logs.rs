//! Subagents whose own logs are among the inputs.
//!
//! The `progress` lines of a session's log carry messages of its subagents. The
//! own log of a subagent has all of them: where it is read too, it is the one
//! that is shown, whatever the order of the inputs.

use std::collections::HashSet;
use std::io::Read;

use cr_event::{Event, Text, strip};
use cr_io::Input;

/// Bytes of a file that are read to find the subagent that wrote it.
const HEAD: u64 = 64 << 10;

/// The ids of the subagents.
#[derive(Debug, Default)]
pub struct AgentLogs(HashSet<String>);

impl AgentLogs {
    /// Looks into the beginning of each file, where there are several.
    pub(crate) fn among(inputs: &[Input]) -> Self {
        let files = inputs.iter().filter(|_| inputs.len() > 1);
        Self(files.filter_map(agent_of).collect())
    }

    /// Whether the subagent's own log is among the inputs.
    pub(crate) fn has(&self, agent: Option<Text<'_>>) -> bool {
        !self.0.is_empty() && agent.is_some_and(|agent| self.0.contains(&*agent.decode()))
    }
}

/// The subagent that the first line of its own log names.
fn agent_of(input: &Input) -> Option<String> {
    let Input::File(_) = input else {
        return None;
    };
    // What is read from a pipe cannot be read again. An error is reported when it
    // is the file's turn.
    let opened = input.open().ok().filter(|opened| !opened.is_live())?;
    let mut head = Vec::new();
    opened.take(HEAD).read_to_end(&mut head).ok()?;
    let mut lines = head.split(|&b| b == b'\n').map(strip);
    let first = lines.find(|line| !line.is_empty())?;
    let event = Event::parse(first).ok()?;
    Some(event.agent_of_log()?.decode().into_owned())
}
