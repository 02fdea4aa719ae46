//! Questions of the agent: who answers them, and when.

use std::time::Instant;

use cr_event::Raw;
use cr_policy::Action;
use cr_rundir::{Decision, QuestionLine};
use cr_stream::{AskState, Named};

use super::question::{Answer, Question};
use super::{Completion, Effect, Session};
use crate::context::Context;
use crate::prepare::note;

/// Who denies a question that nobody has answered.
const TIMEOUT: &str = "timeout";

impl Session {
    /// The agent asks. The question is on disk before anybody sees it.
    pub(super) fn question(&mut self, line: Raw<'_>, context: &Context<'_>, now: Instant) {
        let Some(question) = Question::read(line, context, now) else {
            return;
        };
        if self.questions.iter().any(|open| open.id == question.id) {
            return;
        }
        if let Some(journal) = &mut self.journal
            && let Err(err) = journal.question(&question.record())
        {
            note(&format!("a question is not recorded: {err}"));
        }
        let ask = question.ask(AskState::Open, None, context);
        self.tell(context, &ask);
        let id = question.id.clone();
        self.questions.push(question);
        if self.completion.is_some() {
            // Nobody can answer any more: its input is closed.
            return;
        }
        let answer = self.answer_at_once(&id, context);
        match answer.map(|answer| self.answer(&id, &answer, context)) {
            Some(Ok(())) => {}
            Some(Err(why)) => {
                note(&format!("a kept answer does not fit its question: {why}"));
                self.ask_the_command(&id, context);
            }
            None => self.ask_the_command(&id, context),
        }
    }

    /// The answer that was kept for this question, or that of the policy.
    fn answer_at_once(&mut self, id: &str, context: &Context<'_>) -> Option<Answer> {
        let question = self.questions.iter().find(|question| question.id == id)?;
        if let Some(answer) = self.parked.take(question, context.run_id) {
            return Some(answer);
        }
        let policy = self.policy.as_ref()?;
        let decision = policy.decide(&cr_policy::Question {
            tool: &question.tool,
            input: question.input.get().as_bytes(),
            cwd: context.cwd,
            blocked_path: question.blocked_path.as_deref(),
        });
        let answer = match decision.action {
            Action::Allow => Decision::Allow,
            Action::Deny => Decision::Deny,
            Action::Ask => return None,
        };
        let reason = decision.reason.filter(|_| answer == Decision::Deny);
        Some(Answer::new(answer, reason, "policy"))
    }

    fn ask_the_command(&mut self, id: &str, context: &Context<'_>) {
        let question = self.questions.iter().find(|question| question.id == id);
        let (Some(command), Some(question)) = (&mut self.ask_command, question) else {
            return;
        };
        let ask = question.ask(AskState::Open, None, context);
        let text = cr_stream::compose_line(Some(context.run_id), &ask);
        if let Err(err) = command.ask(id, text) {
            note(&format!("--ask-cmd: {err}"));
        }
    }

    /// Takes the answers of the command.
    pub(super) fn take_command_answers(&mut self, context: &Context<'_>) {
        let Some(command) = &mut self.ask_command else {
            return;
        };
        for (id, outcome) in command.take() {
            let given = outcome.and_then(|answer| self.answer(&id, &answer, context));
            if let Err(why) = given {
                note(&format!("--ask-cmd: {why}; the question stays open"));
            }
        }
    }

    /// Gives `answer` to the question `id`, once.
    pub(super) fn answer(
        &mut self,
        id: &str,
        answer: &Answer,
        context: &Context<'_>,
    ) -> Result<(), String> {
        let index = self.questions.iter().position(|question| question.id == id);
        let index = index.ok_or_else(|| format!("{id}: the question is not open"))?;
        let line = self.questions[index].reply(answer)?;
        let question = self.questions.remove(index);
        // Kept first: after a crash it is not answered again. A question that
        // timed out stays open, for an answer that comes later.
        if answer.by != TIMEOUT {
            self.keep_answer(&question.id, AskState::Answered, Some(answer));
        }
        if answer.decision != Decision::Deny {
            self.allowed_calls.extend(question.call.clone());
        }
        let ask = question.ask(AskState::Answered, Some(answer), context);
        self.tell(context, &ask);
        self.effects.push_back(Effect::ToAgent(line));
        if let Some(command) = &mut self.ask_command {
            command.cancel(id);
        }
        Ok(())
    }

    /// The agent does not wait for the answer any more.
    pub(super) fn withdrawn(&mut self, id: &str, context: &Context<'_>) {
        let Some(index) = self.questions.iter().position(|question| question.id == id) else {
            return;
        };
        let question = self.questions.remove(index);
        self.keep_answer(id, AskState::Withdrawn, None);
        let ask = question.ask(AskState::Withdrawn, None, context);
        self.tell(context, &ask);
        if let Some(command) = &mut self.ask_command {
            command.cancel(id);
        }
    }

    fn keep_answer(&mut self, id: &str, state: AskState, answer: Option<&Answer>) {
        let line = QuestionLine {
            id: id.to_owned(),
            at: cr_stream::now(),
            state: Some(state.as_str().to_owned()),
            answer: answer.map(|answer| answer.decision.as_str().to_owned()),
            by: answer.map(|answer| answer.by.clone()),
            ..QuestionLine::default()
        };
        if let Some(journal) = &mut self.journal {
            let _ = journal.question(&line);
        }
    }

    /// Denies what nobody has answered in time, and ends the session: a person has
    /// to answer, and the run can be resumed with the answer.
    pub(super) fn check_questions(&mut self, context: &Context<'_>, now: Instant) {
        let limit = self.options.ask_timeout;
        if limit.is_zero() {
            return;
        }
        let late = self
            .questions
            .iter()
            .filter(|question| question.since + limit <= now);
        let late: Vec<String> = late.map(|question| question.id.clone()).collect();
        for id in &late {
            let text = Some("Nobody answered in time.".to_owned());
            let mut answer = Answer::new(Decision::Deny, text, TIMEOUT);
            answer.interrupts = true;
            let _ = self.answer(id, &answer, context);
        }
        if !late.is_empty() {
            self.complete(Completion::AskTimeout);
        }
    }
}
