//! What the summary says of a session of many turns, and how to go on with it.

use cr_summary::{Question, SessionFields, Summary};

use crate::build::SummaryOptions;
use crate::collector::Collector;

/// Fills in the fields, and says in `next` how to go on.
pub(crate) fn session(summary: &mut Summary, collector: &Collector, options: &SummaryOptions) {
    let conversation = &collector.run_facts.conversation;
    let exit = collector.run_facts.exit.as_ref();
    let completed_by = exit.and_then(|ended| ended.exit.completed_by.as_deref());
    let masked = |question: &Question| Question {
        text: options.mask(&question.text),
        ..question.clone()
    };
    summary.session = SessionFields {
        completed_by: completed_by.map(|how| options.mask(how)),
        peer_turns: collector.turns.peers,
        inputs: conversation.is_session().then_some(conversation.inputs),
        inputs_unanswered: conversation.unanswered(),
        questions: conversation.questions.iter().map(masked).collect(),
    };
    let listed = summary.session.questions.len() as u64;
    if conversation.questions_total > listed {
        summary.totals.questions_total = Some(conversation.questions_total);
    }
    if let Some(next) = next(summary, collector) {
        summary.next = next;
    }
}

/// What to do about questions and messages that wait.
fn next(summary: &Summary, collector: &Collector) -> Option<String> {
    let resume = summary.resume_command.as_deref()?;
    let argv = summary.resume_argv.as_deref()?;
    let [_, flag, run, ..] = argv else {
        return None;
    };
    if flag != "--resume-run" {
        return None;
    }
    let waiting = summary.session.inputs_unanswered;
    let messages = cr_io::counted(waiting, "message");
    let question = collector.run_facts.conversation.first_question();
    if let Some((question, _)) = question {
        let (run, answer) = (cr_io::quote(run)?, answer(question)?);
        let next = format!("Answer the question: cr-send {run} {answer}; then: {resume}");
        return Some(match waiting {
            0 => next,
            _ => format!("{next}, which also delivers {messages}"),
        });
    }
    let delivery = format!("{resume} delivers {messages}");
    match waiting {
        0 => None,
        _ if summary.next == "Nothing." => Some(delivery),
        _ => Some(format!("{} {delivery}", summary.next)),
    }
}

/// The words that answer a question.
fn answer(question: &Question) -> Option<String> {
    let id = cr_io::quote(&question.id)?;
    Some(match &*question.kind {
        "choice" => format!("--answer {id} CHOICE"),
        _ => format!("--allow {id}"),
    })
}
