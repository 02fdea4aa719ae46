//! Truncates the summary to four kilobytes.
//!
//! Sizes are those of the printed form, escapes included. Texts and lists are
//! truncated, and the length of a list is kept. A value that means something
//! only as a whole, such as an id, a path, a command or JSON, is left out.

mod agent;

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::{Git, OTHER_TOOLS, Summary};

/// Bytes of a summary, its newline included.
const MOST: usize = 4096;

/// Why a command is left out.
const TOO_LONG: &str = "It is too long: see --full.";

/// How much of each field is shown.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// Characters of the result.
    text: usize,
    /// Items of a list.
    items: usize,
    /// Bytes of one item.
    item: usize,
    /// Bytes of a value that is shown whole or not at all.
    fixed: usize,
    /// Bytes of JSON.
    json: usize,
}

/// The first is the intended one; the last always fits.
#[rustfmt::skip]
const LEVELS: [Limits; 8] = [
    Limits { text: 1500, items: 20, item: 500, fixed: 1024, json: 1500 },
    Limits { text: 1500, items: 10, item: 200, fixed:  512, json:  500 },
    Limits { text: 1200, items: 10, item: 200, fixed:  512, json:  500 },
    Limits { text: 1000, items:  5, item: 150, fixed:  300, json:  300 },
    Limits { text:  500, items:  5, item: 100, fixed:  200, json:    0 },
    Limits { text:  200, items:  2, item:  80, fixed:  120, json:    0 },
    Limits { text:   80, items:  1, item:  60, fixed:   80, json:    0 },
    Limits { text:    0, items:  0, item:   0, fixed:   40, json:    0 },
];

impl Summary {
    /// A copy whose line takes at most 4 kB.
    #[must_use]
    pub fn truncated(&self) -> Self {
        let mut truncated = self.clone();
        for limits in LEVELS {
            truncated = Truncation::new(limits, self).apply(self.clone());
            if truncated.line().len() < MOST {
                break;
            }
        }
        truncated
    }
}

fn cost_rank(spent: &crate::ModelSpend) -> f64 {
    spent.cost_usd.unwrap_or(0.0)
}

struct Truncation {
    limits: Limits,
    /// The fields that are not shown in full.
    fields: Vec<Cow<'static, str>>,
}

impl Truncation {
    fn new(limits: Limits, summary: &Summary) -> Self {
        let fields = summary.truncated.clone();
        Self { limits, fields }
    }

    fn apply(mut self, mut summary: Summary) -> Summary {
        let Limits { text, item, .. } = self.limits;
        if let Some(result) = &mut summary.result {
            self.text("result", result, (text, text * 5 / 3));
        }
        self.text("why", &mut summary.why, (300, item.max(100)));
        // A command that is cut is of no use.
        self.text("next", &mut summary.next, (300, item.max(300)));
        self.fixed_texts(&mut summary);
        self.values(&mut summary);
        self.lists(&mut summary);
        self.tools(&mut summary);
        self.models(&mut summary);
        if let Some(git) = summary.git.take() {
            summary.git = Some(self.git(git, &mut summary));
        }
        summary.truncated = self.fields;
        summary
    }

    fn fixed_texts(&mut self, summary: &mut Summary) {
        self.fixed("file", &mut summary.file);
        self.fixed("session_id", &mut summary.session_id);
        self.fixed("model", &mut summary.model);
        self.fixed("first_uuid", &mut summary.first_uuid);
        self.fixed("last_uuid", &mut summary.last_uuid);
        self.fixed("run_id", &mut summary.run_id);
        self.fixed("run_dir", &mut summary.run_dir);
        self.fixed("transcript", &mut summary.transcript);
        self.fixed("cwd", &mut summary.cwd);
        self.fixed("cli_version", &mut summary.agent.cli_version);
        self.fixed("subtype", &mut summary.subtype);
        self.fixed("terminal_reason", &mut summary.terminal_reason);
        self.fixed("reason", &mut summary.reason);
        self.fixed("completed_by", &mut summary.session.completed_by);
        let Some(argv) = &summary.resume_argv else {
            return;
        };
        if argv.iter().map(|word| printed(word)).sum::<usize>() > self.limits.fixed {
            (summary.resume_command, summary.resume_argv) = (None, None);
            summary.resume_why_null = Some(TOO_LONG.into());
            self.fields.push("resume_command".into());
            self.fields.push("resume_argv".into());
        }
    }

    fn values(&mut self, summary: &mut Summary) {
        let file = summary.output_file.as_ref();
        if file.is_some_and(|file| file.get().len() > self.limits.fixed) {
            summary.output_file = None;
            self.note("output_file");
        }
        self.value("json", &mut summary.json);
        self.value("structured_output", &mut summary.structured_output);
        if let Some(limit) = &mut summary.limit {
            self.value("limit", &mut limit.doing);
            let Limits { item, .. } = self.limits;
            self.text("limit", &mut limit.clock, (item, item));
            self.text("limit", &mut limit.action, (item, item));
            limit.stopped_tasks.truncate(self.limits.items);
            for task in &mut limit.stopped_tasks {
                self.text("limit", task, (item, item));
            }
        }
    }

    fn lists(&mut self, summary: &mut Summary) {
        let Limits { item, .. } = self.limits;
        let totals = &mut summary.totals;
        self.list("errors", &mut summary.errors, &mut totals.errors_total);
        for error in &mut summary.errors {
            self.text("errors", error, (item, item));
        }
        self.turns(summary);
        self.questions(summary);
        self.attempts(summary);
        self.denials(summary);
        self.compactions(summary);
        self.quota(summary);
        self.background(summary);
        self.leaked(summary);
    }

    /// The models that cost most stay. A name that is cut would be another one.
    fn models(&mut self, summary: &mut Summary) {
        let Limits { items, fixed, .. } = self.limits;
        let total = summary.models.len();
        let mut costs: Vec<_> = summary.models.values().map(cost_rank).collect();
        costs.sort_unstable_by(|a, b| b.total_cmp(a));
        let least = costs.get(items).copied();
        let is_kept = |name: &str, cost: f64| {
            printed(name) <= fixed && least.is_none_or(|least| cost > least)
        };
        summary
            .models
            .retain(|name, spent| is_kept(name, cost_rank(spent)));
        if summary.models.len() < total {
            summary.totals.models_total = Some(total as u64);
            self.note("models");
        }
    }

    /// The end of a long run says more than its beginning: the last ones stay.
    fn turns(&mut self, summary: &mut Summary) {
        let Limits { item, .. } = self.limits;
        let turns = &mut summary.turns;
        turns.reverse();
        self.list("turns", turns, &mut summary.totals.turns_total);
        turns.reverse();
        for turn in turns {
            self.list("turns", &mut turn.messages, &mut turn.messages_total);
            self.text("turns", &mut turn.subtype, (item, item));
            let texts = [&mut turn.terminal_reason, &mut turn.origin];
            for text in texts.into_iter().flatten() {
                self.text("turns", text, (item, item));
            }
        }
    }

    fn questions(&mut self, summary: &mut Summary) {
        const NAME: &str = "questions";
        let Limits { item, .. } = self.limits;
        let questions = &mut summary.session.questions;
        self.list(NAME, questions, &mut summary.totals.questions_total);
        for question in questions {
            let texts = [&mut question.tool, &mut question.agent];
            let texts = texts.into_iter().flatten();
            let own = [&mut question.id, &mut question.kind, &mut question.text];
            for text in texts.chain(own) {
                self.text(NAME, text, (item, item));
            }
        }
    }

    fn attempts(&mut self, summary: &mut Summary) {
        let Limits { item, .. } = self.limits;
        let attempts = &mut summary.attempts;
        attempts.reverse();
        self.list("attempts", attempts, &mut summary.totals.attempts_total);
        attempts.reverse();
        for attempt in attempts {
            let texts = [&mut attempt.why, &mut attempt.outcome];
            for text in texts.into_iter().flatten() {
                self.text("attempts", text, (item, item));
            }
            self.fixed("attempts", &mut attempt.session_id);
            self.fixed("attempts", &mut attempt.started_at);
            self.fixed("attempts", &mut attempt.ended_at);
            if self.limits.items <= 5 && attempt.run_dir.take().is_some() {
                // It is below the run's own, and takes the place of an attempt.
                self.note("attempts");
            }
            self.fixed("attempts", &mut attempt.run_dir);
        }
    }

    fn denials(&mut self, summary: &mut Summary) {
        const NAME: &str = "permission_denials";
        let Limits { item, .. } = self.limits;
        let denials = &mut summary.permission_denials;
        self.list(NAME, denials, &mut summary.totals.permission_denials_total);
        for denial in denials {
            self.text(NAME, &mut denial.tool_name, (item, item));
            self.text(NAME, &mut denial.tool_use_id, (item, item));
            let input = &mut denial.tool_input;
            if input.as_ref().is_some_and(|input| input.get().len() > item) {
                *input = None;
                self.note(NAME);
            }
        }
    }

    fn background(&mut self, summary: &mut Summary) {
        const NAME: &str = "background_unfinished";
        let Limits { item, .. } = self.limits;
        let tasks = &mut summary.background_unfinished;
        let total = &mut summary.totals.background_unfinished_total;
        self.list(NAME, tasks, total);
        for task in tasks {
            let texts = [&mut task.task_type, &mut task.description];
            let texts = texts.into_iter().flatten();
            for text in texts.chain([&mut task.task_id]) {
                self.text(NAME, text, (item, item));
            }
        }
    }

    fn leaked(&mut self, summary: &mut Summary) {
        let Limits { item, .. } = self.limits;
        let leaked = &mut summary.leaked;
        let total = &mut summary.totals.leaked_total;
        self.list("leaked", leaked, total);
        if leaked.iter().any(|process| process.get().len() > item) {
            total.get_or_insert(leaked.len() as u64);
            leaked.retain(|process| process.get().len() <= item);
            self.note("leaked");
        }
    }

    /// Rare tools are shown as one, so that the sum stays the sum.
    fn tools(&mut self, summary: &mut Summary) {
        let Limits { items, item, .. } = self.limits;
        let tools = &mut summary.tools.0;
        let total = tools.len();
        let fits = |(name, _): &(String, u64)| printed(name) <= item;
        if total <= items && tools.iter().all(fits) {
            return;
        }
        let mut rest = 0;
        let mut kept = Vec::new();
        for (name, count) in tools.drain(..) {
            if kept.len() + 1 < items && name != OTHER_TOOLS && printed(&name) <= item {
                kept.push((name, count));
            } else {
                rest += count;
            }
        }
        kept.push((OTHER_TOOLS.to_owned(), rest));
        *tools = kept;
        summary.totals.tools_total = Some(total as u64);
        self.note("tools");
    }

    fn git(&mut self, mut git: Git, summary: &mut Summary) -> Git {
        let Limits { item, .. } = self.limits;
        let totals = &mut summary.totals;
        let lists = [
            (&mut git.commits, &mut totals.commits_total),
            (&mut git.agent_commits, &mut totals.agent_commits_total),
        ];
        for (commits, total) in lists {
            let Some(commits) = commits else {
                continue;
            };
            self.list("git", commits, total);
            for commit in commits {
                self.text("git", commit, (item, item));
            }
        }
        if let (Some(commits), Some(by)) = (&git.commits, &mut git.commits_by) {
            by.truncate(commits.len());
        }
        for run in git.commits_by.iter_mut().flatten() {
            self.fixed("git", run);
        }
        for word in [
            &mut git.branch,
            &mut git.error,
            &mut git.start_sha,
            &mut git.end_sha,
        ] {
            self.fixed("git", word);
        }
        git
    }

    fn note(&mut self, name: &'static str) {
        if !self.fields.iter().any(|field| field == name) {
            self.fields.push(name.into());
        }
    }

    /// Cuts a text to so many characters, and to so many bytes in print.
    fn text(&mut self, name: &'static str, text: &mut String, (chars, bytes): (usize, usize)) {
        let mut printed = 0;
        let end = text.char_indices().enumerate().find(|&(i, (_, c))| {
            printed += printed_char(c);
            i >= chars || printed > bytes
        });
        if let Some((_, (end, _))) = end {
            text.truncate(end);
            self.note(name);
        }
    }

    /// Leaves out a text that is too long.
    fn fixed(&mut self, name: &'static str, text: &mut Option<String>) {
        let is_long = |text: &String| printed(text) > self.limits.fixed;
        if text.as_ref().is_some_and(is_long) {
            *text = None;
            self.note(name);
        }
    }

    fn value(&mut self, name: &'static str, value: &mut Option<Box<RawValue>>) {
        if value
            .as_ref()
            .is_some_and(|value| value.get().len() > self.limits.json)
        {
            *value = None;
            self.note(name);
        }
    }

    fn list<T>(&mut self, name: &'static str, list: &mut Vec<T>, total: &mut Option<u64>) {
        if list.len() > self.limits.items {
            total.get_or_insert(list.len() as u64);
            list.truncate(self.limits.items);
            self.note(name);
        }
    }
}

/// The bytes of `text` inside a JSON string.
fn printed(text: &str) -> usize {
    text.chars().map(printed_char).sum()
}

/// The bytes of one character there, or a little more.
fn printed_char(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' => 2,
        '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{61c}' | '\u{200e}'..='\u{206f}' | '\u{feff}' => 6,
        c => c.len_utf8(),
    }
}
