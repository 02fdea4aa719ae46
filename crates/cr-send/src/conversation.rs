//! One connection: requests in their order, each acknowledged before the next.

use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use cr_control::{Client, Failure, REPLY_TIMEOUT};
use cr_io::{Exit, Redactor, exit_of, first_chars, sanitized, show_duration};
use cr_rundir::{ControlOperation, ControlReply, ControlRequest, MessageState};

use crate::args::Args;
use crate::message::Message;
use crate::sender;
use crate::show::Shown;
use crate::target::Target;

/// The longest error of a run that is shown, in characters.
const LONGEST_ERROR: usize = 2000;

/// The connection, and what the command line says about every request.
pub(crate) struct Conversation<'a> {
    args: &'a Args,
    target: &'a Target,
    client: Client,
    from: String,
    /// The time for one reply; none is no limit.
    reply_timeout: Option<Duration>,
    /// When all turns must have ended.
    deadline: Option<Instant>,
}

impl<'a> Conversation<'a> {
    /// Connects to the run.
    pub(crate) fn open(args: &'a Args, target: &'a Target) -> anyhow::Result<Self> {
        let deadline = args.timeout.filter(|time| args.wait && !time.is_zero());
        let deadline = deadline.map(|time| Instant::now() + time);
        let reply_timeout = match args.timeout.filter(|_| !args.wait) {
            Some(time) => Some(time).filter(|time| !time.is_zero()),
            None => Some(REPLY_TIMEOUT),
        };
        let client = target.connect(reply_timeout.unwrap_or(REPLY_TIMEOUT))?;
        Ok(Self {
            args,
            target,
            client,
            from: sender::name(args.from.as_deref(), &target.runs),
            reply_timeout,
            deadline,
        })
    }

    /// Makes one request; a reply that refuses it is an error.
    pub(crate) fn request(&mut self, request: &ControlRequest) -> anyhow::Result<ControlReply> {
        let deadline = self.reply_timeout.map(|time| Instant::now() + time);
        match self.client.request(request, deadline) {
            Ok(reply) => self.accepted(reply),
            Err(err) => Err(self.no_reply(err, request)),
        }
    }

    /// Sends a message and prints what the run says of it; returns the verdict on
    /// its turn with --wait.
    pub(crate) fn send<W: Write>(
        &mut self,
        message: Message,
        shown: &mut Shown<W>,
    ) -> anyhow::Result<Exit> {
        let mut request = ControlRequest::new(ControlOperation::Send);
        request.id = Some(message.id.clone());
        request.from = Some(self.from.clone());
        request.when = message.when.or(self.args.when.map(Into::into));
        request.message = Some(message.body);
        request.wait = self.args.wait;
        let reply = self.request(&request)?;
        let id = reply.id.clone().unwrap_or(message.id);
        shown.queued(&id, &reply)?;
        if !self.args.wait {
            return Ok(Exit::Ok);
        }
        self.wait(&id, shown)
    }

    /// Waits for the second reply about the message `id`.
    fn wait<W: Write>(&mut self, id: &str, shown: &mut Shown<W>) -> anyhow::Result<Exit> {
        let reply = loop {
            let reply = self.client.reply(self.deadline);
            let reply = reply.map_err(|err| self.no_turn(err, id))?;
            if reply.id.as_deref() == Some(id) {
                break self.accepted(reply)?;
            }
        };
        let data = reply.data.as_ref().map_or("{}", |data| data.get());
        let state: MessageState = serde_json::from_str(data)
            .context("the reply cannot be read")
            .context(Exit::Data)?;
        let verdict = shown.turn(&reply, &state)?;
        if verdict.code != 0 {
            let why = sanitized(&Redactor::from_env().redact(&verdict.why));
            let text = format!("{}: {why}", self.target.name());
            return Err(anyhow!(text).context(Exit::Code(verdict.code)));
        }
        Ok(Exit::Ok)
    }

    fn accepted(&self, reply: ControlReply) -> anyhow::Result<ControlReply> {
        if reply.ok {
            return Ok(reply);
        }
        let error = reply.error.as_deref().unwrap_or("refused without a reason");
        let error = sanitized(&Redactor::from_env().redact(error));
        let error = first_chars(&error, LONGEST_ERROR).0;
        let code = reply.code.filter(|code| *code != 0).unwrap_or(1);
        Err(anyhow!("{}: {error}", self.target.name()).context(Exit::Code(code)))
    }

    /// Why a request got no reply.
    fn no_reply(&self, err: anyhow::Error, request: &ControlRequest) -> anyhow::Error {
        let name = self.target.name();
        let failure = err.downcast_ref::<Failure>().copied();
        let again = match &request.id {
            Some(id) if request.op == ControlOperation::Send => format!(
                "; the message may be queued, and --id {} sends it again without a second copy",
                sanitized(id)
            ),
            _ => String::new(),
        };
        match failure {
            None => with_name(err, self.target),
            Some(Failure::Closed) if self.target.is_over_soon() => self.target.ended(),
            Some(Failure::Closed) => err.context(Exit::Retry).context(name),
            Some(Failure::TimedOut) => {
                let time = show_duration(self.reply_timeout.unwrap_or_default());
                anyhow!("{name}: no reply within {time}{again}").context(Exit::Retry)
            }
        }
    }

    /// Why the second reply about the message `id` did not come.
    fn no_turn(&self, err: anyhow::Error, id: &str) -> anyhow::Error {
        let (name, id) = (self.target.name(), sanitized(id));
        match err.downcast_ref::<Failure>() {
            None => with_name(err, self.target),
            Some(Failure::Closed) => {
                let resume = self.target.resume_command();
                let text = format!(
                    "{name}: the run ended before message {id} was answered; {resume} continues it"
                );
                anyhow!(text).context(Exit::Code(6))
            }
            Some(Failure::TimedOut) => {
                let time = show_duration(self.args.timeout.unwrap_or_default());
                let text =
                    format!("{name}: message {id}: no answer within {time}; it stays queued");
                anyhow!(text).context(Exit::Timeout)
            }
        }
    }
}

/// `err` with the name of the run before it, and its code.
pub(crate) fn with_name(err: anyhow::Error, target: &Target) -> anyhow::Error {
    let exit = exit_of(&err);
    err.context(target.name()).context(exit)
}
