//! The list of every setting.

/// What a value must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Text without control characters.
    Text,
    /// A whole number, at least 0.
    Count,
    /// Dollars, at least 0.
    Money,
    /// Seconds, or `2h30m`.
    Time,
    /// Text, or a list of texts.
    List,
    /// An absolute path, or one below the home directory.
    Path,
    /// A program: a path, or a name to look up in the PATH.
    Program,
    /// One of the forms of output.
    Output,
    /// A bound of the turns of a task.
    Turns,
    /// A part of the whole, from 0 to 1.
    Part,
    /// The time of a task: at least a minute.
    TaskTime,
}

/// One setting.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Its key in the configuration file.
    pub key: &'static str,
    pub(crate) kind: Kind,
    /// Its value when nobody has set it; empty is none.
    pub default: &'static str,
    /// The environment variable that overrides the file.
    pub variable: Option<&'static str>,
    /// The option of `cr-spawn` and `claude-runner` that it sets, without dashes,
    /// if it is an option of the agent. `cr_agent::AgentOptions::set` takes its
    /// key.
    pub flag: Option<&'static str>,
}

impl Setting {
    const fn new(key: &'static str, kind: Kind, default: &'static str) -> Self {
        Self {
            key,
            kind,
            default,
            variable: None,
            flag: None,
        }
    }

    const fn flag(mut self, flag: &'static str) -> Self {
        self.flag = Some(flag);
        self
    }

    const fn variable(mut self, name: &'static str) -> Self {
        self.variable = Some(name);
        self
    }
}

/// The key of the table of turns by type of task, which is not in [`SETTINGS`]:
/// its entries have values and sources of their own.
pub(crate) const TURNS_BY_TYPE: &str = "turns_by_type";

/// Every setting with one value, in the order in which they are shown.
#[rustfmt::skip]
pub const SETTINGS: [Setting; 31] = [
    Setting::new("model",              Kind::Text,    "sonnet").flag("model"),
    Setting::new("fallback_model",     Kind::Text,    "").flag("fallback-model"),
    Setting::new("max_turns",          Kind::Count,   "100").flag("max-turns"),
    Setting::new("max_budget",         Kind::Money,   "0").flag("max-budget"),
    Setting::new("allowed_tools",      Kind::List,    "").flag("allowed-tools"),
    Setting::new("disallowed_tools",   Kind::List,    "").flag("disallowed-tools"),
    Setting::new("system_prompt_file", Kind::Path,    "").flag("system-prompt-file"),
    Setting::new("permission_mode",    Kind::Text,    "bypassPermissions").flag("permission-mode").variable("CR_PERMISSION_MODE"),
    Setting::new("timeout",            Kind::Time,    "0").flag("timeout"),
    Setting::new("startup_timeout",    Kind::Time,    "2m").flag("startup-timeout"),
    Setting::new("idle_timeout",       Kind::Time,    "15m").flag("idle-timeout"),
    Setting::new("tool_timeout",       Kind::Time,    "1h").flag("tool-timeout"),
    Setting::new("turn_timeout",       Kind::Time,    "0").flag("turn-timeout"),
    Setting::new("post_result_grace",  Kind::Time,    "30s").flag("post-result-grace"),
    Setting::new("grace",              Kind::Time,    "10s").flag("grace"),
    Setting::new("claude",             Kind::Program, "claude").flag("claude").variable("CR_CLAUDE"),
    Setting::new("state_dir",          Kind::Path,    "").variable("CR_STATE_DIR"),
    Setting::new("ledger",             Kind::Path,    "").variable("CR_LEDGER"),
    Setting::new("machine",            Kind::Text,    "").variable("CR_MACHINE"),
    Setting::new("output",             Kind::Output,  "report"),
    Setting::new("limit",              Kind::Count,   "20000"),
    Setting::new("keep_for",           Kind::Time,    "30d"),
    Setting::new("keep_bytes",         Kind::Count,   "5000000000"),
    Setting::new("prices",             Kind::Path,    ""),
    Setting::new("task_timeout",       Kind::TaskTime, "2h"),
    Setting::new("context_warn",       Kind::Part,    "0.70"),
    Setting::new("context_refresh",    Kind::Part,    "0.80"),
    Setting::new("context_emergency",  Kind::Part,    "0.95"),
    Setting::new("summarizer",         Kind::Text,    ""),
    Setting::new("turns_min",          Kind::Turns,   "3"),
    Setting::new("turns_max",          Kind::Turns,   "30"),
];
