//! From what was gathered to the summary and its verdict.

use cr_event::Cursor;
use cr_io::Redactor;
use cr_summary::{Attempt, Denial, Git, Limit, Retry, SCHEMA, Summary, Tokens, Tools};
use cr_usage::{CostSource, Prices, percent_used};
use cr_verdict::{ResultFacts, Verdict, judge};
use serde_json::value::RawValue;

use crate::calls::Denied;
use crate::counts;
use crate::evidence::{evidence, facts, said};
use crate::gather::Gather;
use crate::resume::resume;
use crate::value::{found_in, rewritten};

/// Lines of standard error that are worth repeating.
const STDERR_LINES: usize = 20;
/// Above this share of its window a context is nearly full, in percent.
const WARNING: u64 = 60;

/// What a summary needs beside the lines.
#[derive(Debug)]
pub(crate) struct Terms {
    /// Takes the place of a window that is not known.
    pub(crate) context_window: Option<u64>,
    /// Prices, where an estimate is wanted.
    pub(crate) prices: Option<Prices>,
    pub(crate) redactor: Redactor,
}

impl Terms {
    fn mask(&self, text: &str) -> String {
        self.redactor.redact(text).into_owned()
    }

    fn masked(&self, text: Option<&str>) -> Option<String> {
        text.map(|text| self.mask(text))
    }

    fn value(&self, bytes: &[u8]) -> Option<Box<RawValue>> {
        let raw = Cursor::new(bytes).raw().ok()?;
        rewritten(raw, &self.redactor)
    }
}

/// What was read is no stream: there is no session to resume, and somebody
/// should look at what wrote it.
fn nothing_to_judge(summary: &mut Summary, why: &str) {
    summary.why = why.into();
    summary.next = "Look at what wrote it: the agent may not have started.".into();
    (summary.retry.retryable, summary.retry.action) = (false, "look".into());
}

/// Makes the summary of what was gathered.
pub(crate) fn summary(gather: &Gather, terms: &Terms) -> Summary {
    let facts = facts(gather);
    let verdict = judge(&evidence(gather, facts));
    let mut summary = Summary {
        schema: SCHEMA,
        tokens: tokens(gather, terms),
        tool_calls: gather.calls.total,
        supervised: gather.ours.seen,
        results: gather.turns.results,
        turns: gather.turns.list.clone(),
        subagents: gather.calls.subagents,
        api_retries: gather.api_retries,
        compactions: gather.compactions,
        forged: gather.ours.forged,
        session_cost_usd: gather.usage.cost().session(),
        counts: gather.counts,
        tools: tools(gather),
        ..Summary::default()
    };
    summary.context_warning = is_nearly_full(&summary.tokens);
    identity(&mut summary, gather, terms);
    ending(&mut summary, gather, terms);
    answer(&mut summary, gather, terms);
    cost(&mut summary, gather, terms);
    time(&mut summary, gather);
    lists(&mut summary, gather, terms);
    verdict_fields(&mut summary, &verdict);
    match counts::no_event(&gather.counts) {
        Some(why) => nothing_to_judge(&mut summary, why),
        None => reasons(&mut summary, gather, &verdict, terms),
    }
    summary.errors = errors(gather, facts, &verdict, terms);
    resumption(&mut summary, gather, terms);
    if let Some(disorder) = gather.ours.disorder {
        summary.stream_error = Some(disorder.into());
        summary.ok = Some(false);
        summary.code = Some(cr_io::Exit::Data.code());
    }
    summary
}

fn tokens(gather: &Gather, terms: &Terms) -> Tokens {
    let spent = gather.usage.tokens();
    let used = gather.usage.context().used();
    let window = gather.usage.context().window().or(terms.context_window);
    let known = used.zip(window);
    let percent = known.and_then(|(used, window)| percent_used(used, window));
    Tokens {
        input: spent.input,
        output: spent.output,
        cache_read: spent.cache_read,
        cache_creation: spent.cache_creation,
        context_used: used,
        context_window: window,
        context_used_pct: percent,
        max_output: gather.usage.context().max_output(),
    }
}

/// Strictly above the mark, and before rounding.
fn is_nearly_full(tokens: &Tokens) -> bool {
    let known = tokens.context_used.zip(tokens.context_window);
    known.is_some_and(|(used, window)| {
        window > 0 && u128::from(used) * 100 > u128::from(window) * u128::from(WARNING)
    })
}

fn tools(gather: &Gather) -> Tools {
    let tools = gather.calls.tools.iter();
    let mut tools: Vec<_> = tools.map(|(name, count)| (name.clone(), *count)).collect();
    // By name already, and the sort keeps that among equals.
    tools.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    Tools(tools)
}

fn identity(summary: &mut Summary, gather: &Gather, terms: &Terms) {
    let ours = &gather.ours;
    summary.session_id = terms.masked(gather.about.session_id.as_deref());
    let model = gather.usage.context().model().or(ours.model.as_deref());
    summary.model = terms.masked(model);
    summary.run_id = terms.masked(ours.run_id.as_deref());
    // Attempts have directories of their own, in one of the whole run.
    let whole = ours.whole.as_ref().and_then(|whole| whole.run_dir.as_ref());
    let run_dir = whole.or(ours.run_dir.as_ref());
    summary.run_dir = terms.masked(run_dir.map(String::as_str));
    let cwd = gather.about.cwd.as_deref().or(ours.cwd.as_deref());
    summary.cwd = terms.masked(cwd);
    let stream = run_dir.map(|dir| format!("{dir}/stream.ndjson"));
    summary.transcript = terms.masked(stream.as_deref());
    summary.recorded = ours.recorded;
    let file = ours.output_file.as_deref();
    summary.output_file = file.and_then(|file| terms.value(file));
    if ours.record_cut {
        summary.truncated.push("transcript".into());
    }
}

fn ending(summary: &mut Summary, gather: &Gather, terms: &Terms) {
    if let Some(exit) = &gather.ours.exit {
        summary.reason = Some(terms.mask(&exit.reason));
        summary.exit_code = exit.exit_code;
        summary.torn_tail = exit.torn_tail;
        summary.killed = exit.killed;
        summary.signal = exit.signal.or(exit.interrupted_by);
        let leaked = exit.leaked.iter().filter_map(|item| terms.value(item));
        summary.leaked = leaked.collect();
        let listed = summary.leaked.len() as u64;
        summary.totals.leaked_total = exit.leaked_total.filter(|total| *total > listed);
    }
    summary.limit = gather.ours.limit.as_ref().map(|limit| Limit {
        clock: terms.mask(&limit.clock),
        limit_ms: limit.limit_ms,
        elapsed_ms: limit.elapsed_ms,
        action: terms.mask(&limit.action),
        doing: limit.doing.as_deref().and_then(|doing| terms.value(doing)),
    });
    if let Some(last) = &gather.turns.last {
        summary.num_turns = last.num_turns;
        summary.subtype = terms.masked(Some(&last.subtype));
        summary.terminal_reason = terms.masked(last.terminal_reason.as_deref());
    }
}

fn answer(summary: &mut Summary, gather: &Gather, terms: &Terms) {
    let last = gather.turns.last.as_ref().filter(|_| !gather.turns.is_open);
    let said = Some(gather.said.as_str()).filter(|said| !said.is_empty());
    let text = match last {
        Some(last) => last.text.as_deref(),
        None => said,
    };
    summary.result = terms.masked(text);
    let structured = last.and_then(|last| last.structured.as_deref());
    summary.structured_output = structured.and_then(|value| terms.value(value));
    if structured.is_some_and(<[u8]>::is_empty) {
        summary.truncated.push("structured_output".into());
    }
    if structured.is_some() || last.is_some_and(|last| last.is_error) {
        return;
    }
    // A result without words stands for those before it.
    let words = text.filter(|text| !text.trim().is_empty()).or(said);
    match words {
        // Half a text may hold other JSON than the whole.
        Some(words) if words.len() > gather.most() => summary.truncated.push("json".into()),
        Some(words) => summary.json = found_in(words, &terms.redactor),
        None => {}
    }
}

fn cost(summary: &mut Summary, gather: &Gather, terms: &Terms) {
    let estimate = || {
        let cost = terms.prices.as_ref()?.estimate(gather.usage.unpriced())?;
        Some((cr_usage::rounded(cost), CostSource::Estimate))
    };
    let known = gather.usage.cost().run().or_else(estimate);
    summary.cost_usd = known.map(|(cost, _)| cost);
    summary.cost_source = known.map_or("none", |(_, source)| source.as_str()).into();
}

fn time(summary: &mut Summary, gather: &Gather) {
    let (started, ended) = (gather.about.started(), gather.about.ended());
    summary.started_at = started;
    summary.ended_at = ended;
    let exit = gather.ours.exit.as_ref();
    let wall = started.zip(ended).map(|(from, to)| to.duration_since(from));
    let wall = wall.and_then(|wall| u64::try_from(wall.as_millis()).ok());
    let turns = Some(gather.turns.duration_ms).filter(|_| gather.turns.results > 0);
    // The exit tells of the last attempt only.
    let exit = exit.filter(|_| gather.ours.attempts.len() < 2);
    let duration = exit.and_then(|exit| exit.duration_ms).or(wall.max(turns));
    summary.duration_ms = duration;
    summary.duration_seconds = duration.map(|ms| ms.saturating_add(500) / 1000);
}

fn lists(summary: &mut Summary, gather: &Gather, terms: &Terms) {
    let denial = |denied: &Denied| Denial {
        tool_name: terms.mask(&denied.tool),
        tool_use_id: terms.mask(&denied.id),
        tool_input: terms.value(&denied.input),
    };
    summary.permission_denials = gather.calls.denials.iter().map(denial).collect();
    let listed = summary.permission_denials.len() as u64;
    if gather.calls.denied_total > listed {
        summary.totals.permission_denials_total = Some(gather.calls.denied_total);
    }
    for turn in &mut summary.turns {
        turn.subtype = terms.mask(&turn.subtype);
    }
    if gather.turns.results > summary.turns.len() as u64 {
        summary.totals.turns_total = Some(gather.turns.results);
    }
    summary
        .background_unfinished
        .clone_from(&gather.background.open);
    for task in &mut summary.background_unfinished {
        task.description = terms.masked(task.description.as_deref());
    }
    let attempts = gather.ours.attempts.iter().cloned();
    summary.attempts = attempts
        .map(|attempt| Attempt {
            why: terms.masked(attempt.why.as_deref()),
            ..attempt
        })
        .collect();
    summary.git = gather.ours.git.clone().map(|git| masked_git(git, terms));
}

fn masked_git(mut git: Git, terms: &Terms) -> Git {
    for commits in [&mut git.commits, &mut git.agent_commits] {
        let commits = commits.iter_mut().flatten();
        commits.for_each(|commit| *commit = terms.mask(commit));
    }
    git.branch = terms.masked(git.branch.as_deref());
    git.error = terms.masked(git.error.as_deref());
    git
}

fn verdict_fields(summary: &mut Summary, verdict: &Verdict) {
    summary.outcome = Some(verdict.outcome.as_str().into());
    summary.code = Some(verdict.code);
    summary.ok = Some(verdict.code == 0);
    summary.category = verdict.category.map(|category| category.as_str().into());
    summary.incomplete = verdict.incomplete;
    summary.killed |= verdict.killed;
    if summary.killed {
        summary.exit_code = Some(-1);
    }
    summary.retry = Retry {
        retryable: verdict.retry.retryable,
        action: verdict.retry.action.into(),
        at: verdict.retry.at,
    };
}

/// What is said of a stream may be said in its words.
fn reasons(summary: &mut Summary, gather: &Gather, verdict: &Verdict, terms: &Terms) {
    summary.why = terms.mask(&verdict.why);
    summary.next = terms.mask(&verdict.next);
    let whole = gather.ours.whole.as_ref();
    if let Some(command) = whole.and_then(|whole| whole.next.as_deref()) {
        summary.next = terms.mask(&format!(
            "{} Or go on with the attempts: {command}",
            summary.next
        ));
    }
}

/// What went wrong, in the words of whoever noticed.
fn errors(
    gather: &Gather,
    facts: Option<ResultFacts<'_>>,
    verdict: &Verdict,
    terms: &Terms,
) -> Vec<String> {
    if verdict.code == 0 {
        return Vec::new();
    }
    let mut errors = Vec::new();
    if let Some(facts) = facts.filter(|facts| facts.is_error) {
        let listed = gather.turns.last.as_ref().map(|last| &last.errors);
        let listed = listed.into_iter().flatten().cloned();
        errors.extend(listed);
        if errors.is_empty() && !facts.text.is_empty() {
            errors.push(facts.text.to_owned());
        }
    } else if let Some(failure) = &gather.failure {
        errors.push(failure.text.clone());
    }
    let exit = gather.ours.exit.as_ref();
    let failed = exit.filter(|exit| exit.exit_code != Some(0));
    if let Some(exit) = failed {
        let lines = said(exit).lines().filter(|line| !line.trim().is_empty());
        let lines: Vec<_> = lines.collect();
        let last = lines.len().saturating_sub(STDERR_LINES);
        errors.extend(lines[last..].iter().map(|line| (*line).to_owned()));
        errors.extend(exit.error.clone().filter(|error| !errors.contains(error)));
        if errors.is_empty() {
            errors.push(verdict.why.clone());
        }
    }
    errors.iter().map(|error| terms.mask(error)).collect()
}

/// How to go on, unless there is nothing on disk to go on with.
fn resumption(summary: &mut Summary, gather: &Gather, terms: &Terms) {
    let never_began =
        gather.turns.last.as_ref().is_some_and(|last| {
            last.subtype == "error_during_execution" && last.num_turns == Some(0)
        });
    if never_began || gather.ours.unsaved {
        return;
    }
    let id = gather.about.session_id.as_deref();
    // Masked, the directory would be another one.
    let cwd = gather.about.cwd.as_deref().or(gather.ours.cwd.as_deref());
    let is_plain = cwd.is_none_or(|cwd| terms.mask(cwd) == cwd);
    let resume = id.and_then(|id| resume(id, cwd)).filter(|_| is_plain);
    if let Some(resume) = resume {
        summary.resume_command = Some(resume.command);
        summary.resume_argv = Some(resume.argv);
    }
}
