//! Messages that several files of a call have, and the file that counts each.
//!
//! A session that was resumed or forked may begin with a copy of the history of
//! another one. The file that is read first counts a message; `reading_order`
//! says which one that is.

use std::collections::HashMap;

use cr_event::{Event, Message, Raw};
use cr_usage::{RunningTotal, key};

/// The file that counts each message.
#[derive(Debug, Default)]
pub(crate) struct Owners {
    /// There are several files. In one file nothing needs to be remembered.
    is_shared: bool,
    messages: HashMap<u64, Owner>,
    totals: Vec<Closed>,
    /// Collectors so far.
    collectors: u32,
}

#[derive(Debug)]
struct Owner {
    collector: u32,
    /// The request that the message answered, where the line names it.
    request: Option<u64>,
    /// The running total of its session that covers it, in `totals`.
    total: Option<usize>,
}

/// A running total, and the last message that it covers.
#[derive(Debug)]
struct Closed {
    total: RunningTotal,
    last: u64,
}

/// What a collector knows of its messages.
#[derive(Debug, Default)]
pub(crate) struct Share {
    collector: u32,
    /// Messages that another file counts.
    pub(crate) copied: u64,
    /// Messages that this one counts.
    pub(crate) own: u64,
    /// The message of the last line, and whether it is a copy.
    current: Option<(u64, bool)>,
    /// Own messages since the last running total.
    open: Vec<u64>,
    /// The last copied message.
    last_copied: Option<u64>,
}

impl Share {
    /// Whether everything here is counted elsewhere.
    pub(crate) fn is_copy(&self) -> bool {
        self.copied > 0 && self.own == 0
    }
}

impl Owners {
    /// For one file, or for several.
    pub(crate) fn new(is_shared: bool) -> Self {
        Self {
            is_shared,
            ..Self::default()
        }
    }

    /// A collector begins.
    pub(crate) fn begin(&mut self) -> Share {
        self.collectors += 1;
        Share {
            collector: self.collectors,
            ..Share::default()
        }
    }

    /// Whether another collector counts the message.
    pub(crate) fn is_copy(
        &mut self,
        share: &mut Share,
        event: &Event<'_>,
        message: &Message<'_>,
    ) -> bool {
        let Some(id) = message.id.filter(|_| self.is_shared) else {
            return false;
        };
        let id = key(&[id.bytes()]);
        if let Some((current, is_copy)) = share.current
            && current == id
        {
            return is_copy;
        }
        let is_copy = self.claim(share, id, request(event));
        share.current = Some((id, is_copy));
        is_copy
    }

    fn claim(&mut self, share: &mut Share, id: u64, request: Option<u64>) -> bool {
        if let Some(owner) = self.messages.get(&id) {
            let is_same = owner.request.is_none() || request.is_none() || owner.request == request;
            let is_copy = is_same && owner.collector != share.collector;
            if is_copy {
                share.copied += 1;
                share.last_copied = Some(id);
            }
            return is_copy;
        }
        let owner = Owner {
            collector: share.collector,
            request,
            total: None,
        };
        self.messages.insert(id, owner);
        share.own += 1;
        share.open.push(id);
        false
    }

    /// A running total covers the messages so far.
    pub(crate) fn close(&mut self, share: &mut Share, total: Option<RunningTotal>) {
        let (Some(total), Some(&last)) = (total, share.open.last()) else {
            return;
        };
        for id in share.open.drain(..) {
            if let Some(owner) = self.messages.get_mut(&id) {
                owner.total = Some(self.totals.len());
            }
        }
        self.totals.push(Closed { total, last });
    }

    /// The running total of the session that was copied, when it was copied:
    /// known where the copy ends with a message after which there was one.
    pub(crate) fn total_before(&self, share: &Share) -> Option<RunningTotal> {
        let last = share.last_copied?;
        let closed = self.totals.get(self.messages.get(&last)?.total?)?;
        (closed.last == last).then(|| closed.total.clone())
    }
}

fn request(event: &Event<'_>) -> Option<u64> {
    let id = event.line.get("requestId");
    let id = id.or_else(|| event.line.get("request_id"));
    id.and_then(Raw::text).map(|id| key(&[id.bytes()]))
}
