//! The attempts of an engine: how each is put on record, started, watched and
//! settled.

use cr_agent::AgentOptions;
use cr_milestone::{NextRun, Question};
use cr_rundir::{RunId, file, state_text};
use cr_verdict::Outcome;
use signal_hook::consts::SIGTERM;

use super::Engine;
use super::running::RunningAttempt;
use crate::attempt::{Ended, Spec};
use crate::isolation::Place;
use crate::log::ended_task;
use crate::prompt::{self, NextAttempt};
use crate::schedule::TaskRecord;
use crate::task::Task;
use crate::task_state::TaskState;
use crate::{agent_options, report};

impl Engine {
    /// Starts a new attempt at task `at`.
    pub(super) fn start(&mut self, at: usize) -> anyhow::Result<()> {
        let record = &self.tasks[at];
        let TaskState::Ready { next, .. } = &record.assessment.state else {
            return Ok(());
        };
        let (number, session) = self.record_attempt(record, next)?;
        let mut reason = record.assessment.reason.clone();
        if let Some(session) = session {
            reason = format!("{reason}; {session}");
        }
        self.watch(at, number, "running", &reason)
    }

    /// The first slot in which no attempt runs.
    fn free_slot(&self) -> u32 {
        let is_taken = |slot: &u32| self.running.values().any(|attempt| attempt.slot == *slot);
        let most = u32::try_from(self.running.len()).unwrap_or(u32::MAX);
        (0..most).find(|slot| !is_taken(slot)).unwrap_or(most)
    }

    /// Watches the attempt at task `at` that an engine before this one started.
    pub(super) fn adopt(&mut self, at: usize) -> anyhow::Result<()> {
        let TaskState::Open(number) = self.tasks[at].assessment.state else {
            return Ok(());
        };
        self.watch(at, number, "adopted", "it was started before")
    }

    /// Puts on record what the next attempt at a task is; returns its number and,
    /// if a milestone has chosen the session, why.
    fn record_attempt(
        &self,
        record: &TaskRecord,
        next: &NextAttempt,
    ) -> anyhow::Result<(u32, Option<String>)> {
        let task = &record.task;
        let last = record.attempts.ended.last();
        let number = record.attempts.last_number() + 1;
        let resume = next.again.as_ref().is_some_and(|again| again.resume);
        let session = last.and_then(|last| last.end.session.clone());
        let was_cut = last.is_some_and(was_cut_off);
        let given = self.run.settings.agent.as_ref();
        let mut options = self.options_of(task, (number, resume || next.is_handoff))?;
        // The attempts of one command line bear the name of its run.
        let run_id = match given {
            Some(_) => self.run.id.clone(),
            None => RunId::new().to_string(),
        };
        let mut spec = Spec {
            run_id,
            number,
            task: task.clone(),
            limits: self.next_limits(record),
            model: next.model.clone(),
            resume: session.filter(|_| resume),
            resumed: resume && was_cut,
            sprint: self.run.settings.sprint,
            is_part: given.is_some(),
            scope_from: last.and_then(scope_from),
            slot: self.free_slot(),
            gates: self.run.settings.gates.clone(),
            sandbox: self.run.settings.sandbox.clone(),
            ..Spec::default()
        };
        if let Some(worktrees) = &self.run.settings.worktrees {
            let run = (self.run.id.as_str(), worktrees);
            spec.place = Some(Place::of(&self.layout, run, task, number, last)?);
        }
        let answer = self
            .join_milestone(&mut spec, next, last)?
            .unwrap_or_default();
        spec.change(&mut options);
        spec.agent = Some(cr_agent::Settings::of_options(&options));
        let text = answer.prompt_prefix + &prompt::prompt(task, next, last, spec.sprint);
        let dir = self.layout.attempt(&task.id, number)?;
        dir.write(file::ATTEMPT_PROMPT, text.as_bytes())?;
        self.layout.note(&task.id, "prompt", &text);
        dir.write_once(file::ATTEMPT, &state_text(&spec)?)?;
        Ok((number, Some(answer.why).filter(|why| !why.is_empty())))
    }

    /// The options of attempt `number` at `task`, which may continue the one before.
    fn options_of(
        &self,
        task: &Task,
        (number, is_continuing): (u32, bool),
    ) -> anyhow::Result<AgentOptions> {
        match &self.run.settings.agent {
            Some(given) => Ok(agent_options::of_command_line(
                given.options(),
                number,
                is_continuing,
            )),
            None => agent_options::of_task(task, &self.configured),
        }
    }

    /// Puts an attempt into the session of the run's milestone, as the ledger says.
    /// One that continues an attempt stays in its session. The answer is part of
    /// the record, so the ledger is asked once for an attempt that starts.
    fn join_milestone(
        &self,
        spec: &mut Spec,
        next: &NextAttempt,
        last: Option<&Ended>,
    ) -> anyhow::Result<Option<NextRun>> {
        let Some(milestone) = &self.run.settings.milestone else {
            return Ok(None);
        };
        if spec.resume.is_some() {
            spec.milestone = last.and_then(|last| last.spec.milestone.clone());
            return Ok(None);
        }
        let is_missing = last.is_some_and(|last| last.facts().session_missing);
        let question = Question {
            milestone: milestone.as_ref(),
            project: &spec.task.cwd,
            plan: None,
            is_new: next.is_handoff || is_missing,
        };
        let answer = question.ask()?;
        let session = Some(answer.session_id.clone());
        if answer.resume {
            spec.resume = session;
        } else {
            (spec.session_id, spec.resume) = (session, None);
        }
        spec.milestone = Some(answer.milestone_id.clone());
        Ok(Some(answer))
    }

    fn watch(&mut self, at: usize, number: u32, state: &str, reason: &str) -> anyhow::Result<()> {
        let id = self.tasks[at].task.id.clone();
        self.tasks[at].is_suspended = false;
        self.layout.note(&id, "status", "running\n");
        let now = format!("{}\n", cr_stream::now());
        self.layout.note(&id, "start", &now);
        report::stream(&self.layout, &id, number);
        let path = self.layout.attempt_path(&id, number);
        let slot = self.layout.spec(&id, number)?.map_or(0, |spec| spec.slot);
        self.log_task(&cr_stream::Task {
            id: id.into(),
            attempt: number,
            state: state.into(),
            reason: reason.into(),
            run_dir: Some(path.to_string_lossy()),
            ..cr_stream::Task::default()
        })?;
        self.set_aside(at, number)?;
        self.observer.attempt_began(&path, number)?;
        let dies_with_engine = self.options.attempts_die_with_engine;
        let ignores_hangup = self.stop_requests.ignores_hangup();
        let attempt = (number, slot);
        let attempt = RunningAttempt::new(path, attempt, dies_with_engine, ignores_hangup);
        self.running.insert(at, attempt);
        Ok(())
    }

    /// Gives a supervisor to each attempt that needs one, and settles those that
    /// have ended.
    pub(super) fn settle_ended(&mut self) -> anyhow::Result<()> {
        let stop_signal = self.stop_signal;
        let (mut ended, mut suspended) = (Vec::new(), Vec::new());
        for (&at, attempt) in &mut self.running {
            if let Some(pid) = attempt.supervise()? {
                let id = &self.tasks[at].task.id;
                self.layout.note(id, "pid", &format!("{pid}\n"));
                if let Some(signal) = stop_signal {
                    attempt.signal(signal);
                }
            }
            if attempt.is_suspended() {
                suspended.push(at);
            } else if attempt.has_ended() && self.observer.attempt_ended(&attempt.path)? {
                ended.push(at);
            }
        }
        for at in ended {
            self.settle(at)?;
        }
        for at in suspended {
            self.suspend(at);
        }
        Ok(())
    }

    /// Takes note that the work of task `at` is verified or merged when the run goes
    /// on: it was asked to stop, or is stuck. Nothing else is started.
    fn suspend(&mut self, at: usize) {
        let Some(attempt) = self.running.remove(&at) else {
            return;
        };
        let record = &mut self.tasks[at];
        record.is_suspended = true;
        let id = &record.task.id;
        self.layout.note(id, "status", "stopped\n");
        match std::fs::read_to_string(attempt.path.join(file::ATTEMPT_STUCK)) {
            Ok(text) => {
                let text = format!("`{id}`: its work could not be checked or merged: {text}");
                self.stuck.get_or_insert(text);
            }
            Err(_) => {
                self.stop_signal.get_or_insert(SIGTERM);
            }
        }
    }

    /// Takes note of how the attempt at task `at` ended.
    fn settle(&mut self, at: usize) -> anyhow::Result<()> {
        let Some(attempt) = self.running.remove(&at) else {
            return Ok(());
        };
        let task = self.tasks[at].task.clone();
        let record = self.read_record(task)?;
        self.funds.release(at);
        self.tell_end(&record, attempt.number)?;
        self.show(&record)?;
        self.tasks[at] = record;
        Ok(())
    }

    /// Says how attempt `number` ended and what follows.
    fn tell_end(&mut self, record: &TaskRecord, number: u32) -> anyhow::Result<()> {
        let Some(last) = record.attempts.ended.last() else {
            return Ok(());
        };
        let next = &record.assessment.reason;
        let reason = match record.assessment.state {
            TaskState::Done => next.clone(),
            _ => format!("{}; {next}", last.end.why.trim_end_matches('.')),
        };
        let path = self.layout.attempt_path(&record.task.id, number);
        self.log_task(&cr_stream::Task {
            id: record.task.id.as_str().into(),
            attempt: number,
            state: record.assessment.word(&record.attempts).into(),
            reason: reason.into(),
            run_dir: Some(path.to_string_lossy()),
            ..ended_task(&last.end)
        })
    }

    fn log_task(&mut self, line: &cr_stream::Task<'_>) -> anyhow::Result<()> {
        let bytes = self.log.write(line)?;
        self.observer.task_changed(line, &bytes);
        Ok(())
    }

    /// Says which waves began or are over. One task that came as a command line has
    /// none.
    pub(super) fn tell_waves(&mut self) -> anyhow::Result<()> {
        if self.run.settings.agent.is_some() {
            return Ok(());
        }
        let running = &self.running;
        let changes = self
            .waves
            .changes(&self.tasks, |at| running.contains_key(&at));
        for line in changes {
            let bytes = self.log.write(&line)?;
            self.observer.wave_changed(&line, &bytes);
        }
        Ok(())
    }

    /// Writes the files that show the state of a task.
    pub(super) fn show(&self, record: &TaskRecord) -> anyhow::Result<()> {
        let word = record.assessment.word(&record.attempts);
        let id = &record.task.id;
        self.layout.note(id, "status", &format!("{word}\n"));
        report::task(&self.layout, record)
    }

    /// Ends all attempts of a run that broke off.
    pub(super) fn stop_running(&mut self) {
        for attempt in self.running.values_mut() {
            attempt.signal(SIGTERM);
        }
        for attempt in self.running.values_mut() {
            attempt.wait();
        }
    }
}

fn was_cut_off(last: &Ended) -> bool {
    matches!(last.end.outcome(), Outcome::Killed | Outcome::Incomplete)
}

/// The attempt that the scope of the one after `last` is measured from.
fn scope_from(last: &Ended) -> Option<u32> {
    let is_outside = last.end.outcome() == Outcome::ScopeViolation && last.again.is_none();
    is_outside.then(|| last.spec.scope_from.unwrap_or(last.spec.number))
}
