//! The beginning of a session.

use std::collections::VecDeque;

use anyhow::{Context as _, anyhow};
use cr_agent::{AgentOptions, uuid};
use cr_config::Config;
use cr_io::Exit;
use cr_policy::Policy;
use cr_rundir::{RunDir, file};
use cr_stream::{Input, InputState, Named};

use super::ask_command::AskCommand;
use super::clients::Clients;
use super::inbox::Inbox;
use super::journal::Journal;
use super::message::{Draft, text_of};
use super::recovery::{Chain, Fate, Found, OldMessage, ParkedAnswers, change, mark_moved};
use super::requests::AgentRequests;
use super::{OwnInput, Session, Tasks, Turns, recovery};
use crate::context::Context;
use crate::prepare::{RESUME_PROMPT, note};

/// How much of a message is repeated when its turn is continued, in characters.
const NAMED_TEXT: usize = 300;

/// How the message begins that continues a turn.
const CONTINUATION: &str = "The session was interrupted while you worked on this. Check what is \
                            done already, then go on with it:";

/// Completes the options of a session: it has an id before the agent writes its
/// first line, and a session that the agent has not saved yet begins anew.
pub(crate) fn prepare(options: &AgentOptions) -> anyhow::Result<AgentOptions> {
    let mut options = options.clone();
    if !options.session.is_interactive() {
        return Ok(options);
    }
    if let (Some(id), Some(_)) = (&options.resume, &options.resumed_run)
        && uuid::is_uuid(id)
        && cr_agent::find_session_log(id).is_none()
    {
        options.session_id = options.resume.take();
    }
    let own = |arg: &std::ffi::OsString| arg.to_string_lossy().starts_with("--settings");
    if options.rest.iter().any(own) && !options.session.accept_peers {
        note("--settings replaces ours: other sessions may begin turns in this one");
    }
    if !options.resumes_session() && options.session_id.is_none() {
        options.session_id = Some(uuid::random().context(Exit::Tool)?);
    }
    Ok(options)
}

impl Session {
    /// A session with the `options` of its run. The rules for its questions are
    /// read here: wrong ones are refused before the agent starts.
    pub(crate) fn new(options: &AgentOptions, dir: Option<&RunDir>) -> anyhow::Result<Self> {
        let session = options.session.clone();
        let policy = session
            .ask_policy
            .as_deref()
            .map(Policy::load)
            .transpose()?;
        let command = session.ask_cmd.as_deref().map(AskCommand::new);
        let earlier = options.resumed_run.as_deref();
        let earlier = earlier.filter(|_| session.is_interactive()).map(claim);
        let journal = match dir.filter(|_| session.is_interactive()) {
            Some(dir) => Some(Journal::create(dir).context(Exit::Io)?),
            None => None,
        };
        Ok(Self {
            own_input: session.is_stream().then(OwnInput::default),
            clients: dir.and_then(listen),
            journal,
            earlier: earlier.transpose()?,
            policy,
            ask_command: command.transpose().context(Exit::Tool)?,
            options: session,
            inbox: Inbox::default(),
            turns: Turns::default(),
            tasks: Tasks::default(),
            questions: Vec::new(),
            allowed_calls: Vec::new(),
            parked: ParkedAnswers::default(),
            requests: AgentRequests::default(),
            effects: VecDeque::new(),
            lines: VecDeque::new(),
            completion: None,
            told: None,
            last_result: None,
            has_lifecycle: false,
            has_replay: false,
            has_spoken: false,
            has_peer_message: false,
            interrupted_at: None,
            guardian: 0,
        })
    }

    /// Queues the first message: the prompt of a run that may ask.
    pub(crate) fn begin(&mut self, prompt: &[u8], context: &Context<'_>) {
        if !self.is_interactive() {
            return;
        }
        if let Some(mut chain) = self.earlier.take() {
            if let Err(err) = self.recover(&mut chain, context) {
                note(&format!("the earlier run: {}", cr_io::message(&err)));
            }
            // The lock of the session is kept.
            self.earlier = Some(chain);
        }
        // An answer that was kept needs a turn that asks again.
        if self.inbox.messages.is_empty() && prompt.is_empty() && self.parked.has_any() {
            self.accept_own(RESUME_PROMPT, context);
        }
        // What is left of the earlier run says what to continue.
        let is_told = prompt == RESUME_PROMPT.as_bytes() && !self.inbox.messages.is_empty();
        if !prompt.is_empty() && !is_told {
            let draft = Draft::of_text(&String::from_utf8_lossy(prompt));
            let accepted = self.accept_all(vec![draft], "prompt", None);
            self.tell_accepted(accepted, context);
        }
    }

    /// Takes over what the earlier runs have left.
    fn recover(&mut self, chain: &mut Chain, context: &Context<'_>) -> anyhow::Result<()> {
        let options = context.options;
        let session = options.resume.as_ref().or(options.session_id.as_ref());
        let log = session.and_then(|id| cr_agent::find_session_log(id));
        let messages = recovery::messages(chain, log.as_deref())?;
        self.parked = ParkedAnswers::take_over(&chain.runs, context.run_dir, context.run_id);
        let open = messages.iter().filter(|(_, fate)| fate.is_some());
        let ids: Vec<String> = open.map(|(message, _)| message.id.clone()).collect();
        self.take_over(messages, context)?;
        // A run that keeps no record cannot be resumed: the earlier one can.
        if self.journal.is_some() {
            // In each of them: any may be named next.
            for dir in &chain.runs {
                mark_moved(dir, &ids, context.run_id)?;
            }
        }
        Ok(())
    }

    /// Queues what is to be sent, and notes what is not, in one step: after a crash
    /// either this run has all of it, or the earlier one has.
    fn take_over(&mut self, messages: Vec<Found>, context: &Context<'_>) -> anyhow::Result<()> {
        let mut drafts = Vec::new();
        let mut cut_off = Vec::new();
        let mut changes = Vec::new();
        for (message, fate) in messages {
            let state = fate.map_or(message.ended, Fate::state);
            let Some(state) = state else {
                drafts.push(Ok(message.into_draft()));
                continue;
            };
            // A sender may send it again.
            self.inbox.ended_before(message.id.clone(), state);
            if let Some(fate) = fate {
                changes.push(change(&message.id, state.as_str(), None));
                self.tell_old(&message, state, context);
                if fate == Fate::Continue {
                    cut_off.push(message);
                }
            }
        }
        let own = continuation(&cut_off).map(|text| Draft::of_text(&text));
        let drafts = own.into_iter().chain(drafts).collect();
        let accepted = self.accept_with(drafts, super::accept::OWN, None, changes);
        let refused = accepted.iter().find_map(|it| it.as_ref().err());
        let refused = refused.map(|(_, refused)| anyhow!("{}", refused.reason));
        self.tell_accepted(accepted, context);
        refused.map_or(Ok(()), Err)
    }

    /// Says what became of a message of the earlier run.
    fn tell_old(&mut self, message: &OldMessage, state: InputState, context: &Context<'_>) {
        let reason = match state {
            InputState::Done => "it was answered before the session was resumed",
            _ => "its turn was cut off; a message of claude-runner continues it",
        };
        let input = Input {
            id: message.id.as_str().into(),
            from: message.from.as_deref().map(Into::into),
            state: state.into(),
            reason: Some(reason.into()),
            ..Input::default()
        };
        self.tell(context, &input);
    }
}

/// The message that continues a turn that was cut off; it names the messages of
/// that turn.
fn continuation(messages: &[OldMessage]) -> Option<String> {
    let named = messages.iter().map(|message| {
        let text = text_of(message.content.get()).unwrap_or_default();
        // A message like this one names others.
        if let Some(named) = text.strip_prefix(CONTINUATION) {
            return named.to_owned();
        }
        let (text, is_cut) = cr_io::first_chars(&text, NAMED_TEXT);
        let more = if is_cut { "..." } else { "" };
        format!("\n- {}: {text}{more}", message.id)
    });
    let named = named.collect::<String>();
    (!named.is_empty()).then(|| format!("{CONTINUATION}{named}"))
}

/// The earlier runs of the session of the run `name`.
fn claim(name: &str) -> anyhow::Result<Chain> {
    let runs = Config::load()?.state_dir()?.path().join(file::RUNS);
    Chain::claim(name, &runs)
}

/// The socket of a run. A run without one can be supervised, but not asked.
fn listen(dir: &RunDir) -> Option<Clients> {
    match Clients::listen(dir) {
        Ok(clients) => Some(clients),
        Err(err) => {
            note(&format!("no control socket: {err}"));
            None
        }
    }
}
