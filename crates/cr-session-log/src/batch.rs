//! Facts that leave the thread that read them: texts in one piece of memory.

use crate::fact::{FIELDS, Fact, FactOf, MessageOf, Sink};
use crate::scan::Head;

/// Facts of a full batch.
const FACTS: usize = 1 << 10;
/// Bytes of their texts.
const TEXT: usize = 256 << 10;

/// A text: where it begins and where it ends.
#[derive(Clone, Copy, Debug, Default)]
struct Span(usize, usize);

/// Facts of one log, in their order. The lines of a message that follow each
/// other are one fact, with the larger of each count.
#[derive(Debug, Default)]
pub struct Batch {
    head: Head,
    text: String,
    facts: Vec<FactOf<Span>>,
    /// Where the last message is in `facts`.
    last_message: Option<usize>,
    /// The last text of each field: sessions, directories and models repeat.
    recent: [Span; FIELDS],
}

impl Batch {
    /// What the head of the log said before the last of these facts.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The facts.
    pub fn facts(&self) -> impl Iterator<Item = Fact<'_>> {
        self.facts.iter().map(|fact| fact.map(|span| self.at(span)))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.facts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.facts.is_empty()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.facts.len() >= FACTS || self.text.len() >= TEXT
    }

    /// Makes room for others; keeps the memory unless a long text took it.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.text.shrink_to(2 * TEXT);
        self.facts.clear();
        self.last_message = None;
        self.recent = Default::default();
    }

    fn at(&self, Span(begin, end): Span) -> &str {
        self.text.get(begin..end).unwrap_or_default()
    }

    /// Adds what a further line knows of the last message; returns whether it is
    /// one of its lines.
    fn merge(&mut self, line: &MessageOf<&str>) -> bool {
        let Some(place) = self.last_message else {
            return false;
        };
        let Some(FactOf::Message(last)) = self.facts.get(place) else {
            return false;
        };
        let mut last = *last;
        let is_same = self.at(last.message_id) == line.message_id
            && self.at(last.request_id) == line.request_id
            && self.at(last.session_id) == line.session_id
            && self.at(last.agent_id) == line.agent_id
            && self.at(last.model) == line.model
            && self.at(last.cwd) == line.cwd
            && self.at(last.version) == line.version
            && last.is_fork == line.is_fork
            && last.is_sidechain == line.is_sidechain;
        if is_same {
            last.at = [last.at, line.at].into_iter().flatten().min();
            if (line.last_at, line.uuid) > (last.last_at, self.at(last.uuid)) {
                last.last_at = line.last_at;
                last.uuid = Span(self.text.len(), self.text.len() + line.uuid.len());
                self.text.push_str(line.uuid);
            }
            last.usage = last.usage.max(line.usage);
            last.cost_usd = last.cost_usd.max_by_value(line.cost_usd);
            last.is_final |= line.is_final;
            last.is_fast |= line.is_fast;
            last.is_api_error |= line.is_api_error;
            self.facts[place] = FactOf::Message(last);
        }
        is_same
    }
}

/// The larger of two numbers that may be missing.
trait MaxByValue {
    fn max_by_value(self, other: Self) -> Self;
}

impl MaxByValue for Option<f64> {
    fn max_by_value(self, other: Self) -> Self {
        match (self, other) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        }
    }
}

impl Sink for Batch {
    fn fact(&mut self, fact: Fact<'_>) {
        if let FactOf::Message(message) = &fact {
            if self.merge(message) {
                return;
            }
            self.last_message = Some(self.facts.len());
        }
        let (text, recent) = (&mut self.text, &mut self.recent);
        let fact = fact.map_fields(|field, value| {
            let last = &mut recent[field];
            if text.get(last.0..last.1) != Some(value) {
                *last = Span(text.len(), text.len() + value.len());
                text.push_str(value);
            }
            *last
        });
        self.facts.push(fact);
    }

    fn take_head(&mut self, head: &Head) {
        self.head = head.clone();
    }
}
