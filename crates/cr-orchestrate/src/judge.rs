//! How an attempt ended: by the summary of its run, and by the status that the
//! agent reports.

use std::borrow::Cow;
use std::collections::BTreeMap;

use anyhow::Context;
use cr_io::NewerSchema;
use cr_rundir::RunDir;
use cr_summary::{QuotaWindow, Summary};
use cr_verdict::Outcome;
use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::attempt::{End, Quota, Spec};
use crate::task::{Commit, Task};

/// The status of its task that the agent reports; other fields are ignored.
#[derive(Debug)]
struct Status {
    word: String,
    summary: String,
    question: String,
}

impl Status {
    fn parse(json: &str) -> Option<Self> {
        let mut map: Map<String, Value> = serde_json::from_str(json).ok()?;
        let word = map.get("status")?.as_str()?.trim().to_ascii_lowercase();
        let mut take = |name| map.remove(name).unwrap_or_default();
        let asked = match take("humanNeeded") {
            Value::Null => take("human_needed"),
            asked => asked,
        };
        let question = match asked {
            Value::Object(mut asked) => {
                let parts = ["reason", "details"].map(|name| asked.remove(name));
                parts
                    .map(|part| text_of(part.unwrap_or_default()))
                    .join("\n")
            }
            asked => text_of(asked),
        };
        Some(Self {
            word: word.replace(['_', ' '], "-"),
            summary: text_of(take("summary")).trim().to_owned(),
            question: question.trim().to_owned(),
        })
    }
}

/// A value as text for a person.
fn text_of(value: Value) -> String {
    match value {
        Value::Null | Value::Bool(_) => String::new(),
        Value::String(text) => text,
        value => value.to_string(),
    }
}

/// Reads the summary in `dir`. One of a later version is an error: the attempt
/// is not judged by what is not understood.
pub(crate) fn by_summary(dir: &RunDir, spec: &Spec) -> anyhow::Result<End> {
    let path = dir.path().join(cr_rundir::file::SUMMARY);
    let read = cr_summary::read(&path).and_then(|summary| summary.context("no summary"));
    let summary = match read {
        Ok(summary) => summary,
        Err(err) if err.downcast_ref::<NewerSchema>().is_some() => return Err(err),
        Err(err) => return Ok(End::new(Outcome::Incomplete, &cr_io::message(&err))),
    };
    let status = status_in(&summary).filter(|_| spec.sprint);
    let limit_ms = summary.ended_by_clock().and_then(|limit| limit.limit_ms);
    let session = summary.resumable_session().map(str::to_owned);
    let quota = summary.agent.quota.as_ref().and_then(five_hours);
    let tokens = &summary.tokens;
    let tokens = tokens.input + tokens.output.unwrap_or_default();
    let cached = summary.tokens.cache_read + summary.tokens.cache_creation;
    let mut end = End {
        tokens: Some(tokens + cached).filter(|&tokens| tokens > 0),
        quota,
        category: summary.category.map(Cow::into_owned),
        action: summary.retry.action.into_owned(),
        limit_ms,
        clock: summary.reason,
        error: error_of(&summary.why, &summary.errors),
        outcome: summary.outcome.unwrap_or_default().into_owned(),
        why: summary.why,
        retry_at: summary.retry.at,
        session,
        session_id: summary.session_id,
        cost_usd: summary.cost_usd,
        num_turns: summary.num_turns,
        commits: summary.git.and_then(|git| git.commits).unwrap_or_default(),
        result: summary.result,
        question: None,
        lost: false,
        needs_new_base: false,
        merged: None,
        started_at: summary.started_at,
        ended_at: summary.ended_at.unwrap_or_else(Timestamp::now),
    };
    if end.outcome() == Outcome::NeedsInput {
        end.question.clone_from(&end.result);
    }
    if let Some(status) = status.filter(|_| end.is_success()) {
        apply_status(&mut end, status);
    }
    Ok(end)
}

/// The window of five hours among those that the agent has named.
fn five_hours(windows: &BTreeMap<String, QuotaWindow>) -> Option<Quota> {
    let window = windows.get("five_hour")?;
    Some(Quota {
        used: window.used?,
        resets_at: window.resets_at,
    })
}

/// The status that the agent was asked to end its answer with. JSON before it
/// belongs to the work.
fn status_in(summary: &Summary) -> Option<Status> {
    let structured = summary.structured_output.as_deref();
    structured
        .and_then(|json| Status::parse(json.get()))
        .or_else(|| cr_json::last_that(summary.result.as_deref()?, Status::parse))
}

fn error_of(why: &str, errors: &[String]) -> String {
    let mut text = why.to_owned();
    for error in errors.iter().filter(|error| !why.contains(error.as_str())) {
        text.push('\n');
        text.push_str(error);
    }
    text
}

/// The status decides about a run that ended well.
fn apply_status(end: &mut End, status: Status) {
    let word = status.word;
    let outcome = match word.as_str() {
        "completed" | "complete" | "done" | "success" | "succeeded" | "ok" => return,
        "needs-human" => Outcome::NeedsInput,
        // Any other status means that the work is not done.
        _ => Outcome::Failed,
    };
    outcome.as_str().clone_into(&mut end.outcome);
    end.why = match status.summary.as_str() {
        "" => format!("the agent says: {word}"),
        summary => format!("the agent says: {word}: {summary}"),
    };
    end.error.clone_from(&end.why);
    if outcome == Outcome::NeedsInput {
        let said = [status.question, status.summary];
        end.question = said.into_iter().find(|text| !text.is_empty());
    }
}

/// An agent that takes more turns than this without a commit is in a loop.
pub(crate) const LOOP_TURNS: u64 = 50;

/// What is wrong with an attempt of so many turns without a commit.
pub(crate) fn looping(turns: u64) -> String {
    format!("{turns} turns and no commit; {NO_COMMIT}: take smaller steps")
}

const NO_COMMIT: &str = "the work is done only when it is committed";

/// What is wrong with the commits of a good run, which has some or none.
pub(crate) fn commits(task: &Task, has_commits: bool, end: &End) -> Option<(Outcome, String)> {
    let turns = end.num_turns.unwrap_or_default();
    match task.commit {
        Commit::Required if !has_commits && turns > LOOP_TURNS => {
            Some((Outcome::Looping, looping(turns)))
        }
        Commit::Required if !has_commits => Some((
            Outcome::NoCommit,
            format!("no commit was made; {NO_COMMIT}"),
        )),
        Commit::None if has_commits => Some((
            Outcome::NoCommit,
            "a commit was made, and none is allowed".to_owned(),
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_of_a_later_version_is_no_end_of_an_attempt() {
        let temp = tempfile::tempdir().expect("a directory");
        let dir = RunDir::at(temp.path()).expect("a run directory");
        let end = by_summary(&dir, &Spec::default()).expect("an end");
        assert_eq!(end.outcome(), Outcome::Incomplete);
        let newer = br#"{"schema":99,"outcome":"success"}"#;
        dir.write(cr_rundir::file::SUMMARY, newer).expect("written");
        let err = by_summary(&dir, &Spec::default()).expect_err("a later version");
        assert_eq!(cr_io::exit_of(&err), cr_io::Exit::Config);
    }
}
