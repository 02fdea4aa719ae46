//! The usage limits of the account, as `rate_limit_event` lines report them.

use std::collections::BTreeMap;

use cr_event::{Raw, Text};
use cr_summary::QuotaWindow;
use jiff::Timestamp;

/// Windows that are kept; the CLI knows fewer than ten.
const WINDOWS: usize = 32;

/// The last report on each window, by its name.
#[derive(Debug, Default)]
pub(crate) struct Quota {
    pub(crate) windows: BTreeMap<String, QuotaWindow>,
}

impl Quota {
    /// Takes a report of the time `at`. It names one window, and newer releases
    /// list the others in it. What it does not say of a window is not known any
    /// more.
    pub(crate) fn take(&mut self, line: Raw<'_>, at: Option<Timestamp>) {
        let Some(info) = line.get("rate_limit_info") else {
            return;
        };
        let named = info.get("rateLimitType").and_then(Raw::text);
        let listed = info.get("unifiedWindows").map(Raw::fields);
        let listed = listed.unwrap_or_default();
        if let Some(name) = named {
            self.set(name, window(info, at));
        }
        for (name, part) in listed.into_iter().take(WINDOWS) {
            let mut listed = window(part, at);
            if named.is_some_and(|named| named.decode() == name.decode()) {
                let told = window(info, at);
                listed.used = listed.used.or(told.used);
                listed.resets_at = listed.resets_at.or(told.resets_at);
                listed.status = listed.status.or(told.status);
            }
            self.set(name, listed);
        }
    }

    fn set(&mut self, name: Text<'_>, window: QuotaWindow) {
        let name = name.prefix(100);
        if self.windows.len() < WINDOWS || self.windows.contains_key(&*name) {
            self.windows.insert(name.into_owned(), window);
        }
    }
}

fn window(facts: Raw<'_>, at: Option<Timestamp>) -> QuotaWindow {
    let used = facts.get("utilization").and_then(Raw::f64);
    let status = facts.get("status").and_then(Raw::text);
    QuotaWindow {
        used: used.filter(|used| used.is_finite() && *used >= 0.0),
        resets_at: resets_at(facts),
        status: status.map(|word| word.prefix(100).into_owned()),
        at,
    }
}

/// When the limit ends that `facts` are about.
pub(crate) fn resets_at(facts: Raw<'_>) -> Option<Timestamp> {
    let seconds = facts.get("resetsAt").and_then(Raw::u64)?;
    Timestamp::from_second(i64::try_from(seconds).ok()?).ok()
}
