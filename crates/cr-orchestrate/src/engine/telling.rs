//! The engine, and whoever is told what it does.

use cr_io::Exit;

use super::{Engine, TaskRecord};
use crate::log::{RunLine, TaskLine};
use crate::report;
use crate::task_state::TaskState;

impl Engine {
    pub(super) fn end(&mut self, exit: Exit, state: &str, reason: &str) -> anyhow::Result<Exit> {
        let next = (exit != Exit::Ok).then(|| self.resume_command());
        let line = RunLine {
            state,
            reason,
            next: next.as_deref(),
            ..RunLine::default()
        };
        let line = self.log.run(&line)?;
        self.pass_on(&line);
        if let Some(next) = next {
            self.log.say(&format!("to go on: {next}"));
        }
        Ok(exit)
    }

    /// How to go on with this run.
    fn resume_command(&self) -> String {
        let tool = match self.stream {
            Some(_) => "claude-runner",
            None => "cr-orchestrate",
        };
        format!("{tool} --resume-run {}", self.run.id)
    }

    /// Says how attempt `number` ended and what follows.
    pub(super) fn tell(&mut self, one: &TaskRecord, number: u32) -> anyhow::Result<()> {
        let Some(last) = one.attempts.ended.last() else {
            return Ok(());
        };
        let reason = match one.assessment.state {
            TaskState::Done => one.assessment.reason.clone(),
            _ => format!(
                "{}; {}",
                last.end.why.trim_end_matches('.'),
                one.assessment.reason
            ),
        };
        let path = self.layout.attempt_path(&one.task.id, number);
        let line = TaskLine {
            id: &one.task.id,
            attempt: number,
            state: one.assessment.word(&one.attempts),
            reason: &reason,
            run_dir: Some(&path),
            ..TaskLine::ended(&last.end)
        };
        let line = self.log.task(&line)?;
        self.pass_on(&line);
        Ok(())
    }

    /// Leaves the files that show where a task stands.
    pub(super) fn show(&self, one: &TaskRecord) -> anyhow::Result<()> {
        let word = one.assessment.word(&one.attempts);
        let id = &one.task.id;
        self.layout.note(id, "status", &format!("{word}\n"));
        report::task(&self.layout, one)
    }

    pub(super) fn verdict(&self, known: &[TaskRecord]) -> (Exit, String) {
        let range = &known[..self.options.range.min(known.len())];
        let count = |of: fn(&TaskState) -> bool| {
            let all = range.iter().map(|one| &one.assessment.state);
            all.filter(|state| of(state)).count()
        };
        let done = count(|s| matches!(s, TaskState::Done));
        let failed = count(|s| matches!(s, TaskState::Failed));
        let asking = count(|s| matches!(s, TaskState::NeedsHuman | TaskState::Lost));
        let left = range.len() - done - failed - asking;
        let reason =
            format!("{done} done, {failed} failed, {asking} need a person, {left} not started");
        let exit = match (asking, failed + left) {
            (0, 0) => Exit::Ok,
            (0, _) => Exit::No,
            _ => Exit::Code(4),
        };
        (exit, reason)
    }
}
