//! Exit codes. Every error is printed here and gets its code here.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

/// How a tool ends. Used as the context of an error, it gives the error its
/// number and adds no words to the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Ok,
    /// The reader of standard output went away; silent, and not a failure.
    Gone,
    /// The answer is no. Never an error of the tool.
    No,
    /// The command line is wrong.
    Usage,
    /// The input is not what it claims to be.
    Data,
    /// An input cannot be opened.
    NoInput,
    /// Reading or writing failed midway.
    Io,
    /// Try again later.
    Retry,
    /// The configuration is wrong, a run directory is unsafe, or a file has a
    /// newer version.
    Config,
    /// A time limit passed.
    Timeout,
    /// The tool itself failed.
    Tool,
    /// The command cannot be executed.
    CannotExec,
    /// The command was not found.
    NotFound,
    /// A verdict, or the code of a command that was run.
    Code(u8),
}

impl Exit {
    /// The number the shell sees.
    pub fn code(self) -> u8 {
        match self {
            Self::Ok | Self::Gone => 0,
            Self::No => 1,
            Self::Usage => 2,
            Self::Data => 65,
            Self::NoInput => 66,
            Self::Io => 74,
            Self::Retry => 75,
            Self::Config => 78,
            Self::Timeout => 124,
            Self::Tool => 125,
            Self::CannotExec => 126,
            Self::NotFound => 127,
            Self::Code(code) => code,
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

impl std::error::Error for Exit {}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}

/// Ends `tool`: prints an error, if there is one, and picks the exit code.
///
/// Only [`Exit::Gone`] is silent: `cr-filter … | head -1` ends with 0. A broken
/// pipe anywhere else, say to a command's standard input, is an error.
pub fn report(tool: &str, result: anyhow::Result<Exit>) -> ExitCode {
    let err = match result {
        Ok(exit) => return exit.into(),
        Err(err) => err,
    };
    let exit = exit_of(&err);
    if exit != Exit::Gone {
        note(tool, io::stderr(), &err);
    }
    exit.into()
}

/// Writes an error to `to`. It is one write, so that two tools on one standard
/// error keep their lines whole; a failure to write it stops nothing.
pub fn note(tool: &str, mut to: impl Write, err: &anyhow::Error) {
    let _ = to.write_all(format!("{tool}: {}\n", message(err)).as_bytes());
}

/// The code that `err` asks for.
pub fn exit_of(err: &anyhow::Error) -> Exit {
    if let Some(&exit) = err.downcast_ref::<Exit>() {
        return exit;
    }
    let io = err
        .chain()
        .find_map(|cause| cause.downcast_ref::<io::Error>());
    if io.is_some() { Exit::Io } else { Exit::Tool }
}

/// The causes of `err`, outermost first, without those that have no text.
pub fn message(err: &anyhow::Error) -> String {
    let causes: Vec<String> = err
        .chain()
        .map(ToString::to_string)
        .filter(|cause| !cause.is_empty())
        .collect();
    causes.join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::{Context, anyhow};

    #[test]
    fn the_exit_is_context_and_adds_no_words() {
        let err = Err::<(), _>(anyhow!("column 3"))
            .context("line 2")
            .context(Exit::Data)
            .expect_err("an error");
        assert_eq!(exit_of(&err), Exit::Data);
        assert_eq!(message(&err), "line 2: column 3");
    }

    #[test]
    fn an_io_error_without_a_class_is_74() {
        let err = anyhow::Error::from(io::Error::from(io::ErrorKind::StorageFull));
        assert_eq!(exit_of(&err).code(), 74);
    }
}
