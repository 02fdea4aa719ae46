//! The session: its queue, its turn, and the loop that drives both.

use std::collections::{HashSet, VecDeque};
use std::env;
use std::io::{self, Write};
use std::time::Instant;

use anyhow::Context;
use cr_signal::SIGTERM;

use crate::agent::found::{self, Leaf};
use crate::agent::ids;
use crate::agent::input::{self, Line, Message, Priority, Rule};
use crate::agent::log::Log;
use crate::agent::object::{json, object};
use crate::agent::options::{Dialect, Options};
use crate::agent::output::Output;
use crate::agent::result::Used;
use crate::agent::tasks::{Task, Wakeup};
use crate::agent::turn::Turn;
use crate::agent::wire::{Arrived, Wire};

/// Everything the stand-in knows.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) options: Options,
    pub(crate) out: Output,
    pub(crate) log: Log,
    pub(crate) used: Used,
    /// The id of the model's last message; its blocks share it.
    pub(crate) message_id: String,
    pub(crate) queue: VecDeque<Message>,
    /// Messages that were sent to this process.
    seen: HashSet<String>,
    /// Messages that the log of an earlier process has as turns.
    pub(crate) logged: HashSet<String>,
    /// Background tasks of an earlier process that ended with it.
    pub(crate) lost_tasks: Vec<String>,
    /// How the log ended; closed by the first turn.
    pub(crate) leaf: Leaf,
    pub(crate) turn: Option<Turn>,
    pub(crate) tasks: Vec<Task>,
    pub(crate) wakeups: VecDeque<Wakeup>,
    pub(crate) allowed: Vec<Rule>,
    /// Results that wait for the background agents, once input has ended.
    pub(crate) held: Vec<String>,
    pub(crate) is_closed: bool,
    pub(crate) is_idle: bool,
    pub(crate) was_error: bool,
    /// The process ends with this code.
    pub(crate) exit: Option<u8>,
}

impl Session {
    /// Opens the session, or says why it cannot be, as the real CLI does.
    pub(crate) fn open(options: Options) -> anyhow::Result<Option<Self>> {
        let cwd = env::current_dir().context("the working directory")?;
        let cwd = cwd.to_string_lossy().into_owned();
        let wanted = options.resume.as_ref().or(options.session_id.as_ref());
        let id = wanted.cloned().unwrap_or_else(ids::uuid);
        let found = found::find(&options.projects, &id);
        let mut out = Output::new(&options, &id, &cwd)?;
        if options.resume.is_some() && found.is_none() {
            unknown_session(&mut out, &id)?;
            return Ok(None);
        }
        if options.resume.is_none() && found.is_some() {
            writeln!(io::stderr(), "Error: Session ID {id} is already in use.")?;
            return Ok(None);
        }
        let log = Log::new(&options, &id, &cwd, found.as_ref());
        let (logged, lost_tasks, leaf) = found
            .map(|found| (found.taken, found.lost_tasks, found.leaf))
            .unwrap_or_default();
        Ok(Some(Self {
            options,
            out,
            log,
            used: Used::default(),
            message_id: String::new(),
            queue: VecDeque::new(),
            seen: HashSet::new(),
            logged,
            lost_tasks,
            leaf,
            turn: None,
            tasks: Vec::new(),
            wakeups: VecDeque::new(),
            allowed: Vec::new(),
            held: Vec::new(),
            is_closed: false,
            is_idle: true,
            was_error: false,
            exit: None,
        }))
    }

    pub(crate) fn dialect(&self) -> Dialect {
        self.options.dialect
    }

    /// Runs until the end; returns the exit code.
    pub(crate) fn serve(&mut self, wire: &mut Wire) -> anyhow::Result<u8> {
        loop {
            if let Some(code) = self.exit {
                return Ok(code);
            }
            if self.is_over() {
                self.release()?;
                return Ok(u8::from(self.was_error));
            }
            let until = self.next_time();
            let child = self.turn.as_ref().and_then(Turn::child);
            let arrived = wire.wait(child, until)?;
            self.take(arrived)?;
            self.go_on()?;
        }
    }

    fn is_over(&self) -> bool {
        let is_quiet = self.turn.is_none() && self.queue.is_empty() && self.wakeups.is_empty();
        self.is_closed && is_quiet && self.tasks.is_empty()
    }

    /// When there is something to do without input.
    fn next_time(&self) -> Option<Instant> {
        let turn = self.turn.as_ref().and_then(Turn::until);
        let tasks = self.tasks.iter().map(|task| task.until);
        tasks.chain(turn).chain(self.log.due).min()
    }

    fn take(&mut self, arrived: Arrived) -> anyhow::Result<()> {
        for number in arrived.signals {
            self.signal(number)?;
        }
        for line in arrived.lines {
            // Nothing is read after the end.
            if self.exit.is_some() {
                return Ok(());
            }
            self.line(&line)?;
        }
        if arrived.has_ended {
            self.input_closed();
        }
        Ok(())
    }

    /// Does what is due.
    fn go_on(&mut self) -> anyhow::Result<()> {
        let now = Instant::now();
        self.log.flush_due(now)?;
        while self.exit.is_none() && self.finish_task(now)? {}
        while self.exit.is_none() && self.advance(now)? {}
        Ok(())
    }

    pub(crate) fn input_closed(&mut self) {
        self.is_closed = true;
        self.answer_open_question();
    }

    fn signal(&mut self, number: i32) -> anyhow::Result<()> {
        if number == SIGTERM {
            self.kill_command();
            self.exit = Some(143);
            return Ok(());
        }
        // The older one still runs what was queued.
        if self.dialect().is_new() {
            self.queue.clear();
        }
        self.kill_agents()?;
        self.is_closed = true;
        self.interrupt()?;
        if self.dialect().is_new() {
            self.exit = Some(0);
        }
        Ok(())
    }

    fn line(&mut self, line: &str) -> anyhow::Result<()> {
        match input::read(line, self.dialect()) {
            Line::Message(message) => self.message(message),
            Line::Request(request) => self.control(&request),
            Line::Response(response, line) => self.decided(response, &line),
            Line::Ignored => Ok(()),
            Line::Fatal(error) => {
                writeln!(io::stderr(), "{error}")?;
                self.exit = Some(1);
                Ok(())
            }
        }
    }

    /// A message comes in.
    pub(crate) fn message(&mut self, message: Message) -> anyhow::Result<()> {
        let is_logged = self.logged.contains(&message.uuid) && !self.is_unanswered(&message.uuid);
        if is_logged || !self.seen.insert(message.uuid.clone()) {
            return self.drop_repeated(&message, is_logged);
        }
        self.log.queue("enqueue", Some(&message.content));
        self.set_running()?;
        self.out.lifecycle(&message, "queued")?;
        let is_urgent = message.priority == Priority::Now;
        self.queue.push_back(message);
        if is_urgent {
            self.preempt()?;
        }
        self.tell_lost_tasks()?;
        // The first message begins a turn at once; those behind it wait.
        self.begin()
    }

    /// The newer release repeats the message that its log ends with, if it is
    /// the first that comes.
    fn is_unanswered(&self, uuid: &str) -> bool {
        self.dialect().is_new() && matches!(&self.leaf, Leaf::Prompt(leaf) if leaf == uuid)
    }

    /// A message that was sent before is acknowledged, and not done again.
    fn drop_repeated(&mut self, message: &Message, is_logged: bool) -> anyhow::Result<()> {
        let waits = self.queue.iter().any(|it| it.uuid == message.uuid);
        if waits && self.dialect().is_new() {
            return Ok(());
        }
        self.out.replay(&message.content, &message.uuid, None)?;
        if is_logged {
            self.out.lifecycle(message, "completed")?;
        }
        if self.turn.is_none() {
            self.out.state("idle")?;
        }
        Ok(())
    }

    pub(crate) fn set_running(&mut self) -> io::Result<()> {
        if self.is_idle {
            self.is_idle = false;
            self.out.state("running")?;
        }
        Ok(())
    }

    /// Takes the messages of the next turn from the queue.
    pub(crate) fn next_messages(&mut self) -> Vec<Message> {
        let urgent = self.take_with(Priority::Now);
        if !urgent.is_empty() {
            return urgent;
        }
        let merged = self.take_with(Priority::Next);
        if !merged.is_empty() {
            return merged;
        }
        self.queue.pop_front().into_iter().collect()
    }

    pub(crate) fn take_with(&mut self, priority: Priority) -> Vec<Message> {
        let all = std::mem::take(&mut self.queue);
        let (taken, rest): (VecDeque<_>, _) =
            all.into_iter().partition(|it| it.priority == priority);
        self.queue = rest;
        taken.into()
    }

    /// After a turn: says that the session is idle, if it is.
    pub(crate) fn settle(&mut self) -> io::Result<()> {
        let waits_for_agents = self.dialect().is_new() && self.has_agents();
        if self.queue.is_empty() && self.wakeups.is_empty() && !waits_for_agents {
            self.is_idle = true;
            self.out.state("idle")?;
        }
        Ok(())
    }
}

fn unknown_session(out: &mut Output, id: &str) -> io::Result<()> {
    let error = format!("No conversation found with session ID: {id}");
    let mut line = object! {
        "type": "result",
        "subtype": "error_during_execution",
        "duration_ms": 0,
        "duration_api_ms": 0,
        "is_error": true,
        "num_turns": 0,
        "stop_reason": (),
        "session_id": id,
        "total_cost_usd": 0,
        "modelUsage": object! {}.json(),
        "permission_denials": json::<[u8; 0]>(&[]),
        "uuid": ids::uuid(),
        "errors": [&error],
    };
    if out.dialect.is_new() {
        line.put("result_index", &0);
    }
    out.line(line.json().get())?;
    writeln!(io::stderr(), "{error}")
}
