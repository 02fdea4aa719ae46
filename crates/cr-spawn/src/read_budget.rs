//! A reader that stops after so many bytes and says that it would block.
//!
//! One endless line, read as fast as it is written, would otherwise keep the
//! front from its clocks.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::rc::Rc;

use crate::stdout::{Maker, Sink};

/// A file, read by rations.
#[derive(Debug)]
pub(crate) struct BudgetedReader {
    file: File,
    left: Rc<Cell<usize>>,
}

/// What is left of a ration.
#[derive(Debug)]
pub(crate) struct ReadBudget(Rc<Cell<usize>>);

impl BudgetedReader {
    pub(crate) fn new(file: File) -> (Self, ReadBudget) {
        let left = Rc::new(Cell::new(0));
        let purse = ReadBudget(Rc::clone(&left));
        (Self { file, left }, purse)
    }
}

impl ReadBudget {
    /// Allows `bytes` more, and nothing of what was allowed before.
    pub(crate) fn fill(&self, bytes: usize) {
        self.0.set(bytes);
    }
}

/// How far the reading of a stream has come.
#[derive(Debug)]
pub(crate) struct Flow {
    purse: ReadBudget,
    is_over: bool,
    /// Reading ended before the lines at hand did.
    is_waiting: bool,
}

impl Flow {
    pub(crate) fn new(purse: ReadBudget) -> Self {
        Self {
            purse,
            is_over: false,
            is_waiting: false,
        }
    }
}

/// A stream of the agent's, read by rations so that the clocks and the signals
/// have their turn.
pub(crate) trait BudgetedRead {
    /// Lines read in one go.
    const ROUND: usize;
    /// Bytes read in one go.
    const BYTES: usize;

    fn flow(&self) -> &Flow;
    fn flow_mut(&mut self) -> &mut Flow;

    /// Takes one step; returns whether there may be another.
    fn step(&mut self, maker: &Maker<'_>, sink: &mut impl Sink) -> io::Result<bool>;

    /// Whether there is nothing more to come.
    fn is_over(&self) -> bool {
        self.flow().is_over
    }

    /// Whether there are lines that no more bytes will announce.
    fn is_waiting(&self) -> bool {
        self.flow().is_waiting && !self.flow().is_over
    }

    /// Reads what is there.
    fn read(&mut self, maker: &Maker<'_>, sink: &mut impl Sink) {
        self.flow_mut().purse.fill(Self::BYTES);
        self.flow_mut().is_waiting = true;
        for _ in 0..Self::ROUND {
            if self.is_over() || sink.is_full() {
                return;
            }
            match self.step(maker, sink) {
                Ok(true) => {}
                Err(err) if err.kind() == ErrorKind::WouldBlock => {
                    self.flow_mut().is_waiting = false;
                    return;
                }
                // A pipe that cannot be read has no more to say.
                Ok(false) | Err(_) => self.flow_mut().is_over = true,
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
