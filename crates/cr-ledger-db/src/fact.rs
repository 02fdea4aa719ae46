//! Facts from a session log.

/// The beginning of a log: what its later lines do not repeat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionHead<'a> {
    /// The session that the log belongs to.
    pub session: &'a str,
    /// The directory of the agent.
    pub project: &'a str,
    /// The version of the agent.
    pub cli_version: &'a str,
    /// The first time in the log, in milliseconds.
    pub first_at: Option<i64>,
    /// The last one.
    pub last_at: Option<i64>,
}

/// A line with an answer of the model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Message<'a> {
    /// The id of the answer.
    pub message_id: &'a str,
    /// The request that it answers; empty if the line does not name it.
    pub request_id: &'a str,
    /// The session whose log has the line.
    pub session: &'a str,
    /// The subagent; empty for the main thread.
    pub agent: &'a str,
    /// The directory of the agent.
    pub project: &'a str,
    /// The model.
    pub model: &'a str,
    /// The time of its first line, in milliseconds.
    pub at: i64,
    /// That of its last line.
    pub last_at: i64,
    /// The id of the last line.
    pub uuid: &'a str,
    /// The answer came to its end.
    pub is_final: bool,
    /// The line says that it is a copy from another session.
    pub is_fork: bool,
    /// The line is one of a side chain. It does not count if the main thread has
    /// a message of the same id.
    pub is_sidechain: bool,
    /// The first time in the log that has the line: of two sessions that have a
    /// message, the older one counts it.
    pub log_began_at: i64,
    /// Tokens.
    pub input: u64,
    /// Tokens.
    pub output: u64,
    /// Tokens.
    pub cache_read: u64,
    /// Tokens.
    pub cache_creation: u64,
    /// The part of them that is kept for five minutes, if the line says it.
    pub cache_creation_5m: Option<u64>,
    /// The part that is kept for an hour.
    pub cache_creation_1h: Option<u64>,
    /// What the line itself says that it cost.
    pub cost_usd: Option<f64>,
}

/// A call of a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolCall<'a> {
    /// The id of the call.
    pub tool_use_id: &'a str,
    /// The tool.
    pub name: &'a str,
    /// The directory of the agent.
    pub project: &'a str,
    /// When, in milliseconds.
    pub at: i64,
}

/// What a session has used so far of one model, as the agent itself says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ModelTotal<'a> {
    /// The model.
    pub model: &'a str,
    /// Tokens.
    pub input: u64,
    /// Tokens.
    pub output: u64,
    /// Tokens.
    pub cache_read: u64,
    /// Tokens.
    pub cache_creation: u64,
    /// Dollars.
    pub cost_usd: f64,
}

/// A compaction of the main thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compaction<'a> {
    /// The session.
    pub session: &'a str,
    /// When, in milliseconds.
    pub at: i64,
    /// `auto` or `manual`; empty if that is not known.
    pub trigger: &'a str,
    /// Tokens before it.
    pub pre_tokens: Option<u64>,
    /// Tokens after it.
    pub post_tokens: Option<u64>,
}

/// A model's name without the mark of a larger window, such as `[1m]`: the same
/// model is called so in one place and not in another.
pub(crate) fn model_name(model: &str) -> &str {
    match model.split_once('[') {
        Some((name, _)) if !name.is_empty() && model.ends_with(']') => name,
        _ => model,
    }
}

/// A count as the database has it. No real one is larger than the limit; it keeps
/// sums of wrong ones from an overflow.
pub(crate) fn count(number: u64) -> i64 {
    const LARGEST: i64 = 1_000_000_000_000;
    i64::try_from(number).map_or(LARGEST, |number| number.min(LARGEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_of_a_window_is_no_part_of_a_models_name() {
        let cases = [
            ("claude-opus-5-5[1m]", "claude-opus-5-5"),
            ("claude-opus-5-5", "claude-opus-5-5"),
            ("[1m]", "[1m]"),
            ("a[b]c", "a[b]c"),
        ];
        for (model, name) in cases {
            assert_eq!(model_name(model), name);
        }
    }
}
