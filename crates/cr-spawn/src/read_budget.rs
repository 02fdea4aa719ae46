//! Reading a stream of the agent within a budget.
//!
//! One endless line, read as fast as it is written, would otherwise keep the
//! supervisor from its clocks and its signals.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::rc::Rc;

use crate::context::Context;
use crate::stdout::Sink;

/// A file whose read would block when the budget is spent.
#[derive(Debug)]
pub(crate) struct BudgetedReader {
    file: File,
    left: Rc<Cell<usize>>,
}

/// How many bytes may still be read.
#[derive(Debug)]
pub(crate) struct ReadBudget(Rc<Cell<usize>>);

impl BudgetedReader {
    pub(crate) fn new(file: File) -> (Self, ReadBudget) {
        let left = Rc::new(Cell::new(0));
        let budget = ReadBudget(Rc::clone(&left));
        (Self { file, left }, budget)
    }
}

impl ReadBudget {
    /// Allows `bytes` from now on; what is left from before is gone.
    pub(crate) fn renew(&self, bytes: usize) {
        self.0.set(bytes);
    }
}

/// How far the reading of a stream has come.
#[derive(Debug)]
pub(crate) struct ReadState {
    budget: ReadBudget,
    is_over: bool,
    /// Reading stopped before the lines at hand did.
    is_waiting: bool,
}

impl ReadState {
    pub(crate) fn new(budget: ReadBudget) -> Self {
        Self {
            budget,
            is_over: false,
            is_waiting: false,
        }
    }
}

/// A stream of the agent that is read within a budget.
pub(crate) trait BudgetedRead {
    /// The most steps of one read.
    const MAX_STEPS: usize;
    /// The most bytes of one read.
    const MAX_BYTES: usize;

    fn reading(&self) -> &ReadState;
    fn reading_mut(&mut self) -> &mut ReadState;

    /// Takes one step, a line as a rule; returns whether there may be another.
    fn step(&mut self, context: &Context<'_>, sink: &mut impl Sink) -> io::Result<bool>;

    /// Whether the stream is at its end.
    fn is_over(&self) -> bool {
        self.reading().is_over
    }

    /// Whether there are lines that no readable descriptor will announce.
    fn is_waiting(&self) -> bool {
        self.reading().is_waiting && !self.reading().is_over
    }

    /// Reads what is there, within the budget.
    fn read(&mut self, context: &Context<'_>, sink: &mut impl Sink) {
        self.reading_mut().budget.renew(Self::MAX_BYTES);
        self.reading_mut().is_waiting = true;
        for _ in 0..Self::MAX_STEPS {
            if self.is_over() || sink.is_full() {
                return;
            }
            match self.step(context, sink) {
                Ok(true) => {}
                Err(err) if err.kind() == ErrorKind::WouldBlock => {
                    self.reading_mut().is_waiting = false;
                    return;
                }
                // A pipe that cannot be read is at its end.
                Ok(false) | Err(_) => self.reading_mut().is_over = true,
            }
        }
    }
}

impl Read for BudgetedReader {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let left = self.left.get();
        if left == 0 {
            return Err(ErrorKind::WouldBlock.into());
        }
        let read = self.file.read(buf)?;
        self.left.set(left.saturating_sub(read));
        Ok(read)
    }
}
