//! What the summary says of the agent itself.

use cr_summary::{AgentFields, Compaction, QuotaWindow, Summary};

use crate::build::SummaryOptions;
use crate::collector::Collector;

/// Fills in the fields.
pub(crate) fn agent(summary: &mut Summary, collector: &Collector, options: &SummaryOptions) {
    let compactions = &collector.compaction_list;
    let compaction = |one: &Compaction| Compaction {
        trigger: options.masked(one.trigger.as_deref()),
        ..one.clone()
    };
    let windows = collector.quota.windows.iter();
    let windows = windows.map(|(name, window)| {
        let status = options.masked(window.status.as_deref());
        let window = window.clone();
        (options.mask(name), QuotaWindow { status, ..window })
    });
    let windows = Some(windows.collect()).filter(|_| !collector.quota.windows.is_empty());
    let version = collector.session.version.as_deref();
    let version = version.or(collector.run_facts.version.as_deref());
    summary.agent = AgentFields {
        compaction_list: compactions.list.iter().map(compaction).collect(),
        quota: windows,
        cli_version: options.masked(version),
    };
    if compactions.total > summary.agent.compaction_list.len() as u64 {
        summary.totals.compaction_list_total = Some(compactions.total);
    }
}
