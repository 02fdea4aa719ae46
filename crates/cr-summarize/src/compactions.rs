//! The compactions of the main thread's context.

use std::collections::VecDeque;

use cr_event::Raw;
use cr_summary::Compaction;
use jiff::Timestamp;

/// Compactions that are listed.
const LISTED: usize = 1000;

/// The last compactions, and how many there were.
#[derive(Debug, Default)]
pub(crate) struct Compactions {
    pub(crate) list: VecDeque<Compaction>,
    pub(crate) total: u64,
}

impl Compactions {
    /// Takes the line of one, in both dialects.
    pub(crate) fn take(&mut self, line: Raw<'_>, at: Option<Timestamp>) {
        let facts = line.get("compact_metadata");
        let facts = facts.or_else(|| line.get("compactMetadata"));
        let count = |names: [&str; 2]| {
            let mut counts = names.into_iter().filter_map(|name| facts?.get(name));
            counts.find_map(Raw::u64)
        };
        let trigger = facts.and_then(|facts| facts.get("trigger")?.text());
        self.total += 1;
        if self.list.len() == LISTED {
            self.list.pop_front();
        }
        self.list.push_back(Compaction {
            at,
            trigger: trigger.map(|word| word.prefix(100).into_owned()),
            pre_tokens: count(["pre_tokens", "preTokens"]),
            post_tokens: count(["post_tokens", "postTokens"]),
        });
    }
}
