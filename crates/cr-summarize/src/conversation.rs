//! The messages, turns and questions of a session, by the lines of `cr-spawn`.

use std::collections::HashMap;

use cr_stream::{Ask, AskState, Input, InputState, OpenEnum, State, TurnCause};
use cr_summary::{Inputs, Question};
use cr_usage::key;

/// Messages without an end that are remembered, and questions without an answer.
const MOST: usize = 10_000;
/// Characters of an id.
const ID: usize = 100;
/// Characters of a question.
const TEXT: usize = 1000;
/// Who denies a question that nobody has answered.
const TIMEOUT: &str = "timeout";

/// What is known of a session.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    pub(crate) inputs: Inputs,
    /// The messages that have not ended, by the key of their id.
    open: HashMap<u64, InputState>,
    /// The turn that runs, or the last one: its number and what began it.
    turn: Option<(u64, Option<TurnCause>)>,
    /// The number of the last turn that has ended.
    ended: Option<u64>,
    /// The messages that were taken up since the last result.
    taken_up: Vec<String>,
    taken_up_total: u64,
    /// The questions without an answer.
    pub(crate) questions: Vec<Question>,
    /// How many there are.
    pub(crate) questions_total: u64,
}

/// What is known of a turn when its result comes.
#[derive(Debug, Default)]
pub(crate) struct TurnFacts {
    pub(crate) number: Option<u64>,
    pub(crate) cause: Option<TurnCause>,
    pub(crate) messages: Vec<String>,
    pub(crate) messages_total: u64,
}

impl Conversation {
    /// Whether the run has messages.
    pub(crate) fn is_session(&self) -> bool {
        self.inputs.total > 0
    }

    /// Takes a change of the state.
    pub(crate) fn state(&mut self, state: &State<'_>) {
        let cause = state.cause.as_ref().and_then(OpenEnum::known);
        match &mut self.turn {
            // A sign of life does not say it again.
            Some((number, known)) if *number == state.turn => *known = cause.or(*known),
            turn => *turn = Some((state.turn, cause)),
        }
    }

    /// Takes a change of a message.
    pub(crate) fn input(&mut self, input: &Input<'_>) {
        let Some(state) = input.state.known() else {
            return;
        };
        let id = key(&[input.id.as_bytes()]);
        match self.open.remove(&id) {
            Some(before) => *self.count(before) -= 1,
            None => self.inputs.total += 1,
        }
        *self.count(state) += 1;
        let is_open = matches!(state, InputState::Queued | InputState::Started);
        if is_open && self.open.len() < MOST {
            self.open.insert(id, state);
        }
        if state == InputState::Started {
            self.begun(input.turn);
            self.taken_up_total += 1;
            if self.taken_up.len() < MOST {
                self.taken_up.push(short(&input.id, ID));
            }
        }
    }

    /// A message says which turn it is in, perhaps before a state does.
    fn begun(&mut self, turn: Option<u64>) {
        let known = self.turn.map_or(0, |(number, _)| number);
        if let Some(turn) = turn.filter(|turn| *turn > known) {
            self.turn = Some((turn, None));
        }
    }

    fn count(&mut self, state: InputState) -> &mut u64 {
        let inputs = &mut self.inputs;
        match state {
            InputState::Queued => &mut inputs.queued,
            InputState::Started => &mut inputs.started,
            InputState::Done => &mut inputs.done,
            InputState::Cancelled => &mut inputs.cancelled,
            InputState::Rejected => &mut inputs.rejected,
            InputState::Continued => &mut inputs.continued,
        }
    }

    /// Takes a change of a question.
    pub(crate) fn ask(&mut self, ask: &Ask<'_>) {
        let place = self.questions.iter().position(|it| it.id == *ask.id);
        match ask.state.known() {
            Some(AskState::Open) if place.is_none() => {
                self.questions_total += 1;
                if self.questions.len() < MOST {
                    self.questions.push(question(ask));
                }
            }
            Some(AskState::Answered) if ask.answered_by.as_deref() == Some(TIMEOUT) => {
                if let Some(place) = place {
                    self.questions[place].state = TIMEOUT.into();
                }
            }
            Some(AskState::Answered | AskState::Withdrawn) => {
                self.questions_total = self.questions_total.saturating_sub(1);
                if let Some(place) = place {
                    self.questions.remove(place);
                }
            }
            _ => {}
        }
    }

    /// The turn that a result ends. Where the lines of the agent came all at once,
    /// no state tells of it.
    pub(crate) fn end_turn(&mut self) -> TurnFacts {
        let next = self.ended.map(|ended| ended + 1);
        let turn = self.turn.filter(|(number, _)| Some(*number) >= next);
        let (number, cause) = turn.unzip();
        if number.or(next).is_some() {
            self.ended = number.or(next);
        }
        TurnFacts {
            number: number.or(next),
            cause: cause.flatten(),
            messages: std::mem::take(&mut self.taken_up),
            messages_total: std::mem::take(&mut self.taken_up_total),
        }
    }

    /// Another attempt begins: it asks its questions anew.
    pub(crate) fn next_attempt(&mut self) {
        self.questions.clear();
        self.questions_total = 0;
        (self.turn, self.ended) = (None, None);
        self.taken_up.clear();
        self.taken_up_total = 0;
    }

    /// Messages without an answer.
    pub(crate) fn unanswered(&self) -> u64 {
        self.inputs.queued.saturating_add(self.inputs.started)
    }

    /// The first question without an answer, and whether it timed out.
    pub(crate) fn first_question(&self) -> Option<(&Question, bool)> {
        let late = self.questions.iter().find(|it| it.state == TIMEOUT);
        let found = late.or_else(|| self.questions.first())?;
        Some((found, late.is_some()))
    }
}

fn question(ask: &Ask<'_>) -> Question {
    Question {
        id: short(&ask.id, ID),
        kind: short(ask.kind.as_str(), ID),
        tool: ask.tool.as_deref().map(|tool| short(tool, ID)),
        agent: ask.agent.as_deref().map(|agent| short(agent, ID)),
        text: short(&ask.text, TEXT),
        state: "open".into(),
    }
}

fn short(text: &str, characters: usize) -> String {
    cr_io::first_chars(text, characters).0.to_owned()
}
