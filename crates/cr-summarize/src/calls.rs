//! Tool calls: how many, which were denied, which questions are open.

use std::collections::BTreeMap;

use cr_event::{Event, Raw, ToolUse};
use cr_summary::OTHER_TOOLS;

use cr_usage::{RecentMap, key};
use cr_verdict::Denials;

/// Tools counted one by one; further ones are counted under [`OTHER_TOOLS`].
const TOOLS: usize = 1000;
/// Denials that are listed, questions that are remembered.
const LISTED: usize = 1000;
/// Tools that ask a person something.
const ASKING: [&str; 2] = ["AskUserQuestion", "ExitPlanMode"];

/// All calls so far.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    pub(crate) tools: BTreeMap<String, u64>,
    pub(crate) total: u64,
    pub(crate) subagents: u64,
    pub(crate) denials: Vec<Denied>,
    pub(crate) denied_total: u64,
    /// Listed denials, and all of them, when the current attempt began.
    denied_before: (usize, u64),
    seen: RecentMap<()>,
    denied: RecentMap<()>,
    /// The last call of the main thread.
    last: Option<u64>,
    /// The last call of it that asks, until it is answered.
    asked: Option<u64>,
    /// Requests for permission: their own key and that of their call.
    requests: Vec<(u64, u64)>,
}

/// A call that was denied.
#[derive(Clone, Debug)]
pub(crate) struct Denied {
    pub(crate) tool: String,
    pub(crate) id: String,
    /// The arguments, as they were in the line.
    pub(crate) input: Vec<u8>,
}

impl Calls {
    /// Counts a call once, also when its line comes again. One in a copied
    /// message is counted elsewhere.
    pub(crate) fn call(
        &mut self,
        message: Option<u64>,
        call: &ToolUse<'_>,
        is_main: bool,
        is_copy: bool,
    ) {
        let id = key(&[call.id.bytes()]);
        if is_main {
            self.last = Some(id);
            if ASKING.iter().any(|name| call.name.is(name)) {
                self.asked = Some(id);
            }
        }
        if is_copy {
            return;
        }
        if let Some(message) = message.filter(|_| !call.id.bytes().is_empty()) {
            let line = key(&[&message.to_le_bytes(), call.id.bytes()]);
            if self.seen.has(line) {
                return;
            }
            self.seen.insert(line, ());
        }
        self.total += 1;
        let name = call.name.prefix(100);
        self.subagents += u64::from(matches!(&*name, "Agent" | "Task"));
        if let Some(count) = self.tools.get_mut(&*name) {
            *count += 1;
            return;
        }
        let name = if self.tools.len() < TOOLS {
            &*name
        } else {
            OTHER_TOOLS
        };
        *self.tools.entry(name.to_owned()).or_default() += 1;
    }

    /// Whether a question waits for the result of its tool.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.requests.is_empty() || self.asked.is_some()
    }

    /// Takes the result of a tool.
    pub(crate) fn answered(&mut self, id: &[u8], is_error: bool) {
        if !self.is_waiting() {
            return;
        }
        let id = key(&[id]);
        self.requests.retain(|(_, call)| *call != id);
        // An error is no answer: there was no user to ask.
        if !is_error && self.asked == Some(id) {
            self.asked = None;
        }
    }

    /// Takes an entry of a result's `permission_denials`, or the line that
    /// announced it.
    pub(crate) fn denied(&mut self, denial: Raw<'_>) {
        let text = |key| denial.get(key).and_then(Raw::text);
        let id = text("tool_use_id").unwrap_or_default();
        let call = key(&[id.bytes()]);
        let input = denial.get("tool_input").map(Raw::bytes).unwrap_or_default();
        let input = if input.len() <= 4096 { input } else { b"" };
        if self.denied.has(call) {
            let same = |known: &&mut Denied| known.input.is_empty() && id.is(&known.id);
            if let Some(known) = self.denials.iter_mut().find(same) {
                known.input = input.to_vec();
            }
            return;
        }
        self.denied.insert(call, ());
        self.denied_total += 1;
        if self.denials.len() < LISTED {
            self.denials.push(Denied {
                tool: text("tool_name")
                    .unwrap_or_default()
                    .prefix(100)
                    .into_owned(),
                id: id.prefix(100).into_owned(),
                input: input.to_vec(),
            });
        }
    }

    /// Takes a question of the CLI to its host, or its withdrawal.
    pub(crate) fn control(&mut self, event: &Event<'_>) -> bool {
        let request = event.line.get("request_id").and_then(Raw::text);
        let Some(request) = request.map(|id| key(&[id.bytes()])) else {
            return false;
        };
        if event.name.is("control_cancel_request") {
            self.requests.retain(|(known, _)| *known != request);
            return true;
        }
        let body = event.line.get("request");
        let asks = body.and_then(|body| body.string("subtype"));
        if asks.as_deref() != Some("can_use_tool") || self.requests.len() == LISTED {
            return false;
        }
        let call = body.and_then(|body| body.get("tool_use_id")?.text());
        let call = key(&[call.unwrap_or_default().bytes()]);
        self.requests.push((request, call));
        true
    }

    /// Forgets the open questions.
    pub(crate) fn next_attempt(&mut self) {
        (self.last, self.asked) = (None, None);
        self.requests.clear();
        self.denied_before = (self.denials.len(), self.denied_total);
    }

    /// The calls that were denied in the current attempt.
    pub(crate) fn denied_now(&self) -> Denials<'_> {
        let (listed, count) = self.denied_before;
        let mut tools: Vec<&str> = Vec::new();
        for denied in self.denials.iter().skip(listed) {
            if !tools.contains(&&*denied.tool) {
                tools.push(&denied.tool);
            }
        }
        Denials {
            count: self.denied_total - count,
            tools,
        }
    }

    /// Whether the last call of the main thread was denied.
    pub(crate) fn last_denied(&self) -> bool {
        self.last.is_some_and(|last| self.denied.has(last))
    }

    /// Whether a question is open.
    pub(crate) fn is_asking(&self) -> bool {
        !self.requests.is_empty() || (self.asked.is_some() && self.asked == self.last)
    }
}
