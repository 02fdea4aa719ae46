//! A stand-in for the real CLI, with many turns in one session.
//!
//! It speaks the protocol of `claude -p --input-format stream-json`, in the
//! dialects of two releases, with no model behind it: each message says what the
//! agent does. Orders, fields and faults are those seen in recordings and runs
//! of the real one. It is one thread around `poll`: a tool that "runs" is a time
//! to wait for, so input is read at any moment.

mod control;
mod ending;
mod found;
mod ids;
mod input;
mod log;
mod object;
mod options;
mod output;
mod question;
mod result;
mod script;
mod session;
mod speech;
mod tasks;
mod tool;
mod turn;
mod unanswered;
mod wire;

use std::ffi::OsString;
use std::io::{self, Read, Write};

use anyhow::Context;
use cr_io::Exit;

use crate::agent::input::Message;
use crate::agent::options::Options;
use crate::agent::session::Session;
use crate::agent::wire::Wire;

/// Act as the real CLI; each message says what the agent does
///
/// Options are those of `claude`; unknown ones are ignored. `CR_MOCK_VERSION`
/// names the release to act as: 2.1.326 (default) or 2.1.197.
#[derive(Debug, clap::Args)]
#[command(after_long_help = WORDS, disable_help_flag = true)]
pub(crate) struct AgentArgs {
    /// The options of `claude`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    argv: Vec<OsString>,
}

const WORDS: &str = "\
Words in a message, in any number, are done in their order; then the answer is
`answer to: MESSAGE`:
  tool:300ms               a tool runs; messages meanwhile are folded in
  text:200ms               text streams; messages meanwhile are the next turn
  ask:Bash:touch x.txt     ask for permission, then run the rest of the line
  choose:Which?:Red,Blue   put a question (rest of the line)
  agent:500ms, shell:500ms a background task; its end wakes the agent
  nowake:500ms             a background agent whose end wakes nobody
  peer                     another session starts the next turn
  field:done               the result's structured output is {\"done\":true}
  fail                     the turn ends with an error of the API
  silent                   nothing comes until an interrupt
  exit:3, crash            the process ends, or kills itself";

/// Runs the stand-in.
pub(crate) fn run(args: &AgentArgs) -> anyhow::Result<Exit> {
    let options = Options::parse(&args.argv);
    if options.wants_version {
        let version = options.dialect.version();
        writeln!(io::stdout(), "{version} (Claude Code)")?;
        return Ok(Exit::Ok);
    }
    let Some(mut session) = Session::open(options)? else {
        return Ok(Exit::Code(1));
    };
    let prompt = session.prompt()?;
    let mut wire = Wire::new()?;
    if let Some(prompt) = prompt {
        session.message(prompt)?;
        session.input_closed();
        wire.close();
    }
    let code = session.serve(&mut wire)?;
    session.log.flush()?;
    Ok(Exit::Code(code))
}

impl Session {
    /// The prompt, if it is not a stream of messages.
    fn prompt(&self) -> anyhow::Result<Option<Message>> {
        if self.options.reads_messages {
            return Ok(None);
        }
        let mut text = self.options.prompt.clone().unwrap_or_default();
        if text.is_empty() {
            io::stdin()
                .read_to_string(&mut text)
                .context("the prompt")?;
        }
        Ok(Some(Message::from_prompt(text.trim_end().to_owned())))
    }
}
