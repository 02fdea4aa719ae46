//! Tokens, models and cost of the summary.

use std::collections::BTreeMap;

use cr_summary::{ModelSpend, Summary, Tokens};
use cr_usage::{CostSource, Spent, is_nearly_full, percent_used, rounded};

use crate::build::SummaryOptions;
use crate::collector::Collector;

/// Fills in what the run used.
pub(crate) fn spend(summary: &mut Summary, collector: &Collector, options: &SummaryOptions) {
    let spent = collector.usage.tokens();
    summary.tokens = tokens(&spent, collector, options);
    let tokens = &summary.tokens;
    let context = tokens.context_used.zip(tokens.context_window);
    summary.context_warning = context.is_some_and(|(used, window)| is_nearly_full(used, window));
    let lacks_messages = !collector.without_log.is_empty();
    if lacks_messages {
        summary.lower_bounds.push("tokens".into());
    }
    if lacks_messages || spent.is_output_at_least() {
        summary.lower_bounds.push("tokens.output".into());
    }
    let (models, is_at_least) = models(collector, options);
    summary.models = models;
    if lacks_messages || is_at_least {
        summary.lower_bounds.push("models".into());
    }
    if collector.share.is_copy() {
        no_cost(summary, collector);
    } else {
        cost(summary, &spent, collector, options);
    }
}

fn tokens(spent: &Spent, collector: &Collector, options: &SummaryOptions) -> Tokens {
    let context = collector.usage.context();
    let used = context.used();
    let window = context.window().or(options.context_window);
    let known = used.zip(window);
    let times = spent.cache_times();
    Tokens {
        input: spent.usage.input,
        output: spent.output(),
        cache_read: spent.usage.cache_read,
        cache_creation: spent.usage.cache_creation,
        cache_creation_5m: times.map(|(minutes, _)| minutes),
        cache_creation_1h: times.map(|(_, hour)| hour),
        context_used: used,
        context_window: window,
        context_used_pct: known.and_then(|(used, window)| percent_used(used, window)),
        context_at: context.at().and_then(|at| at.parse().ok()),
        cache_ttl: context.cache_ttl().map(|ttl| ttl.as_str().into()),
        auto_compact_threshold: context.auto_compact_threshold(),
        max_output: context.max_output(),
    }
}

/// Tokens and cost by model, and whether one of the numbers is a lower bound.
fn models(collector: &Collector, options: &SummaryOptions) -> (BTreeMap<String, ModelSpend>, bool) {
    let open = collector.usage.unpriced();
    let mut is_at_least = false;
    let models = collector.usage.models().into_iter();
    let models = models.filter(|(name, _)| !name.is_empty());
    let models = models.map(|(name, spent)| {
        let same = open
            .iter()
            .filter(|(model, _)| *model == name || cr_usage::is_window_of(&name, model));
        let same: Vec<_> = same.cloned().collect();
        let is_priced = !spent.is_unpriced;
        let estimate = if same.is_empty() || is_priced {
            None
        } else {
            options.estimate(&same)
        };
        let cost_usd = match (spent.cost_usd, estimate) {
            (known, Some(more)) => Some(known.unwrap_or(0.0) + more),
            (known, None) => known,
        };
        let is_short = spent.is_unpriced && (estimate.is_none() || spent.has_open_output);
        is_at_least |= spent.is_output_at_least() || (cost_usd.is_some() && is_short);
        let times = spent.cache_times();
        let entry = ModelSpend {
            input: spent.usage.input,
            output: spent.output(),
            cache_read: spent.usage.cache_read,
            cache_creation: spent.usage.cache_creation,
            cache_creation_5m: times.map(|(minutes, _)| minutes),
            cache_creation_1h: times.map(|(_, hour)| hour),
            cost_usd: cost_usd.map(rounded),
        };
        (options.mask(&name), entry)
    });
    let models = models.collect();
    (models, is_at_least)
}

/// The cost of a run whose messages are all counted elsewhere.
fn no_cost(summary: &mut Summary, collector: &Collector) {
    summary.cost_usd = Some(0.0);
    summary.cost_source = "copy".into();
    summary.session_cost_usd = collector.usage.cost().session();
}

/// The cost by the results or the log. Work after the last result is estimated,
/// if that is wanted; else the cost is a lower bound.
fn cost(summary: &mut Summary, spent: &Spent, collector: &Collector, options: &SummaryOptions) {
    let known = collector.usage.cost().run();
    let is_log = matches!(known, Some((_, CostSource::Log)));
    let has_more = collector.usage.has_work_after_results();
    let open = collector.usage.unpriced();
    // Which calls the total of a log covers is not known.
    let estimate = if (has_more && !is_log) || known.is_none() {
        options.estimate(&open)
    } else {
        None
    };
    let (cost, source) = match (known, estimate) {
        (known, Some(more)) => {
            let before = known.map_or(0.0, |(cost, _)| cost);
            (Some(rounded(before + more)), CostSource::Estimate.as_str())
        }
        (Some((cost, source)), None) => (Some(cost), source.as_str()),
        (None, None) => (None, "none"),
    };
    let is_whole = estimate.is_some()
        && !spent.has_open_output
        && !collector.usage.has_lost_work()
        && collector.without_log.is_empty();
    if cost.is_some() && has_more && !is_whole {
        summary.lower_bounds.push("cost_usd".into());
    }
    summary.cost_usd = cost;
    summary.cost_source = source.into();
    summary.session_cost_usd = collector.usage.cost().session();
}
