//! How full the model's context is.
//!
//! Only the last message of the main thread shows it: a sum over calls counts the
//! cached prefix once for each call, and a subagent has its own context.

use cr_event::{Event, Raw, Text, TurnEnd, Usage};

/// Models whose windows are remembered.
const MODELS: usize = 64;

/// Bytes of a time; the longest spelling of a moment is far shorter.
const TIME: usize = 64;

/// How long the prompt cache keeps what a message wrote to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheTtl {
    /// Five minutes.
    Minutes,
    /// An hour.
    Hour,
}

impl CacheTtl {
    /// As the CLI and the summary name it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Minutes => "5m",
            Self::Hour => "1h",
        }
    }

    fn of_usage(usage: Usage) -> Option<Self> {
        match (usage.cache_5m, usage.cache_1h) {
            (_, 1..) => Some(Self::Hour),
            (1.., 0) => Some(Self::Minutes),
            (0, 0) => None,
        }
    }

    fn of_request(word: Text<'_>) -> Option<Self> {
        let all = [Self::Minutes, Self::Hour];
        all.into_iter().find(|ttl| word.is(ttl.as_str()))
    }
}

/// How full the main thread's context is.
#[derive(Debug, Default)]
pub struct ContextUse {
    /// The model as the banner has it, with a suffix such as `[1m]`.
    banner: Option<String>,
    model: Option<String>,
    last: Option<Last>,
    /// Of the last result; those it used itself come first.
    windows: Vec<Window>,
    /// The time of the last message, as it is in the line.
    last_at: String,
    /// Of the last message that wrote to the cache.
    written_ttl: Option<CacheTtl>,
    /// As the last line of a log that says it.
    requested_ttl: Option<CacheTtl>,
    /// Where the CLI compacts the conversation by itself.
    auto_compact: Option<u64>,
}

#[derive(Debug)]
struct Last {
    id: Option<u64>,
    sent: u64,
    /// Unknown until the call is over.
    output: Option<u64>,
}

#[derive(Clone, Debug)]
struct Window {
    model: String,
    size: Option<u64>,
    max_output: Option<u64>,
}

impl ContextUse {
    /// Takes the model of a turn's banner.
    pub(crate) fn banner(&mut self, model: Text<'_>) {
        self.banner = Some(model.prefix(256).into_owned());
    }

    /// Takes a message of the main thread. Its output counts once it is final.
    pub(crate) fn message(&mut self, id: Option<u64>, model: &str, usage: Usage, is_final: bool) {
        if self.model.as_deref() != Some(model) {
            self.model = Some(model.to_owned());
        }
        // A later line of the same message knows no less than an earlier one.
        let known = self
            .last
            .take()
            .filter(|last| id.is_some() && last.id == id);
        let output = known.and_then(|last| last.output);
        let output = if is_final { Some(usage.output) } else { output };
        let sent = usage.context();
        self.last = Some(Last { id, sent, output });
    }

    /// Takes the time of a message of the main thread, and how long the cache
    /// keeps it.
    pub(crate) fn kept(&mut self, event: &Event<'_>, usage: Usage) {
        self.last_at.clear();
        if let Some(at) = event.at.filter(|at| at.bytes().len() <= TIME) {
            self.last_at.push_str(&at.decode());
        }
        self.written_ttl = CacheTtl::of_usage(usage).or(self.written_ttl);
        if let Some(word) = event.cache_requested {
            self.requested_ttl = CacheTtl::of_request(word);
        }
    }

    /// Takes the answer to a question about the context; returns whether it is
    /// one.
    pub(crate) fn answer(&mut self, line: Raw<'_>) -> bool {
        let Some(answer) = line.at(&["response", "response"]) else {
            return false;
        };
        let Some(threshold) = answer.get("autoCompactThreshold") else {
            return false;
        };
        let is_enabled = answer.get("isAutoCompactEnabled").and_then(Raw::bool);
        self.auto_compact = threshold.u64().filter(|_| is_enabled != Some(false));
        true
    }

    /// Takes the output of a message that is over.
    pub(crate) fn end_message(&mut self, id: u64, output: u64) {
        if let Some(last) = self.last.as_mut().filter(|last| last.id == Some(id)) {
            last.output = Some(output);
        }
    }

    /// The conversation was replaced by one of `tokens`, if that is known.
    pub(crate) fn replaced(&mut self, tokens: Option<u64>) {
        self.last = tokens.map(|sent| Last {
            id: None,
            sent,
            output: None,
        });
    }

    /// Takes the windows that a result names.
    pub(crate) fn result(&mut self, end: &TurnEnd<'_>) {
        let recent = end.since_last().unwrap_or_default();
        let all = end.model_usage().unwrap_or_default();
        let told = recent.iter().chain(&all).map(|told| Window {
            model: told.model.prefix(256).into_owned(),
            size: told.context_window.filter(|&size| size > 0),
            max_output: told.max_output,
        });
        let told: Vec<_> = told.collect();
        self.windows.splice(..0, told);
        self.windows.truncate(MODELS);
    }

    /// The model that spoke last, else the banner's.
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref().or(self.banner.as_deref())
    }

    /// Tokens in use.
    pub fn used(&self) -> Option<u64> {
        let last = self.last.as_ref()?;
        Some(last.sent.saturating_add(last.output.unwrap_or(0)))
    }

    /// When the last message was, as its line says it.
    pub fn at(&self) -> Option<&str> {
        Some(&*self.last_at).filter(|at| !at.is_empty())
    }

    /// How long the prompt cache keeps it: as the last message says that wrote to
    /// the cache, else as a log says what was asked for.
    pub fn cache_ttl(&self) -> Option<CacheTtl> {
        self.written_ttl.or(self.requested_ttl)
    }

    /// The tokens at which the CLI compacts the conversation by itself.
    pub fn auto_compact_threshold(&self) -> Option<u64> {
        self.auto_compact
    }

    /// The size of the window.
    pub fn window(&self) -> Option<u64> {
        self.find()?.size
    }

    /// The most output tokens of one answer.
    pub fn max_output(&self) -> Option<u64> {
        self.find()?.max_output
    }

    /// The window of the model that spoke last. Results name it as the banner
    /// does, messages without the suffix.
    fn find(&self) -> Option<&Window> {
        let model = self.model.as_deref()?;
        let banner = self.banner.as_deref();
        let banner = banner.filter(|banner| is_window_of(banner, model));
        let named = |name: &str| self.windows.iter().find(|window| window.model == name);
        let bare = |window: &&Window| is_window_of(&window.model, model);
        banner
            .and_then(named)
            .or_else(|| self.windows.iter().find(bare))
    }
}

/// Whether a result's entry `name`, such as `opus[1m]`, is for the `model` that
/// messages name without a suffix.
pub fn is_window_of(name: &str, model: &str) -> bool {
    name.split('[').next() == Some(model)
}

/// The share of a window that is in use, in percent, rounded down; `None` for a
/// window of no size.
pub fn percent_used(used: u64, window: u64) -> Option<u64> {
    let percent = (u128::from(used) * 100).checked_div(window.into())?;
    Some(u64::try_from(percent).unwrap_or(u64::MAX))
}

/// The share of a window, in percent, above which there is a warning.
pub const CONTEXT_WARNING: u64 = 60;

/// Whether there is a warning: strictly above the mark, and before rounding.
pub fn is_nearly_full(used: u64, window: u64) -> bool {
    window > 0 && u128::from(used) * 100 > u128::from(window) * u128::from(CONTEXT_WARNING)
}
