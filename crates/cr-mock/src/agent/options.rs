//! The options of the real CLI that matter here; all others are ignored.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

/// Which of the two known releases to act as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// 2.1.326
    New,
    /// 2.1.197
    Old,
}

impl Dialect {
    /// The one that `CR_MOCK_VERSION` names; otherwise the newer.
    fn from_environment() -> Self {
        match env::var("CR_MOCK_VERSION").as_deref() {
            Ok("2.1.197") => Self::Old,
            _ => Self::New,
        }
    }

    pub(crate) fn is_new(self) -> bool {
        self == Self::New
    }

    pub(crate) fn version(self) -> &'static str {
        match self {
            Self::New => "2.1.326",
            Self::Old => "2.1.197",
        }
    }

    /// The model that is used if none is asked for.
    pub(crate) fn model(self) -> &'static str {
        match self {
            Self::New => "claude-opus-5-5",
            Self::Old => "claude-opus-4-8[1m]",
        }
    }

    /// The full name of a model.
    pub(crate) fn resolve(self, name: &str) -> String {
        match name {
            "default" => self.model().to_owned(),
            "opus" | "sonnet" | "haiku" => {
                let number = if self.is_new() { "5-5" } else { "4-8" };
                format!("claude-{name}-{number}")
            }
            full => full.to_owned(),
        }
    }
}

/// What the command line and the environment ask for.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of the CLI")]
pub(crate) struct Options {
    pub(crate) dialect: Dialect,
    pub(crate) wants_version: bool,
    /// Messages come as JSON lines; otherwise standard input is one prompt.
    pub(crate) reads_messages: bool,
    pub(crate) replays: bool,
    /// Permission questions go to standard output.
    pub(crate) asks: bool,
    pub(crate) tells_state: bool,
    /// Messages of other sessions are refused.
    pub(crate) refuses_peers: bool,
    pub(crate) session_id: Option<String>,
    pub(crate) resume: Option<String>,
    pub(crate) model: String,
    pub(crate) permission_mode: String,
    pub(crate) prompt: Option<String>,
    /// Where the session logs of all projects are.
    pub(crate) projects: PathBuf,
}

/// Options that take a value, as far as `cr-spawn` passes them. The value of an
/// unknown option would be taken for the prompt.
const WITH_VALUE: [&str; 18] = [
    "--output-format",
    "--input-format",
    "--session-id",
    "--resume",
    "-r",
    "--model",
    "--fallback-model",
    "--permission-mode",
    "--permission-prompt-tool",
    "--max-turns",
    "--max-budget-usd",
    "--json-schema",
    "--settings",
    "--append-system-prompt",
    "--append-system-prompt-file",
    "--system-prompt",
    "--system-prompt-file",
    "--mcp-config",
];

impl Options {
    pub(crate) fn parse(argv: &[OsString]) -> Self {
        let dialect = Dialect::from_environment();
        let mut options = Self {
            dialect,
            wants_version: false,
            reads_messages: false,
            replays: false,
            asks: false,
            tells_state: env::var_os("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS").is_some(),
            refuses_peers: false,
            session_id: None,
            resume: None,
            model: dialect.model().to_owned(),
            permission_mode: "default".to_owned(),
            prompt: None,
            projects: projects(),
        };
        let mut words = argv.iter().map(|word| word.to_string_lossy().into_owned());
        while let Some(word) = words.next() {
            match word.split_once('=') {
                Some((name, value)) if word.starts_with("--") => options.set(name, value),
                _ if WITH_VALUE.contains(&word.as_str()) => {
                    let value = words.next().unwrap_or_default();
                    options.set(&word, &value);
                }
                _ if word.starts_with('-') => options.switch(&word),
                _ => options.prompt = Some(word),
            }
        }
        options
    }

    fn set(&mut self, name: &str, value: &str) {
        match name {
            "--input-format" => self.reads_messages = value == "stream-json",
            "--session-id" => self.session_id = Some(value.to_owned()),
            "--resume" | "-r" => self.resume = Some(value.to_owned()),
            "--model" => self.model = self.dialect.resolve(value),
            "--permission-mode" => value.clone_into(&mut self.permission_mode),
            // Of several, the last counts.
            "--settings" => self.refuses_peers = refuses_peers(value),
            "--permission-prompt-tool" => self.asks = value == "stdio",
            _ => {}
        }
    }

    fn switch(&mut self, name: &str) {
        match name {
            "--version" | "-v" => self.wants_version = true,
            "--replay-user-messages" => self.replays = true,
            "--dangerously-skip-permissions" => {
                "bypassPermissions".clone_into(&mut self.permission_mode);
            }
            _ => {}
        }
    }
}

fn projects() -> PathBuf {
    let config = env::var_os("CLAUDE_CONFIG_DIR").map_or_else(
        || PathBuf::from(env::var_os("HOME").unwrap_or_default()).join(".claude"),
        PathBuf::from,
    );
    config.join("projects")
}

/// Whether `settings`, JSON or the path of a file, refuse other sessions.
fn refuses_peers(settings: &str) -> bool {
    let text = fs::read_to_string(settings).unwrap_or_else(|_| settings.to_owned());
    let settings: Value = serde_json::from_str(&text).unwrap_or_default();
    settings["crossSessionInbound"] == "refuse"
}
