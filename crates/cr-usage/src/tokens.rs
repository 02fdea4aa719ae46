//! The tokens of a run.
//!
//! The numbers of a result are preferred. Calls of the API that no result covers (there is none,
//! or the last turn was cut) are counted from their messages, each once: the
//! lines of one message repeat its usage. Their output is known only where a
//! line says that the call is over.

use cr_event::{ModelUsage, TurnEnd, Usage};

use crate::recent::RecentMap;
use crate::spent::{ByModel, Spent};

/// Models counted one by one; further ones are counted with the last.
const MODELS: usize = 64;

/// The tokens so far.
#[derive(Debug, Default)]
pub(crate) struct TokenCount {
    /// Tokens of the sessions before this one, by their results.
    before: ByModel,
    /// Calls since the last result, by message.
    calls: RecentMap<Call>,
    /// Older calls since the last result, as sums by model.
    folded: Vec<Spent>,
    models: Vec<String>,
    /// Sum of what each result adds to the one before.
    added: Option<ByModel>,
    /// The running total of the last result.
    total: Option<ByModel>,
    /// Sum of what each result says of its main thread.
    main: Option<ByModel>,
    /// Tokens of processes of this session that were cut off, until its running
    /// total covers them.
    cut_off: ByModel,
}

#[derive(Debug)]
struct Call {
    model: usize,
    usage: Usage,
    /// The call is over.
    is_final: bool,
}

impl TokenCount {
    /// Counts a message of `model`; `id` is the key of its id. Returns whether
    /// it is a new one.
    pub(crate) fn message(
        &mut self,
        id: Option<u64>,
        model: &str,
        usage: Usage,
        is_final: bool,
    ) -> bool {
        if let Some(call) = id.and_then(|id| self.calls.get_mut(id)) {
            call.usage = call.usage.max(usage);
            call.is_final |= is_final;
            return false;
        }
        let model = self.model(model);
        let Some(id) = id else {
            self.fold(model, Spent::call(usage, is_final));
            return true;
        };
        let call = Call {
            model,
            usage,
            is_final,
        };
        for (_, call) in self.calls.insert(id, call) {
            self.fold(call.model, Spent::call(call.usage, call.is_final));
        }
        true
    }

    /// Corrects a message that was counted before it was over.
    pub(crate) fn correct(&mut self, id: u64, usage: Usage) {
        if let Some(call) = self.calls.get_mut(id) {
            call.usage = call.usage.max(usage);
            call.is_final = true;
        }
    }

    /// Another session begins, and with it another running total.
    pub(crate) fn next_session(&mut self) {
        self.before = self.results();
        (self.added, self.total, self.main) = (None, None, None);
        self.cut_off = ByModel::default();
    }

    /// Another process begins; `resumes` says whether with the same session.
    pub(crate) fn next_process(&mut self, resumes: bool) {
        let open = self.open();
        self.cut_off.add_all(&open);
        self.calls.clear();
        self.folded.clear();
        // Where results do not tell their own part, each process counts from 0.
        if !resumes || self.added.is_none() {
            self.next_session();
        }
    }

    /// What the results say.
    fn results(&self) -> ByModel {
        let mut sum = self.before.clone();
        let session = self.added.as_ref().or(self.total.as_ref());
        if let Some(session) = session.or(self.main.as_ref()) {
            sum.add_all(session);
        }
        sum.add_all(&self.cut_off);
        sum
    }

    /// Lets a result speak for all that came before it.
    pub(crate) fn result(&mut self, end: &TurnEnd<'_>) {
        let (since, total, main) = (end.since_last(), end.model_usage(), end.usage());
        if since.is_none() && total.is_none() && main.is_none() {
            return;
        }
        let seen = Seen {
            calls: self.open(),
            main: main.unwrap_or_default(),
        };
        self.calls.clear();
        self.folded.clear();
        if let Some(models) = &since {
            let since = seen.told(models, None);
            self.added.get_or_insert_default().add_all(&since);
        }
        if let Some(models) = &total {
            self.total = Some(seen.told(models, self.total.as_ref()));
        }
        if let Some(main) = main {
            let sum = self.main.get_or_insert_default();
            let model = seen.calls.only().unwrap_or_default();
            sum.add(model, Spent::covered(main, None));
        }
        if since.is_none() && total.is_some() {
            self.cut_off = ByModel::default();
        }
    }

    /// All of it, by model.
    pub(crate) fn by_model(&self) -> ByModel {
        let mut all = self.results();
        all.add_all(&self.open());
        all
    }

    /// What no result covers, by model.
    pub(crate) fn open(&self) -> ByModel {
        let mut sums = self.folded.clone();
        sums.resize(self.models.len(), Spent::default());
        for call in self.calls.values() {
            let spent = Spent::call(call.usage, call.is_final);
            sums[call.model] = sums[call.model].plus(spent);
        }
        let mut open = ByModel::default();
        for (model, spent) in self.models.iter().zip(sums) {
            if spent.usage != Usage::default() {
                open.add(model, spent);
            }
        }
        open
    }

    fn fold(&mut self, model: usize, spent: Spent) {
        if self.folded.len() <= model {
            self.folded.resize(model + 1, Spent::default());
        }
        self.folded[model] = self.folded[model].plus(spent);
    }

    fn model(&mut self, model: &str) -> usize {
        let known = self.models.iter().rposition(|known| known == model);
        known.unwrap_or_else(|| {
            if self.models.len() < MODELS {
                self.models.push(model.to_owned());
            }
            self.models.len() - 1
        })
    }
}

/// The calls of a turn, as its lines and its result have them.
struct Seen {
    calls: ByModel,
    /// The main thread, by the result.
    main: Usage,
}

impl Seen {
    /// What a result says of its models. Older releases do not say how long the
    /// cache is kept: the calls do, where they are all the calls since `before`.
    fn told(&self, models: &[ModelUsage<'_>], before: Option<&ByModel>) -> ByModel {
        let mut told = ByModel::default();
        for entry in models {
            let model = entry.model.prefix(256);
            let mut usage = entry.usage;
            let old = before.and_then(|before| before.get(&model));
            let old = old.unwrap_or_default().usage;
            // After a `/clear` the total starts from zero.
            let is_older = old.cache_creation <= usage.cache_creation;
            let old = if is_older { old } else { Usage::default() };
            let new = usage.cache_creation - old.cache_creation;
            let calls = self.calls.get(&model).unwrap_or_default().usage;
            let parts = [calls, self.main];
            let is_split = usage.cache_5m.saturating_add(usage.cache_1h) == usage.cache_creation;
            if is_split {
                // The result says it itself.
            } else if let Some(part) = parts.iter().find(|part| part.cache_creation == new) {
                usage.cache_5m = old.cache_5m.saturating_add(part.cache_5m);
                usage.cache_1h = old.cache_1h.saturating_add(part.cache_1h);
            }
            told.add(&model, Spent::covered(usage, entry.cost_usd));
        }
        told
    }
}
