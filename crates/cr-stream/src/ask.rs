//! `cr/ask`: a question of the agent.

use std::borrow::Cow;

use crate::field::object;
use crate::open_enum::named;
use crate::{Json, LineBody, OpenEnum, Subtype};

named! {
    /// The kinds of questions.
    pub enum AskKind {
        /// May a tool be called?
        Permission = "permission",
        /// Which of these?
        Choice = "choice",
        /// Is this plan approved?
        Plan = "plan",
    }
}

named! {
    /// The states of a question.
    pub enum AskState {
        /// It waits for an answer.
        Open = "open",
        /// It was answered.
        Answered = "answered",
        /// The agent no longer waits for an answer.
        Withdrawn = "withdrawn",
    }
}

object! {
    /// A change of a question.
    pub struct Ask<'a> {
        /// Its id.
        id: Cow<'a, str>,
        /// Its kind.
        kind: OpenEnum<'a, AskKind>,
        /// The tool that asks.
        tool: Option<Cow<'a, str>>,
        /// The subagent that asks; `null` is the main thread.
        agent: Option<Cow<'a, str>>,
        /// The question in one line.
        text: Cow<'a, str>,
        /// The arguments of the call.
        input: Option<Json<'a>>,
        /// The answers that the agent suggests.
        #[serde(skip_serializing_if = "Option::is_none")]
        suggestions: Option<Json<'a>>,
        /// Its state.
        state: OpenEnum<'a, AskState>,
        /// How it was answered.
        #[serde(skip_serializing_if = "Option::is_none")]
        answer: Option<Cow<'a, str>>,
        /// Who or what answered it.
        #[serde(skip_serializing_if = "Option::is_none")]
        answered_by: Option<Cow<'a, str>>,
    }
}

impl LineBody for Ask<'_> {
    const SUBTYPE: Subtype = Subtype::Ask;
}
