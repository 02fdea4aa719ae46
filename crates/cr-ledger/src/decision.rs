//! What `cr-ledger next` prints.

use jiff::Timestamp;
use serde::Serialize;

use crate::quota::Window;
use crate::spending::BudgetState;

/// The JSON Schema of a decision.
pub(crate) const SCHEMA: &str = include_str!("../next.schema.json");

/// What to do next with a session, and why.
#[derive(Debug, Serialize)]
pub(crate) struct Decision {
    /// What to do: `resume` the session; `refresh`: go on in a new session, with a
    /// handoff; `wait` until the account may go on; `stop`, because a budget is
    /// exhausted or a person must act.
    ///
    /// Values: `resume`, `refresh`, `wait`, `stop`
    /// Example: `"resume"`
    pub(crate) action: &'static str,
    /// One sentence: why.
    ///
    /// Example: `"The context is 42 % full, and the prompt cache has it until 2026-11-18T03:21:12Z."`
    pub(crate) why: String,
    /// The session.
    ///
    /// Example: `"80f8ae6e-b027-4253-8e9c-1ffd717366a1"`
    pub(crate) session_id: String,
    /// The command for it, for a shell. For `refresh` it prints the handoff, with
    /// which the first prompt of the new session begins; for a session that is
    /// running it sends standard input as a message.
    ///
    /// Null: for `wait` and `stop`.
    /// Example: `"cd /home/dev/repo && claude-runner --resume 80f8ae6e-b027-4253-8e9c-1ffd717366a1"`
    pub(crate) command: Option<String>,
    /// When it is worth asking again.
    ///
    /// Null: except for `wait`.
    /// Example: `"2026-11-18T22:00:00Z"`
    pub(crate) until: Option<Timestamp>,
    /// How full the context is, by the thresholds. With `emergency` the next task
    /// may fail without a refresh.
    ///
    /// Null: if the context or its window is not known.
    /// Values: `ok`, `warning`, `refresh`, `emergency`
    /// Example: `"ok"`
    pub(crate) level: Option<&'static str>,
    /// The context of the session.
    pub(crate) context: Context,
    /// The prompt cache.
    ///
    /// Null: if no time of a message is known.
    pub(crate) cache: Option<Cache>,
    /// What the context of the next task costs: resumed, and in a new session.
    pub(crate) price: Price,
    /// The last compaction of the context.
    ///
    /// Null: if there was none.
    pub(crate) compaction: Option<Compaction>,
    /// Of the budgets that count for this session, the one that is used most.
    ///
    /// Null: without a budget.
    pub(crate) budget: Option<BudgetState>,
    /// The usage windows of the account.
    ///
    /// Null: if no run has reported one; an API key has none.
    /// Example: `[]`
    pub(crate) quota: Option<Vec<Window>>,
}

/// How full the context is.
#[derive(Debug, Serialize)]
pub(crate) struct Context {
    /// Tokens in use.
    ///
    /// Null: if that is not known.
    /// Example: `84210`
    pub(crate) used: Option<u64>,
    /// The size of the window.
    ///
    /// Null: if that is not known.
    /// Example: `200000`
    pub(crate) window: Option<u64>,
    /// What says so: a run of this session, the last run with the same model,
    /// `--context-window`, or the agent itself.
    ///
    /// Null: if it is not known.
    /// Values: `session`, `model`, `flag`, `cli`
    /// Example: `"session"`
    pub(crate) window_source: Option<&'static str>,
    /// The part in use, rounded down.
    ///
    /// Null: if one of the two is not known.
    /// Example: `42`
    pub(crate) percent: Option<u64>,
    /// When the context was so.
    ///
    /// Null: if that is not known.
    /// Example: `"2026-11-18T03:16:12.87Z"`
    pub(crate) at: Option<Timestamp>,
    /// What says so: the last message of a log, the last run, a compaction after
    /// both, or, with `--live`, the agent itself.
    ///
    /// Null: if `used` was never known.
    /// Values: `message`, `run`, `compaction`, `cli`
    /// Example: `"message"`
    pub(crate) source: Option<&'static str>,
    /// Where the agent compacts the context by itself.
    ///
    /// Null: unless the agent was asked with `--live` and says it.
    /// Example: `967000`
    pub(crate) auto_compact_at: Option<u64>,
    /// The model.
    ///
    /// Null: if that is not known.
    /// Example: `"claude-sonnet-5-5"`
    pub(crate) model: Option<String>,
}

/// The prompt cache.
#[derive(Debug, Serialize)]
pub(crate) struct Cache {
    /// How long it keeps what was written last; five minutes if nothing says it.
    ///
    /// Values: `5m`, `1h`
    /// Example: `"5m"`
    pub(crate) ttl: &'static str,
    /// When it loses the context.
    ///
    /// Null: after a compaction, whose context it does not have.
    /// Example: `"2026-11-18T03:21:12.87Z"`
    pub(crate) expires_at: Option<Timestamp>,
    /// Whether it still has the context.
    ///
    /// Example: `true`
    pub(crate) is_warm: bool,
}

/// What the next task costs, without what it adds itself.
#[derive(Debug, Serialize)]
pub(crate) struct Price {
    /// The calls of the model that a task is taken to have.
    ///
    /// Example: `12`
    pub(crate) calls: u64,
    /// What says so: the median of this session's tasks, of the project's, or nothing.
    ///
    /// Values: `session`, `project`, `default`
    /// Example: `"session"`
    pub(crate) calls_source: &'static str,
    /// Dollars, if the session is resumed: each call reads its context from the
    /// cache; if that has expired, the first call writes all of it again.
    ///
    /// Null: if the price of the model or the context is not known.
    /// Example: `0.258`
    pub(crate) resume_usd: Option<f64>,
    /// Dollars, in a new session.
    ///
    /// Null: as above, and if no first call is known.
    /// Example: `0.095`
    pub(crate) refresh_usd: Option<f64>,
    /// The tokens that a new session begins with: what the first call of this
    /// session sent, a handoff of 2,048 tokens, and what the first task of this
    /// session read in beyond what its later ones did (if it has one task, the
    /// median of the project's sessions).
    ///
    /// Null: if no first call is known.
    /// Example: `22048`
    pub(crate) refresh_tokens: Option<u64>,
}

/// A compaction of the context.
#[derive(Debug, Serialize)]
pub(crate) struct Compaction {
    /// When it was.
    ///
    /// Null: never.
    /// Example: `"2026-11-18T03:15:40.12Z"`
    pub(crate) at: Option<Timestamp>,
    /// What caused it: `auto` or `manual`.
    ///
    /// Null: if that is not known.
    /// Example: `"auto"`
    pub(crate) trigger: Option<String>,
    /// Tokens before it.
    ///
    /// Null: if that is not known.
    /// Example: `152000`
    pub(crate) pre_tokens: Option<u64>,
    /// Tokens after it.
    ///
    /// Null: if that is not known.
    /// Example: `2712`
    pub(crate) post_tokens: Option<u64>,
    /// The agent compacted the context by itself before it reached the threshold of
    /// a refresh.
    ///
    /// Example: `true`
    pub(crate) is_before_refresh: bool,
}
