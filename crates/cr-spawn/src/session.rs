//! A session: messages for the agent, its questions, and the control socket.
//!
//! The agent's own lines say what becomes of a message; its `result` does not:
//! messages are folded into a running turn, several share one turn, and turns
//! begin that nobody asked for. So each message is followed by its id.
//!
//! A run with a single prompt has a session too: its socket tells clients that it
//! takes no messages, and stops the run on request.

mod accept;
mod agent_line;
mod ask_command;
mod asking;
mod clients;
mod delivery;
mod inbox;
mod journal;
mod message;
mod observe;
mod own_input;
mod question;
mod recovery;
mod requests;
mod start;
mod turns;

use std::collections::VecDeque;
use std::time::Instant;

use cr_agent::SessionOptions;
use cr_policy::Policy;
use cr_stream::{LineBody, StateName, TurnCause, compose};
use serde_json::value::RawValue;

pub(crate) use self::clients::ClientId;
use self::clients::Clients;
use self::inbox::Inbox;
use self::journal::Journal;
use self::own_input::OwnInput;
use self::question::Question;
use self::recovery::{Chain, ParkedAnswers};
use self::requests::AgentRequests;
pub(crate) use self::start::prepare;
use self::turns::Turns;
use crate::context::Context;
use crate::poll_set::PollSet;
use crate::supervisor::Key;
use crate::tasks::Tasks;

/// What the session wants done.
#[derive(Debug)]
pub(crate) enum Effect {
    /// Write this to the agent's standard input.
    ToAgent(Vec<u8>),
    /// Close the agent's standard input when all is written: the work is complete.
    CloseInput,
    /// Stop the run: somebody asked for it.
    Stop,
}

/// Why the agent's input was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Completion {
    /// The input has ended and everything is answered.
    InputEnd,
    /// A field of the structured output said so.
    Field,
    /// A client asked for it.
    Stop,
    /// Nobody answered a question in time.
    AskTimeout,
}

impl Completion {
    /// Its name in `cr/exit`.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::InputEnd => "input_end",
            Self::Field => "field",
            Self::Stop => "stop",
            Self::AskTimeout => "ask_timeout",
        }
    }
}

/// The state of a session.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Session {
    options: SessionOptions,
    inbox: Inbox,
    turns: Turns,
    tasks: Tasks,
    questions: Vec<Question>,
    /// Calls that were allowed and have not returned: an interrupt would undo the
    /// answer.
    allowed_calls: Vec<String>,
    /// `None`: standard input is no stream of messages.
    own_input: Option<OwnInput>,
    clients: Option<Clients>,
    journal: Option<Journal>,
    /// The runs that this one resumes.
    earlier: Option<Chain>,
    policy: Option<Policy>,
    ask_command: Option<ask_command::AskCommand>,
    parked: ParkedAnswers,
    requests: AgentRequests,
    effects: VecDeque<Effect>,
    /// Lines of our own that are not written yet.
    lines: VecDeque<Vec<u8>>,
    pub(crate) completion: Option<Completion>,
    /// What the last `cr/state` line said.
    told: Option<(StateName, u64, Option<TurnCause>)>,
    last_result: Option<Box<RawValue>>,
    /// The agent tells the life of messages by their ids.
    has_lifecycle: bool,
    /// The agent repeats a message when it takes it.
    has_replay: bool,
    /// The agent has written a line.
    has_spoken: bool,
    /// Another agent or session has sent a message that begins the next turn.
    has_peer_message: bool,
    /// When a turn was interrupted because it took too long.
    interrupted_at: Option<Instant>,
    /// The process whose descendants are the agent's.
    guardian: u32,
}

impl Session {
    /// Whether the agent takes messages and answers while it runs.
    pub(crate) fn is_interactive(&self) -> bool {
        self.options.is_interactive()
    }

    /// The process whose descendants are the agent's: they may not answer the
    /// agent's questions.
    pub(crate) fn set_guardian(&mut self, pid: u32) {
        self.guardian = pid;
    }

    /// Adds what to wait for. Refusals are lines too: while nobody reads ours,
    /// nothing is read.
    pub(crate) fn register<'a>(
        &'a self,
        set: &mut PollSet<'a, Key>,
        stdin: &'a std::io::Stdin,
        is_blocked: bool,
    ) {
        if let Some(clients) = &self.clients {
            clients.register(set);
        }
        let is_read = self.own_input.as_ref().is_some_and(OwnInput::wants_more);
        if is_read && !is_blocked && self.completion.is_none() {
            set.add_reader(Key::OwnInput, stdin);
        }
        if let Some(command) = &self.ask_command {
            set.add_reader(Key::AskCommand, command);
        }
    }

    /// Takes what the descriptor of `key` has.
    pub(crate) fn handle(&mut self, key: Key, context: &Context<'_>) {
        match key {
            Key::Socket => {
                if let Some(clients) = &mut self.clients {
                    clients.accept();
                }
            }
            Key::Client(id) => self.serve(id, context),
            Key::OwnInput => self.read_own_input(context),
            Key::AskCommand => self.take_command_answers(context),
            _ => {}
        }
    }

    /// Takes note of a line of the agent.
    pub(crate) fn agent_line(&mut self, line: &[u8], context: &Context<'_>) {
        self.has_spoken = true;
        if !self.is_interactive() {
            return;
        }
        let now = Instant::now();
        for fact in agent_line::facts(line) {
            self.observe(fact, context, now);
            // Lines that come together must not hide a state between them.
            self.tell_state(context);
        }
    }

    /// The next line of our own.
    pub(crate) fn next_line(&mut self) -> Option<Vec<u8>> {
        self.lines.pop_front()
    }

    /// What is to be done, in order.
    pub(crate) fn next_effect(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    /// Whether a turn is about to begin: for a message that the agent has, or for a
    /// task that has ended.
    pub(crate) fn expects_turn(&self) -> bool {
        let has_cause = self.inbox.is_agent_busy() || self.turns.unreported_since.is_some();
        self.is_interactive() && self.completion.is_none() && has_cause
    }

    /// Whether the clocks of a turn must not run: nobody waits for the agent.
    pub(crate) fn is_held(&self) -> bool {
        if !self.is_interactive() || self.completion.is_some() {
            return false;
        }
        let is_waiting =
            !self.is_input_over() && !self.turns.is_running && !self.inbox.is_agent_busy();
        is_waiting || !self.questions.is_empty()
    }

    /// Whether a turn runs or a message waits: the last result is not the end of
    /// the work.
    pub(crate) fn is_unfinished(&self) -> bool {
        self.is_interactive() && (self.turns.is_running || !self.inbox.messages.is_empty())
    }

    /// Whether no message can come any more.
    fn is_input_over(&self) -> bool {
        let is_over = self.own_input.as_ref().is_none_or(OwnInput::is_done);
        is_over && !self.options.keep_open
    }

    fn tell<T: LineBody>(&mut self, context: &Context<'_>, body: &T) {
        self.lines.push_back(compose(Some(context.run_id), body));
    }
}
