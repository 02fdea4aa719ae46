//! Commands of the session and how they ended.

use crate::quote::cut;

/// Commands that are kept.
const MOST: usize = 100;
/// Bytes of a command, and of its error, that are shown where it has one.
const HALF: usize = 140;

/// A command of the shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The command, or its beginning.
    pub command: String,
    /// How often it was run.
    pub runs: u64,
    /// How its last run ended.
    pub outcome: Outcome,
    /// The number of its last call.
    last: u64,
    key: u64,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// It succeeded.
    Ok,
    /// It was started and goes on in the background.
    Background,
    /// It failed.
    Failed {
        /// Its exit code, where it ran.
        code: Option<i32>,
        /// The first line of the error.
        error: String,
    },
    /// There is no result.
    Open,
}

impl Command {
    /// The outcome, the command and the error.
    pub(crate) fn line(&self) -> String {
        let (how, error) = match &self.outcome {
            Outcome::Ok => ("ok".to_owned(), ""),
            Outcome::Background => ("started in the background".to_owned(), ""),
            Outcome::Open => ("no result".to_owned(), ""),
            Outcome::Failed { code, error } => (failed(*code), error.as_str()),
        };
        let runs = match self.runs {
            1 => String::new(),
            runs => format!(" (last of {runs} runs)"),
        };
        format!("{how}{runs}: {}", with_error(&self.command, error))
    }
}

/// What was done and its error, both cut so that there is room for the other.
pub(crate) fn with_error(what: &str, error: &str) -> String {
    match error {
        "" => what.to_owned(),
        error => format!("{} => {}", cut(what, HALF), cut(error, HALF)),
    }
}

/// How a failure is called.
pub(crate) fn failed(code: Option<i32>) -> String {
    code.map_or_else(|| "failed".to_owned(), |code| format!("exit code {code}"))
}

/// The commands so far.
#[derive(Debug, Default)]
pub(crate) struct Commands {
    commands: Vec<Command>,
    pub(crate) dropped: u64,
}

impl Commands {
    /// A command is called; `key` is the same for the same command.
    pub(crate) fn call(&mut self, command: &str, key: u64, call: u64) {
        let before = self.commands.iter().position(|it| it.key == key);
        let runs = before.map_or(0, |at| self.commands.remove(at).runs);
        self.commands.push(Command {
            command: command.to_owned(),
            runs: runs + 1,
            outcome: Outcome::Open,
            last: call,
            key,
        });
        if self.commands.len() > MOST {
            self.commands.remove(0);
            self.dropped += 1;
        }
    }

    /// The call with this number ended.
    pub(crate) fn end(&mut self, call: u64, outcome: Outcome) {
        let last = self.commands.iter_mut().rev();
        if let Some(command) = last.into_iter().find(|it| it.last == call) {
            command.outcome = outcome;
        }
    }

    /// All of them, the last called last.
    pub(crate) fn all(self) -> Vec<Command> {
        self.commands
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_is_run_again_is_there_once_with_its_last_result() {
        let mut commands = Commands::default();
        let failed = Outcome::Failed {
            code: Some(101),
            error: "error: no".to_owned(),
        };
        commands.call("cargo test", 1, 1);
        commands.end(1, Outcome::Ok);
        commands.call("ls", 2, 2);
        commands.end(2, Outcome::Ok);
        commands.call("cargo test", 1, 3);
        commands.end(3, failed);
        commands.call("sleep 9", 3, 4);
        let lines: Vec<_> = commands.all().iter().map(Command::line).collect();
        let expected = [
            "ok: ls",
            "exit code 101 (last of 2 runs): cargo test => error: no",
            "no result: sleep 9",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn the_last_commands_are_kept() {
        let mut commands = Commands::default();
        for call in 0..1000 {
            commands.call(&call.to_string(), call, call);
        }
        assert_eq!(commands.dropped, 1000 - MOST as u64);
        assert_eq!(commands.all()[0].command, (1000 - MOST).to_string());
    }
}
