//! The messages of a session that are not answered yet, in their order.

use std::collections::HashMap;

use cr_rundir::Delivery;
use cr_stream::InputState;
use serde_json::value::RawValue;

use super::clients::ClientId;

/// The most messages that wait, and the most bytes of them.
pub(crate) const MAX_MESSAGES: usize = 1000;
pub(crate) const MAX_BYTES: usize = 64 << 20;

/// How far a message has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// It is in our queue.
    Waiting,
    /// It was written to the agent.
    Sent,
    /// The agent works on it.
    Started,
}

/// A message on its way.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) id: String,
    pub(crate) from: Option<String>,
    pub(crate) when: Delivery,
    pub(crate) content: Box<RawValue>,
    pub(crate) stage: Stage,
    /// The agent has said that it is through with it.
    pub(crate) is_completed: bool,
    pub(crate) turn: Option<u64>,
    pub(crate) folded: Option<bool>,
    /// The clients that wait for its end.
    pub(crate) waiters: Vec<ClientId>,
    /// It was said that it waits for an open question.
    pub(crate) is_held: bool,
}

/// What the delivery of messages depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Readiness {
    /// A turn runs.
    pub(crate) is_running: bool,
    /// A question is open, or a call that was allowed has not returned.
    pub(crate) is_asking: bool,
}

/// What to do for the next message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Write this message to the agent.
    Send(usize),
    /// Interrupt the turn, then write this message.
    Interrupt(usize),
    /// Say that this message waits for the open question.
    Hold(usize),
}

/// The messages that are not answered yet, and the ids of those that were.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    pub(crate) messages: Vec<Message>,
    ended: HashMap<String, InputState>,
    waiting_bytes: usize,
}

impl Inbox {
    /// Why no message of `bytes` is taken, if it is not. One that is alone may
    /// have any size.
    pub(crate) fn refusal(&self, bytes: usize) -> Option<String> {
        let count = self.messages.len();
        if count >= MAX_MESSAGES {
            return Some(format!("{count} messages wait already"));
        }
        let is_full = count > 0 && self.waiting_bytes + bytes > MAX_BYTES;
        is_full.then(|| format!("{} bytes of messages wait already", self.waiting_bytes))
    }

    /// How many of the lines with these lengths, in order, can be taken now.
    pub(crate) fn room_for(&self, lengths: impl Iterator<Item = usize>) -> usize {
        let (mut count, mut bytes) = (self.messages.len(), self.waiting_bytes);
        let fits = |length: usize| {
            let is_alone = count == 0;
            count += 1;
            bytes += length;
            is_alone || (count <= MAX_MESSAGES && bytes <= MAX_BYTES)
        };
        lengths.map(fits).take_while(|fits| *fits).count()
    }

    /// The state of the message `id`, if there was one.
    pub(crate) fn state(&self, id: &str) -> Option<InputState> {
        let live = self.messages.iter().find(|message| message.id == id);
        match live.map(|message| message.stage) {
            Some(Stage::Started) => Some(InputState::Started),
            Some(_) => Some(InputState::Queued),
            None => self.ended.get(id).copied(),
        }
    }

    /// Adds a message at the end.
    pub(crate) fn add(&mut self, message: Message) {
        self.waiting_bytes += message.content.get().len();
        self.messages.push(message);
    }

    /// The message `id`, if it is not answered yet.
    pub(crate) fn get(&mut self, id: &str) -> Option<&mut Message> {
        self.messages.iter_mut().find(|message| message.id == id)
    }

    /// Takes the message `id` out: it has reached `state`.
    pub(crate) fn end(&mut self, id: &str, state: InputState) -> Option<Message> {
        let index = self.messages.iter().position(|message| message.id == id)?;
        let message = self.messages.remove(index);
        self.waiting_bytes -= message.content.get().len();
        self.ended.insert(message.id.clone(), state);
        Some(message)
    }

    /// Takes note of a message that had ended before this session.
    pub(crate) fn ended_before(&mut self, id: String, state: InputState) {
        self.ended.insert(id, state);
    }

    /// The ids of the messages in this stage.
    pub(crate) fn ids_in(&self, stage: Stage) -> Vec<String> {
        let messages = self.messages.iter().filter(|it| it.stage == stage);
        messages.map(|message| message.id.clone()).collect()
    }

    /// Whether the agent has a message that it has not answered.
    pub(crate) fn is_agent_busy(&self) -> bool {
        self.messages.iter().any(|it| it.stage != Stage::Waiting)
    }

    /// What can be done next. The messages of one sender keep their order.
    pub(crate) fn next(&self, ready: Readiness) -> Option<Next> {
        let mut behind: Vec<Option<&str>> = Vec::new();
        let is_free = !ready.is_running && !self.is_agent_busy();
        let waiting = self.messages.iter().enumerate();
        for (index, message) in waiting.filter(|(_, it)| it.stage == Stage::Waiting) {
            let from = message.from.as_deref();
            if behind.contains(&from) {
                continue;
            }
            match message.when {
                Delivery::Next => return Some(Next::Send(index)),
                Delivery::Idle if is_free => return Some(Next::Send(index)),
                Delivery::Now if !ready.is_running => return Some(Next::Send(index)),
                // An interrupt would destroy the question.
                Delivery::Now if ready.is_asking && !message.is_held => {
                    return Some(Next::Hold(index));
                }
                Delivery::Now if !ready.is_asking => return Some(Next::Interrupt(index)),
                _ => behind.push(from),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FREE: Readiness = Readiness {
        is_running: false,
        is_asking: false,
    };
    const RUNNING: Readiness = Readiness {
        is_running: true,
        ..FREE
    };

    fn message(id: &str, from: &str, when: Delivery) -> Message {
        Message {
            id: id.to_owned(),
            from: Some(from.to_owned()),
            when,
            content: RawValue::from_string("\"x\"".to_owned()).expect("JSON"),
            stage: Stage::Waiting,
            is_completed: false,
            turn: None,
            folded: None,
            waiters: Vec::new(),
            is_held: false,
        }
    }

    fn inbox(messages: &[(&str, Delivery)]) -> Inbox {
        let mut inbox = Inbox::default();
        for (index, (from, when)) in messages.iter().enumerate() {
            inbox.add(message(&index.to_string(), from, *when));
        }
        inbox
    }

    #[test]
    fn a_message_waits_for_what_it_was_sent_for() {
        use Delivery::{Idle, Next as Soon, Now};
        let asking = Readiness {
            is_asking: true,
            ..RUNNING
        };
        let cases = [
            (Soon, FREE, Some(Next::Send(0))),
            (Soon, RUNNING, Some(Next::Send(0))),
            (Soon, asking, Some(Next::Send(0))),
            (Idle, FREE, Some(Next::Send(0))),
            (Idle, RUNNING, None),
            (Now, FREE, Some(Next::Send(0))),
            (Now, RUNNING, Some(Next::Interrupt(0))),
            (Now, asking, Some(Next::Hold(0))),
        ];
        for (when, ready, expected) in cases {
            assert_eq!(
                inbox(&[("a", when)]).next(ready),
                expected,
                "{when:?} {ready:?}"
            );
        }
    }

    #[test]
    fn the_messages_of_one_sender_keep_their_order_and_others_pass() {
        use Delivery::{Idle, Next as Soon};
        let inbox = inbox(&[("a", Idle), ("a", Soon), ("b", Soon)]);
        assert_eq!(inbox.next(RUNNING), Some(Next::Send(2)));
        assert_eq!(inbox.next(FREE), Some(Next::Send(0)));
    }

    #[test]
    fn a_message_of_its_own_turn_waits_until_the_agent_has_answered_the_others() {
        let mut inbox = inbox(&[("a", Delivery::Next), ("b", Delivery::Idle)]);
        inbox.messages[0].stage = Stage::Sent;
        assert_eq!(inbox.next(FREE), None);
        inbox.end("0", InputState::Done);
        assert_eq!(inbox.next(FREE), Some(Next::Send(0)));
        assert_eq!(inbox.state("0"), Some(InputState::Done));
    }

    #[test]
    fn the_number_and_the_bytes_of_messages_are_bounded() {
        let mut inbox = Inbox::default();
        assert_eq!(inbox.refusal(MAX_BYTES + 1), None);
        for index in 0..MAX_MESSAGES {
            assert_eq!(inbox.refusal(1), None);
            inbox.add(message(&index.to_string(), "a", Delivery::Next));
        }
        assert!(
            inbox
                .refusal(1)
                .is_some_and(|why| why.contains("1000 messages"))
        );
        inbox.end("0", InputState::Done);
        assert!(
            inbox
                .refusal(MAX_BYTES)
                .is_some_and(|why| why.contains("bytes"))
        );
    }
}
