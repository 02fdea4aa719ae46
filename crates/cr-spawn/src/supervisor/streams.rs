//! The streams of a run: the agent's three, and our standard output.

use std::io::{IsTerminal, Stdout as OwnStdout};
use std::time::Instant;

use super::Key;
use crate::activity::Activity;
use crate::context::Context;
use crate::input_queue::InputQueue;
use crate::output::{Fate, Output};
use crate::poll_set::{PollSet, is_pipe};
use crate::read_budget::BudgetedRead;
use crate::session::Session;
use crate::stderr::Stderr;
use crate::stdout::{Sink, Stdout};

/// Where lines come from and go to.
#[derive(Debug)]
pub(crate) struct Streams {
    pub(crate) output: Output,
    pub(crate) input: InputQueue,
    pub(crate) stdout: Stdout,
    pub(crate) stderr: Stderr,
    /// Somebody reads our standard output and may stop doing so.
    pub(super) reader_may_leave: bool,
}

impl Streams {
    pub(crate) fn new(output: Output, input: InputQueue, stdout: Stdout, stderr: Stderr) -> Self {
        let own = std::io::stdout();
        Self {
            output,
            input,
            stdout,
            stderr,
            reader_may_leave: !own.is_terminal() && is_pipe(&own),
        }
    }

    /// Adds what to wait for once the agent runs.
    pub(super) fn register<'a>(
        &'a self,
        set: &mut PollSet<'a, Key>,
        own_stdout: &'a OwnStdout,
        is_blocked: bool,
    ) {
        if let Some(pipe) = self.input.writable() {
            set.add_writer(Key::Input, pipe);
        }
        if !is_blocked && !self.stdout.is_over() {
            set.add_reader(Key::Stdout, &self.stdout);
        }
        if !is_blocked && !self.stderr.is_over() {
            set.add_reader(Key::Stderr, &self.stderr);
        }
        // A reader that is known to have left would end every wait at once.
        if self.output.fate() == Fate::Open {
            set.add_hangup(Key::Reader, own_stdout);
        }
    }

    /// Whether lines are read that are not passed on yet.
    pub(super) fn has_lines(&self) -> bool {
        self.stdout.is_waiting() || self.stderr.is_waiting()
    }

    /// Whether both pipes of the agent are at their end.
    pub(super) fn are_closed(&self) -> bool {
        self.stdout.is_over() && self.stderr.is_over()
    }

    /// Passes on what the agent wrote to its standard output; returns whether
    /// there was a line.
    pub(super) fn relay_stdout(
        &mut self,
        context: &Context<'_>,
        activity: &mut Activity,
        session: &mut Session,
    ) -> bool {
        let before = self.stdout.counts().lines;
        let mut relay = Relay {
            output: &mut self.output,
            activity: Some(activity),
            session: Some((session, context)),
            now: Instant::now(),
        };
        self.stdout.read(context, &mut relay);
        self.stdout.counts().lines > before
    }

    /// Passes on what the agent wrote to its standard error. It is no sign that
    /// the model works.
    pub(super) fn relay_stderr(&mut self, context: &Context<'_>) {
        let mut relay = Relay {
            output: &mut self.output,
            activity: None,
            session: None,
            now: Instant::now(),
        };
        self.stderr.read(context, &mut relay);
    }
}

/// Where lines go while they are read: to the output, to the activity, and to the
/// session.
struct Relay<'a> {
    output: &'a mut Output,
    activity: Option<&'a mut Activity>,
    session: Option<(&'a mut Session, &'a Context<'a>)>,
    now: Instant,
}

impl Sink for Relay<'_> {
    fn pass(&mut self, line: &[u8]) {
        if let Some(activity) = &mut self.activity {
            activity.line(line, self.now);
        }
        self.output.line(line);
        if let Some((session, context)) = &mut self.session {
            session.agent_line(line, context);
            // What a line means comes right after it.
            while let Some(line) = session.next_line() {
                self.output.line(&line);
            }
        }
    }

    fn replace(&mut self, line: &[u8]) {
        if let Some(activity) = &mut self.activity {
            activity.sign_of_life(self.now);
        }
        self.output.line(line);
    }

    fn is_full(&self) -> bool {
        self.output.is_full()
    }
}
