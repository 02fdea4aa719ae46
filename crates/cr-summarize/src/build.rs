//! Makes the summary from the collected facts.

use cr_event::Cursor;
use cr_io::Redactor;
use cr_summary::{Attempt, Denial, Git, Limit, Retry, SCHEMA, Summary, Tools};
use cr_usage::{Prices, Spent};
use cr_verdict::{ResultFacts, Verdict, judge};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::agent_fields::agent;
use crate::calls::Denied;
use crate::collector::Collector;
use crate::counts;
use crate::evidence::{asked_in_vain, evidence, facts, last_result, stderr_text};
use crate::own_lines::Ended;
use crate::resume::resumption;
use crate::session_fields::session;
use crate::spend::spend;
use crate::value::{found_in, rewritten};

/// Lines of standard error that are shown.
const STDERR_LINES: usize = 20;

/// Settings of the command line for a summary.
#[derive(Debug)]
pub(crate) struct SummaryOptions {
    /// The context window, where the input does not say it.
    pub(crate) context_window: Option<u64>,
    /// Prices, where an estimate is wanted.
    pub(crate) prices: Option<Prices>,
    pub(crate) redactor: Redactor,
}

impl SummaryOptions {
    /// What the tokens cost by the table, if an estimate is wanted.
    pub(crate) fn estimate(&self, spent: &[(String, Spent)]) -> Option<f64> {
        let spent = spent.iter().map(|(model, spent)| (&**model, spent.usage));
        self.prices.as_ref()?.estimate(spent)
    }

    pub(crate) fn mask(&self, text: &str) -> String {
        self.redactor.redact(text).into_owned()
    }

    pub(crate) fn masked(&self, text: Option<&str>) -> Option<String> {
        text.map(|text| self.mask(text))
    }

    /// `value` as JSON, masked.
    fn json(&self, value: &impl Serialize) -> Option<Box<RawValue>> {
        self.value(&serde_json::to_vec(value).ok()?)
    }

    fn value(&self, bytes: &[u8]) -> Option<Box<RawValue>> {
        let raw = Cursor::new(bytes).raw().ok()?;
        rewritten(raw, &self.redactor)
    }
}

/// The input is no stream: there is no session to resume, and a person should
/// look at the program that wrote it.
fn nothing_to_judge(summary: &mut Summary, collector: &Collector) -> bool {
    let counts = &collector.counts;
    let has_lines = counts.lines > counts.blank + counts.oversize;
    if has_lines && !collector.origin.is_known() && !collector.is_torn {
        let look = collector.origin.look();
        let look = look.unwrap_or(cr_event::look_of_bytes(b""));
        summary.why = format!(
            "No line of the input is Claude Code's; it looks like {}.",
            look.name
        );
        summary.next = look.next.into();
        summary.code = Some(cr_io::Exit::Data.code());
        summary.category = Some(cr_verdict::Category::Validation.as_str().into());
    } else if let Some(why) = counts::no_event(counts).filter(|_| !collector.is_torn) {
        summary.why = why.into();
        summary.next = "Look at what wrote it: the agent may not have started.".into();
    } else {
        return false;
    }
    (summary.retry.retryable, summary.retry.action) = (false, "look".into());
    true
}

/// Makes the summary.
pub(crate) fn summary(collector: &Collector, options: &SummaryOptions) -> Summary {
    let facts = facts(collector);
    let question = asked_in_vain(collector);
    let verdict = judge(&evidence(collector, facts, question.as_ref()));
    let before = collector.sessions_before;
    let mut summary = Summary {
        schema: SCHEMA,
        tool_calls: collector.calls.total,
        supervised: collector.run_facts.seen,
        results: collector.turns.results,
        turns: collector.turns.list.iter().cloned().collect(),
        subagents: collector.calls.subagents,
        api_retries: collector.api_retries,
        compactions: collector.compactions,
        forged: collector.run_facts.forged,
        counts: collector.counts,
        tools: tools(collector),
        sessions: if before > 0 { before + 1 } else { 0 },
        first_uuid: options.masked(collector.ids.first_uuid.as_deref()),
        last_uuid: options.masked(collector.ids.last_uuid().as_deref()),
        messages: collector.ids.count,
        messages_digest: collector.ids.digest(),
        copied_messages: collector.share.copied,
        ..Summary::default()
    };
    spend(&mut summary, collector, options);
    identity(&mut summary, collector, options);
    ending(&mut summary, collector, options);
    answer(&mut summary, collector, options);
    time(&mut summary, collector);
    lists(&mut summary, collector, options);
    verdict_fields(&mut summary, &verdict);
    if !nothing_to_judge(&mut summary, collector) {
        reasons(&mut summary, collector, &verdict, options);
    }
    summary.errors = errors(collector, facts, &verdict, options);
    resumption(&mut summary, collector, &options.redactor);
    session(&mut summary, collector, options);
    agent(&mut summary, collector, options);
    if let Some(disorder) = collector.run_facts.disorder {
        summary.stream_error = Some(disorder.into());
        summary.ok = Some(false);
        summary.code = Some(cr_io::Exit::Data.code());
    }
    summary
}

fn tools(collector: &Collector) -> Tools {
    let tools = collector.calls.tools.iter();
    let mut tools: Vec<_> = tools.map(|(name, count)| (name.clone(), *count)).collect();
    // By name already, and the sort keeps that among equals.
    tools.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    Tools(tools)
}

fn identity(summary: &mut Summary, collector: &Collector, options: &SummaryOptions) {
    let run = &collector.run_facts;
    summary.session_id = options.masked(collector.session.session_id.as_deref());
    let model = collector.usage.context().model().or(run.model.as_deref());
    summary.model = options.masked(model);
    summary.run_id = options.masked(run.run_id.as_deref());
    // Attempts have directories of their own, in one of the whole run.
    let whole = run.whole.as_ref().and_then(|whole| whole.run_dir.as_ref());
    let run_dir = whole.or(run.run_dir.as_ref());
    summary.run_dir = options.masked(run_dir.map(String::as_str));
    let cwd = collector.session.cwd.as_deref().or(run.cwd.as_deref());
    summary.cwd = options.masked(cwd);
    let stream = run_dir.map(|dir| format!("{dir}/{}", cr_rundir::file::STREAM));
    summary.transcript = options.masked(stream.as_deref());
    summary.recorded = run.recorded;
    let file = run.output_file.as_ref();
    summary.output_file = file.and_then(|file| options.json(file));
    if run.record_cut {
        summary.truncated.push("transcript".into());
    }
    if collector.is_rest {
        summary.truncated.push("session".into());
    }
}

fn ending(summary: &mut Summary, collector: &Collector, options: &SummaryOptions) {
    if let Some(Ended { exit, .. }) = &collector.run_facts.exit {
        summary.reason = Some(options.mask(exit.reason.as_str()));
        summary.exit_code = exit.exit_code;
        summary.torn_tail = exit.torn_tail;
        summary.killed = exit.killed;
        summary.signal = exit.signal.or(exit.interrupted_by);
        let leaked = exit
            .leaked
            .iter()
            .filter_map(|process| options.json(process));
        summary.leaked = leaked.collect();
        let listed = summary.leaked.len() as u64;
        summary.totals.leaked_total = exit.leaked_total.filter(|total| *total > listed);
    }
    summary.limit = collector.run_facts.limit.as_ref().map(|limit| Limit {
        clock: options.mask(limit.clock.as_str()),
        limit_ms: limit.limit_ms,
        elapsed_ms: limit.elapsed_ms,
        action: options.mask(&limit.action),
        stopped_tasks: limit
            .stopped_tasks
            .iter()
            .map(|id| options.mask(id))
            .collect(),
        doing: limit.doing.as_ref().and_then(|doing| options.json(doing)),
    });
    if let Some(last) = &collector.turns.last {
        summary.num_turns = last.num_turns;
        summary.subtype = options.masked(Some(&last.subtype));
        summary.terminal_reason = options.masked(last.terminal_reason.as_deref());
    }
}

fn answer(summary: &mut Summary, collector: &Collector, options: &SummaryOptions) {
    let last = last_result(collector);
    let last_text = Some(collector.last_text.as_str()).filter(|text| !text.is_empty());
    let text = match last {
        // At a limit the last words are all there is.
        Some(last) if last.subtype.starts_with("error_") => last.text.as_deref().or(last_text),
        Some(last) if last.is_error => last.text.as_deref(),
        // The words of the turn are the answer of a result that has none.
        Some(last) => last.text.as_deref().or(last_text),
        None => last_text,
    };
    summary.result = options.masked(text);
    let structured = last.and_then(|last| last.structured.as_deref());
    summary.structured_output = structured.and_then(|value| options.value(value));
    if structured.is_some_and(<[u8]>::is_empty) {
        summary.truncated.push("structured_output".into());
    }
    if structured.is_some() || last.is_some_and(|last| last.is_error) {
        return;
    }
    // Before a result without text the last message is the answer.
    let answer = text.filter(|text| !text.trim().is_empty()).or(last_text);
    match answer {
        // Half a text may hold other JSON than the whole.
        Some(answer) if answer.len() > collector.most() => summary.truncated.push("json".into()),
        Some(answer) => summary.json = found_in(answer, &options.redactor),
        None => {}
    }
}

fn time(summary: &mut Summary, collector: &Collector) {
    let (started, ended) = (collector.session.started(), collector.session.ended());
    summary.started_at = started;
    summary.ended_at = ended;
    let exit = collector.run_facts.exit.as_ref();
    let wall = started.zip(ended).map(|(from, to)| to.duration_since(from));
    let wall = wall.and_then(|wall| u64::try_from(wall.as_millis()).ok());
    let turns = Some(collector.turns.duration_ms).filter(|_| collector.turns.results > 0);
    // The exit line is that of the last attempt.
    let exit = exit.filter(|_| collector.run_facts.attempts.len() < 2);
    let duration = exit
        .and_then(|ended| ended.exit.duration_ms)
        .or(wall.max(turns));
    summary.duration_ms = duration;
    summary.duration_seconds = duration.map(|ms| ms.saturating_add(500) / 1000);
}

fn lists(summary: &mut Summary, collector: &Collector, options: &SummaryOptions) {
    let denial = |denied: &Denied| Denial {
        tool_name: options.mask(&denied.tool),
        tool_use_id: options.mask(&denied.id),
        tool_input: options.value(&denied.input),
    };
    summary.permission_denials = collector.calls.denials.iter().map(denial).collect();
    let listed = summary.permission_denials.len() as u64;
    if collector.calls.denied_total > listed {
        summary.totals.permission_denials_total = Some(collector.calls.denied_total);
    }
    for turn in &mut summary.turns {
        turn.subtype = options.mask(&turn.subtype);
    }
    if collector.turns.count > summary.turns.len() as u64 {
        summary.totals.turns_total = Some(collector.turns.count);
    }
    summary
        .background_unfinished
        .clone_from(&collector.background.open);
    for task in &mut summary.background_unfinished {
        task.description = options.masked(task.description.as_deref());
    }
    let attempts = collector.run_facts.attempts.iter().cloned();
    summary.attempts = attempts
        .map(|attempt| Attempt {
            session_id: options.masked(attempt.session_id.as_deref()),
            why: options.masked(attempt.why.as_deref()),
            ..attempt
        })
        .collect();
    summary.git = collector
        .run_facts
        .git
        .clone()
        .map(|git| masked_git(git, options));
}

fn masked_git(mut git: Git, options: &SummaryOptions) -> Git {
    for commits in [&mut git.commits, &mut git.agent_commits] {
        let commits = commits.iter_mut().flatten();
        commits.for_each(|commit| *commit = options.mask(commit));
    }
    git.branch = options.masked(git.branch.as_deref());
    git.error = options.masked(git.error.as_deref());
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

/// The sentences may quote the stream: secrets are masked.
fn reasons(
    summary: &mut Summary,
    collector: &Collector,
    verdict: &Verdict,
    options: &SummaryOptions,
) {
    summary.why = options.mask(&verdict.why);
    summary.next = options.mask(&verdict.next);
    let whole = collector.run_facts.whole.as_ref();
    if let Some(command) = whole.and_then(|whole| whole.next.as_deref()) {
        summary.next = options.mask(&format!(
            "{} Or go on with the attempts: {command}",
            summary.next
        ));
    }
}

/// The errors, in the words of the program that reported them.
fn errors(
    collector: &Collector,
    facts: Option<ResultFacts<'_>>,
    verdict: &Verdict,
    options: &SummaryOptions,
) -> Vec<String> {
    if verdict.code == 0 {
        return Vec::new();
    }
    let mut errors = Vec::new();
    if let Some(facts) = facts.filter(|facts| facts.is_error) {
        let listed = collector.turns.last.as_ref().map(|last| &last.errors);
        let listed = listed.into_iter().flatten().cloned();
        errors.extend(listed);
        if errors.is_empty() && !facts.text.is_empty() {
            errors.push(facts.text.to_owned());
        }
    } else if let Some(failure) = &collector.failure {
        errors.push(failure.text.clone());
    }
    let exit = collector.run_facts.exit.as_ref();
    let failed = exit.filter(|ended| ended.exit.exit_code != Some(0));
    if let Some(exit) = failed {
        let lines = stderr_text(exit)
            .lines()
            .filter(|line| !line.trim().is_empty());
        let lines: Vec<_> = lines.collect();
        let last = lines.len().saturating_sub(STDERR_LINES);
        errors.extend(lines[last..].iter().map(|line| (*line).to_owned()));
        let error = exit.exit.error.as_deref().map(str::to_owned);
        errors.extend(error.filter(|error| !errors.contains(error)));
        if errors.is_empty() {
            errors.push(verdict.why.clone());
        }
    }
    errors.iter().map(|error| options.mask(error)).collect()
}
