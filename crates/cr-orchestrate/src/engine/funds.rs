//! The engine and the budget of its run.

use std::io::Read;
use std::os::fd::AsFd;

use cr_rundir::file;
use rustix::event::PollFlags;

use super::Engine;
use crate::attempt::{Limits, Spec, read_state};
use crate::run_budget::{Funds, Purse, RunBudget};
use crate::schedule::{Ending, TaskRecord};

impl Engine {
    /// What attempts that start now may use.
    pub(super) fn purse(&self) -> Purse {
        let free = self.options.slots.saturating_sub(self.running.len());
        self.funds.purse(&self.tasks, free)
    }

    /// The limits of the next attempt at a task that the schedule starts.
    pub(super) fn next_limits(&self, record: &TaskRecord) -> Limits {
        let limits = record.next_limits().unwrap_or_default();
        let given = self.purse().take(record);
        Limits {
            budget_usd: given.unwrap_or(limits.budget_usd),
            ..limits
        }
    }

    /// Sets aside what attempt `number` at task `at` may use.
    pub(super) fn set_aside(&mut self, at: usize, number: u32) -> anyhow::Result<()> {
        let path = self.layout.attempt_path(&self.tasks[at].task.id, number);
        let spec: Option<Spec> = read_state(&path.join(file::ATTEMPT))?;
        let usd = spec.and_then(|spec| spec.limits.budget_usd);
        self.funds.set_aside(at, usd);
        Ok(())
    }

    /// Whether a person raises the budget, so that the run goes on.
    pub(super) fn is_raised(&mut self, ending: &Ending, raised: RunBudget) -> anyhow::Result<bool> {
        let word = raised.word();
        let question = format!("{}. Continue with --budget {word}? [y/N]", ending.reason);
        if !self.observer.asks(&question) || !self.is_confirmed()? {
            return Ok(false);
        }
        self.run.settings.budget = Some(raised);
        let run = serde_json::to_vec(&self.run)?;
        self.layout.dir.write(file::RUN, &run)?;
        self.funds = Funds::new(Some(raised));
        Ok(true)
    }

    /// Whether the line that a person types begins with `y`. A signal is a no.
    fn is_confirmed(&mut self) -> anyhow::Result<bool> {
        let input = std::io::stdin();
        loop {
            let came = self
                .stop_requests
                .wait(&[(input.as_fd(), PollFlags::IN)], None)?;
            if self.stop_requests.first().is_some() {
                return Ok(false);
            }
            if came.iter().any(|flags| !flags.is_empty()) {
                break;
            }
        }
        let mut line = [0; 256];
        let read = input.lock().read(&mut line)?;
        let answer = String::from_utf8_lossy(&line[..read]);
        Ok(answer.trim_start().starts_with(['y', 'Y']))
    }

    /// The command that goes on after `ending`.
    pub(super) fn next_command(&self, ending: &Ending) -> String {
        let resume = self.run.resume_command();
        match ending.raised {
            Some(raised) => format!("{resume} --budget {}", raised.word()),
            None => resume,
        }
    }
}
