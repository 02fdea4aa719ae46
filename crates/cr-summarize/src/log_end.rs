//! How a session's log ends, which has no results.

use cr_event::{Block, Content, Message};

/// The last thing that happened in a session's log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LogEnd {
    /// A prompt, a tool at work, nothing at all.
    #[default]
    Open,
    /// The model answered.
    Answered,
    /// The model wrote a text, and the log does not say whether it was done: a
    /// call may have followed.
    Spoken,
    /// A person stopped it.
    Aborted,
    /// The CLI reported a failure.
    Failed,
}

impl LogEnd {
    /// After a message of the model: with a call in it, or one to come, the model
    /// is not done.
    pub(crate) fn of_message(message: &Message<'_>) -> Self {
        let calls = message
            .blocks()
            .iter()
            .any(|block| matches!(block, Block::ToolUse(_)));
        let goes_on = message
            .stop_reason
            .is_some_and(|reason| reason.is("tool_use") || reason.is("max_tokens"));
        if calls || goes_on || text(message).is_none() {
            Self::Open
        } else if message.stop_reason.is_none() {
            Self::Spoken
        } else {
            Self::Answered
        }
    }

    /// After a message to the model.
    pub(crate) fn after_prompt(self, message: &Message<'_>) -> Self {
        let start = text(message).map(|text| text.prefix(64));
        match &*start.unwrap_or_default() {
            start if start.starts_with("[Request interrupted by user") => Self::Aborted,
            // A command of the CLI and its output need no answer. The CLI takes
            // one when the model is done.
            start if start.starts_with("<local-command") => self.after_turn(),
            start if start.starts_with("<command-") => self.after_turn(),
            _ => Self::Open,
        }
    }

    /// After a line that a log has when the model was done.
    pub(crate) fn after_turn(self) -> Self {
        if self == Self::Spoken {
            Self::Answered
        } else {
            self
        }
    }
}

/// The last text of a message.
pub(crate) fn text<'a>(message: &Message<'a>) -> Option<cr_event::Text<'a>> {
    if let Content::Text(text) = message.content {
        return Some(text);
    }
    let blocks = message.blocks().iter().rev();
    blocks.copied().find_map(|block| match block {
        Block::Text(text) => Some(text),
        _ => None,
    })
}
