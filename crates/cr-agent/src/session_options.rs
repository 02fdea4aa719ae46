//! The options of a session of many turns, and of questions.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use clap::builder::NonEmptyStringValueParser;
use serde::{Deserialize, Serialize};

const SESSION: &str = "Many turns";
const QUESTIONS: &str = "Questions of the agent";

/// What standard input is.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum InputMode {
    /// One prompt, to its end
    #[default]
    Text,
    /// One message per line; the agent lives on between them
    Stream,
}

/// What is done about a turn that takes too long.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum TurnTimeoutAction {
    /// The turn is interrupted; the session goes on
    Interrupt,
    /// The session is ended
    End,
}

/// Options for a session of many turns and for questions
//
// The heading stands at every option, as for the clocks.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize, clap::Args)]
#[serde(default)]
pub struct SessionOptions {
    /// What standard input is: one prompt, or one message per line
    #[arg(long, value_name = "FORM", value_enum, default_value_t, help_heading = SESSION)]
    pub input: InputMode,

    /// Wait for messages of cr-send after the end of standard input, until
    /// `cr-send --stop`
    #[arg(long, help_heading = SESSION)]
    pub keep_open: bool,

    /// Let other sessions of the same user begin turns in this one
    #[arg(long, help_heading = SESSION)]
    pub accept_peers: bool,

    /// End the session when this field of the structured output is true
    #[arg(long, value_name = "FIELD", help_heading = SESSION, value_parser = NonEmptyStringValueParser::new())]
    pub until_field: Option<String>,

    /// What to do when --turn-timeout runs out [default: interrupt with --input
    /// stream, else end]
    #[arg(long, value_name = "ACTION", value_enum, help_heading = SESSION)]
    pub turn_timeout_action: Option<TurnTimeoutAction>,

    /// From the end of a background task to the turn that reports it; then the
    /// agent is reminded, once
    #[arg(long, value_name = "TIME", help_heading = SESSION, default_value = "1m", value_parser = cr_io::parse_duration)]
    #[serde(with = "crate::settings::seconds")]
    pub wake_timeout: Duration,

    /// Let the agent ask for permissions and put questions; cr-send answers them
    #[arg(long, help_heading = QUESTIONS)]
    pub ask: bool,

    /// Answer by the rules of this file, see cr-policy(5); implies --ask
    #[arg(long, value_name = "FILE", help_heading = QUESTIONS)]
    #[serde(with = "crate::settings::optional_path")]
    pub ask_policy: Option<PathBuf>,

    /// Answer with this shell command: the question is JSON on its standard input,
    /// the answer is on its standard output; implies --ask
    #[arg(long, value_name = "COMMAND", help_heading = QUESTIONS, value_parser = NonEmptyStringValueParser::new())]
    pub ask_cmd: Option<String>,

    /// Deny a question that nobody has answered after this time, and end the run
    /// (0 is never)
    #[arg(long, value_name = "TIME", help_heading = QUESTIONS, default_value = "0", value_parser = cr_io::parse_duration)]
    #[serde(with = "crate::settings::seconds")]
    pub ask_timeout: Duration,
}

impl SessionOptions {
    /// Whether the agent may ask.
    pub fn asks(&self) -> bool {
        self.ask || self.ask_policy.is_some() || self.ask_cmd.is_some()
    }

    /// Whether standard input has one message per line.
    pub fn is_stream(&self) -> bool {
        self.input == InputMode::Stream
    }

    /// Whether the agent takes messages while it runs: the messages of a stream,
    /// or the answers to its questions.
    pub fn is_interactive(&self) -> bool {
        self.is_stream() || self.asks()
    }

    /// Whether other sessions must not begin turns in this one.
    pub(crate) fn refuses_peers(&self) -> bool {
        self.is_interactive() && !self.accept_peers
    }

    /// What is done about a turn that takes too long.
    pub fn on_turn_timeout(&self) -> TurnTimeoutAction {
        let default = if self.is_stream() {
            TurnTimeoutAction::Interrupt
        } else {
            TurnTimeoutAction::End
        };
        self.turn_timeout_action.unwrap_or(default)
    }

    /// The options as arguments: the name and the value, if it takes one.
    pub(crate) fn to_arguments(&self) -> Vec<(&'static str, Option<OsString>)> {
        let name = |value: &dyn ValueName| Some(OsString::from(value.name()));
        let time = |time: Duration| Some(OsString::from(time.as_secs_f64().to_string()));
        let mut all = vec![
            ("input", name(&self.input)),
            ("wake-timeout", time(self.wake_timeout)),
            ("ask-timeout", time(self.ask_timeout)),
        ];
        let switches = [
            ("keep-open", self.keep_open),
            ("accept-peers", self.accept_peers),
            ("ask", self.ask),
        ];
        all.extend(
            switches
                .iter()
                .filter(|(_, on)| *on)
                .map(|(flag, _)| (*flag, None)),
        );
        let optional = [
            ("until-field", self.until_field.clone().map(Into::into)),
            (
                "turn-timeout-action",
                self.turn_timeout_action.and_then(|it| name(&it)),
            ),
            ("ask-policy", self.ask_policy.clone().map(Into::into)),
            ("ask-cmd", self.ask_cmd.clone().map(Into::into)),
        ];
        all.extend(optional.into_iter().filter(|(_, value)| value.is_some()));
        all
    }
}

/// A value that has a name on the command line.
trait ValueName {
    fn name(&self) -> String;
}

impl<T: ValueEnum> ValueName for T {
    fn name(&self) -> String {
        let value = self.to_possible_value();
        value
            .map(|value| value.get_name().to_owned())
            .unwrap_or_default()
    }
}
