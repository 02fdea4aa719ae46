//! One turn: its beginning, its steps and its end.

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::process::{Signal, getpid, kill_process};

use crate::agent::ids;
use crate::agent::input::{Message, Priority};
use crate::agent::object::{Json, json};
use crate::agent::script::{self, Step};
use crate::agent::session::Session;
use crate::agent::tasks::Wakeup;
use crate::agent::tool::{Call, Running};

/// How long the model "thinks".
const THINKING: Duration = Duration::from_millis(2);

/// A turn that runs.
#[derive(Debug)]
pub(crate) struct Turn {
    /// The messages that began it.
    pub(crate) starters: Vec<Message>,
    pub(crate) folded: Vec<Message>,
    pub(crate) wakeup: Option<Wakeup>,
    steps: VecDeque<Step>,
    texts: Vec<String>,
    pub(crate) waits: Wait,
    pub(crate) num_turns: u32,
    /// The model has written something; until then the messages are not replayed.
    pub(crate) has_spoken: bool,
    pub(crate) field: Option<String>,
    pub(crate) denials: Vec<Json>,
    pub(crate) began: Instant,
}

/// What a turn waits for.
#[derive(Debug)]
pub(crate) enum Wait {
    /// The model, which has written nothing of its message yet.
    Model(Instant),
    /// The model, in the middle of its text.
    Text(Instant),
    /// A tool that only takes time.
    Tool(Call, Instant),
    /// A command that really runs.
    Command(Running),
    /// The answer to the question with this id.
    Answer(String, Call),
    /// Nothing but an interrupt.
    Nothing,
}

impl Turn {
    fn new(starters: Vec<Message>, wakeup: Option<Wakeup>) -> Self {
        let mut turn = Self {
            starters: Vec::new(),
            folded: Vec::new(),
            wakeup,
            steps: VecDeque::new(),
            texts: Vec::new(),
            waits: Wait::Model(Instant::now() + THINKING),
            num_turns: 1,
            has_spoken: false,
            field: None,
            denials: Vec::new(),
            began: Instant::now(),
        };
        for message in &starters {
            turn.hear(message);
        }
        turn.starters = starters;
        turn
    }

    fn hear(&mut self, message: &Message) {
        self.steps.extend(script::steps(&message.text));
        self.texts.push(message.text.clone());
    }

    /// When it goes on by itself.
    pub(crate) fn until(&self) -> Option<Instant> {
        match &self.waits {
            Wait::Model(until) | Wait::Text(until) | Wait::Tool(_, until) => Some(*until),
            Wait::Command(_) | Wait::Answer(..) | Wait::Nothing => None,
        }
    }

    /// The command that it waits for.
    pub(crate) fn child(&self) -> Option<BorrowedFd<'_>> {
        match &self.waits {
            Wait::Command(running) => Some(running.ended.as_fd()),
            _ => None,
        }
    }

    /// Whether a tool runs, or waits for permission: what comes now is folded in.
    pub(crate) fn is_in_tool(&self) -> bool {
        matches!(
            self.waits,
            Wait::Tool(..) | Wait::Command(_) | Wait::Answer(..)
        )
    }

    /// The named messages of the turn, the folded ones too if `all`.
    pub(crate) fn uuids(&self, all: bool) -> Vec<String> {
        let folded = self.folded.iter().filter(|_| all);
        let named = self.starters.iter().chain(folded).filter(|it| it.is_named);
        named.map(|it| it.uuid.clone()).collect()
    }

    pub(crate) fn lead(&self) -> Option<String> {
        let last = self.starters.last().filter(|it| it.is_named);
        last.map(|it| it.uuid.clone())
    }

    /// The joined content of the messages that began it.
    pub(crate) fn content(&self) -> Json {
        match &self.starters[..] {
            [one] => one.content.clone(),
            all => json(
                &all.iter()
                    .map(|it| &it.text[..])
                    .collect::<Vec<_>>()
                    .join("\n"),
            ),
        }
    }

    pub(crate) fn answer(&self) -> String {
        if let Some(wakeup) = &self.wakeup {
            return wakeup.answer();
        }
        let answers = self.texts.iter().map(|text| format!("answer to: {text}"));
        answers.collect::<Vec<_>>().join("\n")
    }
}

impl Session {
    /// Begins the next turn, if there is none and something waits.
    pub(crate) fn begin(&mut self) -> anyhow::Result<()> {
        if self.turn.is_some() || self.exit.is_some() {
            return Ok(());
        }
        if !self.queue.is_empty() {
            let messages = self.next_messages();
            return self.begin_with(messages);
        }
        if let Some(wakeup) = self.wakeups.pop_front() {
            return self.begin_woken(wakeup);
        }
        Ok(())
    }

    fn begin_with(&mut self, messages: Vec<Message>) -> anyhow::Result<()> {
        for message in &messages[..messages.len() - 1] {
            self.out
                .replay(&message.content, &message.uuid, Some(&message.at))?;
        }
        for message in &messages {
            self.out.lifecycle(message, "started")?;
            self.log.queue("dequeue", None);
        }
        let turn = Turn::new(messages, None);
        let mode = &self.options.permission_mode;
        self.out
            .init(&self.options.model, mode, &turn.uuids(false))?;
        let leaf = std::mem::take(&mut self.leaf);
        self.log.close_leaf(&leaf, self.options.dialect);
        if let [merged @ .., last] = &turn.starters[..] {
            let merged: Vec<String> = merged.iter().map(|it| it.uuid.clone()).collect();
            // A message that is repeated keeps its record.
            if !self.logged.contains(&last.uuid) {
                self.log.turn(&turn.content(), &last.uuid, &merged, mode);
            }
        }
        self.turn = Some(turn);
        Ok(())
    }

    pub(crate) fn begin_woken(&mut self, wakeup: Wakeup) -> anyhow::Result<()> {
        self.set_running()?;
        if !self.dialect().is_new() {
            self.notify(&wakeup)?;
        }
        if let Some(message) = wakeup.message() {
            self.out.lifecycle(message, "started")?;
        }
        let mode = &self.options.permission_mode;
        self.out.init(&self.options.model, mode, &[])?;
        let prompt = wakeup.prompt();
        self.log.turn(&json(&prompt), &ids::uuid(), &[], mode);
        self.turn = Some(Turn::new(Vec::new(), Some(wakeup)));
        Ok(())
    }

    /// Goes on with the turn, if it is time; tells whether it was.
    pub(crate) fn advance(&mut self, now: Instant) -> anyhow::Result<bool> {
        let Some(turn) = &mut self.turn else {
            return Ok(false);
        };
        match std::mem::replace(&mut turn.waits, Wait::Nothing) {
            Wait::Model(until) | Wait::Text(until) if until <= now => self.step()?,
            Wait::Tool(call, until) if until <= now => self.tool_done(&call, "done", false)?,
            Wait::Command(mut running) => match running.output()? {
                Some((text, is_error)) => self.tool_done(&running.call, &text, is_error)?,
                None => return Ok(self.keep(Wait::Command(running))),
            },
            other => return Ok(self.keep(other)),
        }
        self.begin()?;
        Ok(true)
    }

    fn keep(&mut self, waits: Wait) -> bool {
        self.wait_for(waits);
        false
    }

    pub(crate) fn wait_for(&mut self, waits: Wait) {
        if let Some(turn) = &mut self.turn {
            turn.waits = waits;
        }
    }

    fn step(&mut self) -> anyhow::Result<()> {
        let Some(step) = self.turn.as_mut().and_then(|turn| turn.steps.pop_front()) else {
            return self.finish();
        };
        let now = Instant::now();
        match step {
            Step::Text(time) => self.wait_for(Wait::Text(now + time)),
            Step::Tool(time) => self.tool(time)?,
            Step::Ask { tool, command } => self.ask(&tool, &command)?,
            Step::Choose { question, choices } => self.choose(&question, &choices)?,
            Step::Agent { time, wakes } => self.start_agent(time, wakes)?,
            Step::Shell(time) => self.start_shell(time)?,
            Step::Peer => {
                if !self.options.refuses_peers {
                    self.wakeups.push_back(Wakeup::peer());
                }
                self.wait_for(Wait::Model(now));
            }
            Step::Field(name) => {
                if let Some(turn) = &mut self.turn {
                    turn.field = Some(name);
                }
                self.wait_for(Wait::Model(now));
            }
            Step::Fail => self.fail()?,
            Step::Exit(code) => self.exit = Some(code),
            Step::Crash => kill_process(getpid(), Signal::KILL)?,
            Step::Silent => {}
        }
        Ok(())
    }

    /// Takes the messages that came during a tool into the turn.
    pub(crate) fn fold(&mut self) -> anyhow::Result<()> {
        let messages = self.take_with(Priority::Next);
        for message in &messages {
            self.out
                .replay(&message.content, &message.uuid, Some(&message.at))?;
            self.log.folded(message);
        }
        for message in &messages {
            self.out.lifecycle(message, "started")?;
        }
        if let Some(turn) = &mut self.turn {
            for message in &messages {
                turn.hear(message);
            }
            turn.folded.extend(messages);
            turn.waits = Wait::Model(Instant::now() + THINKING);
        }
        Ok(())
    }
}
