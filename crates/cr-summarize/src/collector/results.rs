//! The results of the turns.

use cr_event::{Event, TurnEnd};
use cr_summary::TurnTokens;

use super::Collector;
use crate::owners::Owners;
use crate::turns::Spending;

impl Collector {
    /// Takes a result.
    pub(super) fn result(&mut self, event: &Event<'_>, owners: &mut Owners) -> bool {
        let end = TurnEnd::new(event.line);
        let spent = self.spending(event, &end);
        owners.close(&mut self.share, self.usage.running_total());
        let most = self.most();
        if end.is_empty() && !self.has_spoken {
            let is_session = self.run_facts.conversation.is_session();
            self.has_work |= !is_session;
            self.turns.empty_result(&end, spent, is_session);
            return true;
        }
        self.has_work = true;
        // Words of an earlier turn are not the last words of this one.
        if !self.has_spoken && end.num_turns() != Some(0) {
            self.last_text.clear();
        }
        self.has_spoken = false;
        let failure = self.failure.take().map(|failure| failure.error);
        let facts = self.run_facts.conversation.end_turn();
        self.turns.result(&end, facts, spent, most);
        if let Some(last) = self.turns.last.as_mut().filter(|last| last.is_error) {
            last.assistant_error = failure.or(last.assistant_error.take());
        }
        for denial in end.denials() {
            self.calls.denied(denial);
        }
        true
    }

    /// What the turn of a result has used: its cost, and what its result adds to
    /// the tokens.
    fn spending(&mut self, event: &Event<'_>, end: &TurnEnd<'_>) -> Spending {
        let cost_usd = if self.share.is_copy() {
            self.usage.copied_result(end);
            None
        } else {
            self.usage.result(event, end)
        };
        let now = self.usage.tokens().usage;
        let before = std::mem::replace(&mut self.tokens_before, now);
        Spending {
            cost_usd,
            tokens: TurnTokens {
                input: now.input.saturating_sub(before.input),
                output: now.output.saturating_sub(before.output),
                cache_read: now.cache_read.saturating_sub(before.cache_read),
                cache_creation: now.cache_creation.saturating_sub(before.cache_creation),
            },
            context_used: self.usage.context().used(),
        }
    }
}
