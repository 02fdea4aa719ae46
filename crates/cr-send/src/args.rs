//! The command line.

use std::time::Duration;

use anyhow::anyhow;
use clap::Parser;
use clap::builder::NonEmptyStringValueParser;
use cr_io::Exit;
use cr_rundir::{ControlOperation, ControlRequest, Decision, Delivery};

use crate::uuid;

const AFTER: &str = "\
A RUN is an id or the beginning of one, a name, a session's id, or a directory;
if several runs have one name, it is the latest. With --last there is no RUN.

Examples:
  cr-send docs 'use the new parser'
  cr-send docs --wait --timeout 10m 'what is left to do?'; echo $?
  git diff | cr-send --last --when idle
  cr-send docs --json < messages.ndjson
  cr-send docs --asks
  cr-send docs --allow 7f2c --always
  cr-send docs --deny 7f2c 'not in this directory'
  cr-send docs --answer 7f2c 'the second one'
  cr-send docs --interrupt
  cr-send \"$CR_PARENT\" 'task 3 is done; tests pass'

JSON messages:
  {\"text\":\"go on\",\"id\":\"…\",\"when\":\"idle\"}
  {\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[…]},\"uuid\":\"…\"}

Environment:
  CR_STATE_DIR  where runs are kept (default: $XDG_STATE_HOME/claude-runner)
  CR_RUN        the run that this is called from, for --from
  CR_PARENT     the run that started that run; an agent reports to it

Exit status:
  0    done; --wait: the turn was a success
  1    --wait: the turn failed; else: refused without a code
  2    the command line is wrong
  3    --wait: the limit of turns or money was reached
  6    --wait: the run ended before the turn did, or the turn has no result
  65   a message or a reply is not well formed, or a question takes no answer
  66   no such run, message or question, or the run has ended
  74   reading or writing failed midway
  75   no reply in time; --wait: rate limit, overload or network
  76   --wait: the context is exhausted
  77   --wait: not logged in, or no credit
  78   the configuration is wrong, an unsafe run directory, or a newer version
  124  --wait: --timeout is over; the message stays queued
  130  --wait: the turn was interrupted
  A run that refuses a request also says with which code.";

/// Talk to a running agent: send a message, answer a question, interrupt a turn
///
/// The message is TEXT, or standard input. Its id is printed when the run has
/// stored it. --wait prints the final text of its turn instead, and ends with the
/// verdict on that turn. With --json each message is sent when the one before was
/// stored, or, with --wait, when its turn was a success; a refusal ends it.
///
/// An answer to a question of a run that has ended is kept: it is given to the
/// agent when the run is resumed and asks the same again.
#[derive(Debug, Parser)]
#[command(
    name = "cr-send",
    version,
    after_help = AFTER,
    max_term_width = 100,
    override_usage = "cr-send [OPTIONS] <RUN|--last> [TEXT]",
    group(clap::ArgGroup::new("action").multiple(false))
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub struct Args {
    /// The run
    #[arg(value_name = "RUN", required_unless_present = "last")]
    run: Option<String>,

    /// The message, the reason of --deny, or the choice of --answer
    #[arg(value_name = "TEXT")]
    text: Option<String>,

    /// The run that was started last
    #[arg(long)]
    pub(crate) last: bool,

    /// Read one JSON message per line from standard input; with another action:
    /// print JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// What to print
    #[arg(long, value_name = "WHAT", value_enum, default_value_t)]
    pub(crate) output: Output,

    /// When the agent gets the message [default: next]
    #[arg(long, value_name = "WHEN", value_enum, conflicts_with = "action")]
    pub(crate) when: Option<When>,

    /// The id of the message, a UUID; a message with the same id is queued only
    /// once
    #[arg(long, value_name = "UUID", value_parser = uuid::parse, conflicts_with_all = ["action", "json"])]
    pub(crate) id: Option<String>,

    /// The sender, as the record of the run shows it [default: the run this is
    /// called from, else the user]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) from: Option<String>,

    /// Wait for the end of the turn, print its final text, end with its verdict
    #[arg(long, conflicts_with = "action")]
    pub(crate) wait: bool,

    /// Give up after this time: seconds, or 9m; 0 is never. With --wait: for all
    /// turns [default: 0]; else: for each reply [default: 10]
    #[arg(long, value_name = "TIME", value_parser = cr_io::parse_duration)]
    pub(crate) timeout: Option<Duration>,

    /// Interrupt the running turn; print what stays queued, and the background
    /// tasks that this ended
    #[arg(long, group = "action")]
    interrupt: bool,

    /// Withdraw a message that waits
    #[arg(long, value_name = "ID", group = "action", value_parser = NonEmptyStringValueParser::new())]
    cancel: Option<String>,

    /// Change the model
    #[arg(long, value_name = "NAME", group = "action", value_parser = NonEmptyStringValueParser::new())]
    model: Option<String>,

    /// Change the permission mode
    #[arg(long, value_name = "MODE", group = "action", value_parser = NonEmptyStringValueParser::new())]
    permission_mode: Option<String>,

    /// Print the use of the context, by the agent's own figures
    #[arg(long, group = "action")]
    context: bool,

    /// Print the open questions, one per line
    #[arg(long, group = "action")]
    asks: bool,

    /// Permit what a question asks for
    #[arg(long, value_name = "ID", group = "action", value_parser = NonEmptyStringValueParser::new())]
    allow: Option<String>,

    /// With --allow: permit it, and what is like it, for the rest of the session
    #[arg(long, requires = "allow")]
    always: bool,

    /// Refuse what a question asks for; TEXT is the reason
    #[arg(long, value_name = "ID", group = "action", value_parser = NonEmptyStringValueParser::new())]
    deny: Option<String>,

    /// Answer a question with the choice TEXT
    #[arg(long, value_name = "ID", group = "action", value_parser = NonEmptyStringValueParser::new())]
    answer: Option<String>,

    /// End one background task of the agent
    #[arg(long, value_name = "ID", group = "action", value_parser = NonEmptyStringValueParser::new())]
    stop_task: Option<String>,

    /// End the session
    #[arg(long, group = "action")]
    stop: bool,
}

/// When the agent gets a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum When {
    /// As soon as it takes one, in the running turn
    Next,
    /// As a turn of its own, after the running one
    Idle,
    /// At once: the running turn is interrupted
    Now,
}

impl From<When> for Delivery {
    fn from(when: When) -> Self {
        match when {
            When::Next => Self::Next,
            When::Idle => Self::Idle,
            When::Now => Self::Now,
        }
    }
}

/// What standard output is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Output {
    /// The id of each message, or the final text; a line per question
    #[default]
    Text,
    /// Each reply of the run, one JSON object per line
    Json,
}

impl Args {
    /// The run that was named; none with --last.
    pub(crate) fn run(&self) -> Option<&str> {
        self.run.as_deref().filter(|_| !self.last)
    }

    /// The text: with --last it is the first word.
    pub(crate) fn text(&self) -> anyhow::Result<Option<&str>> {
        if self.last && self.text.is_some() {
            return Err(usage(
                "--last takes the place of RUN: one argument too many",
            ));
        }
        let text = if self.last { &self.run } else { &self.text };
        Ok(text.as_deref())
    }

    /// What is asked of the run; none if messages are to be sent.
    pub(crate) fn request(&self) -> anyhow::Result<Option<ControlRequest>> {
        use ControlOperation as Op;
        let text = self.text()?;
        let mut request = if self.interrupt {
            ControlRequest::new(Op::Interrupt)
        } else if self.context {
            ControlRequest::new(Op::Context)
        } else if self.asks {
            ControlRequest::new(Op::Asks)
        } else if self.stop {
            ControlRequest::new(Op::Stop)
        } else if let Some(request) = self.with_value().or_else(|| self.with_id()) {
            request
        } else if self.json && text.is_some() {
            return Err(usage("--json reads messages from standard input: no TEXT"));
        } else {
            return Ok(None);
        };
        match (request.decision, text) {
            (Some(Decision::Choose), None) => return Err(usage("--answer needs the choice")),
            (Some(Decision::Choose | Decision::Deny), text) => {
                request.text = text.map(str::to_owned);
            }
            (_, Some(_)) => return Err(usage("this action takes no TEXT")),
            (_, None) => {}
        }
        Ok(Some(request))
    }

    fn with_value(&self) -> Option<ControlRequest> {
        let (op, value) = match (&self.model, &self.permission_mode) {
            (Some(model), _) => (ControlOperation::SetModel, model),
            (None, Some(mode)) => (ControlOperation::SetPermissionMode, mode),
            (None, None) => return None,
        };
        let mut request = ControlRequest::new(op);
        request.value = Some(value.clone());
        Some(request)
    }

    fn with_id(&self) -> Option<ControlRequest> {
        use ControlOperation as Op;
        let allow = if self.always {
            Decision::AllowSession
        } else {
            Decision::Allow
        };
        let actions = [
            (&self.cancel, Op::Cancel, None),
            (&self.stop_task, Op::StopTask, None),
            (&self.allow, Op::Answer, Some(allow)),
            (&self.deny, Op::Answer, Some(Decision::Deny)),
            (&self.answer, Op::Answer, Some(Decision::Choose)),
        ];
        let (id, op, decision) = actions.into_iter().find(|(id, ..)| id.is_some())?;
        let mut request = ControlRequest::new(op);
        request.id.clone_from(id);
        request.decision = decision;
        Some(request)
    }
}

pub(crate) fn usage(text: &str) -> anyhow::Error {
    anyhow!("{text}").context(Exit::Usage)
}
