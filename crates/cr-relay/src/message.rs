//! The contents of the frames that are JSON.

use anyhow::Context;
use cr_io::Exit;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The near end's first frame.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Hello {
    pub(crate) protocol: u32,
    pub(crate) version: String,
    /// The run, which names the attempt at the far end.
    pub(crate) run_id: String,
    /// The root commit of the repository, which names its copy at the far end.
    pub(crate) root: String,
    /// The commit that the agent begins with.
    pub(crate) base: String,
    pub(crate) lease_ms: u64,
    /// What the attempt is about, so that no other one is taken for it.
    pub(crate) digest: String,
}

/// The far end's answer.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Ready {
    /// The attempt is known: its stream and its work follow.
    pub(crate) is_known: bool,
    /// Commits that need not be sent.
    pub(crate) have: Vec<String>,
}

/// The beginning of the agent.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Start {
    /// The length and the SHA-256 of the bundle; none if nothing was missing.
    pub(crate) bundle: Option<Digest>,
    /// The length and the SHA-256 of the prompt.
    pub(crate) prompt: Digest,
    /// The branch to check out; none is a detached HEAD.
    pub(crate) branch: Option<String>,
    /// The directory in the repository, with a slash at its end, or empty.
    pub(crate) prefix: String,
    /// Options of cr-spawn.
    pub(crate) options: Vec<String>,
    /// How long the agent has between SIGTERM and SIGKILL.
    pub(crate) grace_ms: u64,
    /// A text to append to the system prompt.
    pub(crate) system_prompt: Option<String>,
    /// Variables for the agent.
    pub(crate) env: Vec<(String, String)>,
    /// Settings of git: who commits.
    pub(crate) identity: Vec<(String, String)>,
}

/// Bytes that are sent in parts.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub(crate) struct Digest {
    pub(crate) bytes: u64,
    pub(crate) sha256: String,
}

/// What became of the work. It is also in the records of both ends.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Work {
    /// The machine.
    pub(crate) host: String,
    /// The work directory there.
    pub(crate) dir: String,
    /// The exit code of cr-spawn.
    pub(crate) code: u8,
    /// HEAD before and after.
    pub(crate) base: String,
    pub(crate) head: String,
    /// New commits, on all branches.
    pub(crate) commits: u64,
    /// What follows; none if there is no new commit.
    pub(crate) bundle: Option<Digest>,
    /// Files that were changed and not committed; the first of them. They stay in
    /// the work directory, which is kept for them.
    pub(crate) uncommitted: Vec<String>,
    pub(crate) uncommitted_total: u64,
}

/// Why the far end does not begin.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Refused {
    /// 75, or 125 to 127 as for an agent that could not be started.
    pub(crate) code: u8,
    pub(crate) text: String,
}

/// A signal for the agent's supervisor.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Stop {
    pub(crate) signal: i32,
}

/// That all has arrived.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Done {
    pub(crate) is_complete: bool,
}

pub(crate) fn encode(message: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(message).unwrap_or_default()
}

pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> anyhow::Result<T> {
    serde_json::from_slice(bytes)
        .context("a message of the relay cannot be read")
        .context(Exit::Data)
}
