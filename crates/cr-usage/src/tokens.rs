//! The tokens of a run.
//!
//! The numbers of a result are preferred. Calls of the API that no result covers (there is none,
//! or the last turn was cut) are counted from their messages, each once: the
//! lines of one message repeat its usage.

use cr_event::{ModelUsage, TurnEnd, Usage};

use crate::recent::RecentMap;

/// Models counted one by one; further ones are counted with the last.
const MODELS: usize = 64;

/// The tokens so far.
#[derive(Debug, Default)]
pub(crate) struct TokenCount {
    /// Tokens of the sessions before this one, by their results.
    before: Usage,
    /// Calls since the last result, by message.
    calls: RecentMap<Call>,
    /// Older calls since the last result, as sums by model.
    folded: Vec<Usage>,
    models: Vec<String>,
    /// Sum of what each result adds to the one before.
    added: Option<Usage>,
    /// The running total of the last result.
    total: Option<Usage>,
    /// Sum of what each result says of its main thread.
    main: Option<Usage>,
    /// Tokens of processes of this session that were cut off, until its running
    /// total covers them.
    cut_off: Usage,
}

#[derive(Debug)]
struct Call {
    model: usize,
    usage: Usage,
}

impl TokenCount {
    /// Counts a message of `model`; `id` is the key of its id.
    pub(crate) fn message(&mut self, id: Option<u64>, model: &str, usage: Usage) {
        if let Some(call) = id.and_then(|id| self.calls.get_mut(id)) {
            call.usage = call.usage.max(usage);
            return;
        }
        let model = self.model(model);
        let Some(id) = id else {
            self.fold(model, usage);
            return;
        };
        for (_, call) in self.calls.insert(id, Call { model, usage }) {
            self.fold(call.model, call.usage);
        }
    }

    /// Corrects a message that was counted before it was over.
    pub(crate) fn correct(&mut self, id: u64, usage: Usage) {
        if let Some(call) = self.calls.get_mut(id) {
            call.usage = call.usage.max(usage);
        }
    }

    /// Another session begins, and with it another running total.
    pub(crate) fn next_session(&mut self) {
        self.before = self.results();
        (self.added, self.total, self.main) = (None, None, None);
        self.cut_off = Usage::default();
    }

    /// Another process begins; `resumes` says whether with the same session.
    pub(crate) fn next_process(&mut self, resumes: bool) {
        let open = self.by_model().map(|(_, usage)| usage);
        self.cut_off = open.fold(self.cut_off, Usage::plus);
        self.calls.clear();
        self.folded.clear();
        if !resumes {
            self.next_session();
        }
    }

    /// What the results say.
    fn results(&self) -> Usage {
        let session = self.added.or(self.total).or(self.main);
        let session = session.unwrap_or_default().plus(self.cut_off);
        self.before.plus(session)
    }

    /// Lets a result speak for all that came before it.
    pub(crate) fn result(&mut self, end: &TurnEnd<'_>) {
        let since = end.since_last().map(|models| sum(&models));
        let total = end.model_usage().map(|models| sum(&models));
        let main = end.usage();
        if since.is_none() && total.is_none() && main.is_none() {
            return;
        }
        self.calls.clear();
        self.folded.clear();
        add(&mut self.added, since);
        add(&mut self.main, main);
        self.total = total.or(self.total);
        if since.is_none() && total.is_some() {
            self.cut_off = Usage::default();
        }
    }

    /// All of it.
    pub(crate) fn sum(&self) -> Usage {
        let open = self.by_model().map(|(_, usage)| usage);
        open.fold(self.results(), Usage::plus)
    }

    /// What no result covers, by model.
    pub(crate) fn by_model(&self) -> impl Iterator<Item = (&str, Usage)> {
        let mut sums = self.folded.clone();
        sums.resize(self.models.len(), Usage::default());
        for call in self.calls.values() {
            sums[call.model] = sums[call.model].plus(call.usage);
        }
        let models = self.models.iter().map(String::as_str);
        models.zip(sums).filter(|(_, sum)| *sum != Usage::default())
    }

    fn fold(&mut self, model: usize, usage: Usage) {
        if self.folded.len() <= model {
            self.folded.resize(model + 1, Usage::default());
        }
        self.folded[model] = self.folded[model].plus(usage);
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

fn sum(models: &[ModelUsage<'_>]) -> Usage {
    let usages = models.iter().map(|model| model.usage);
    usages.fold(Usage::default(), Usage::plus)
}

fn add(to: &mut Option<Usage>, usage: Option<Usage>) {
    if let Some(usage) = usage {
        *to = Some(to.unwrap_or_default().plus(usage));
    }
}
