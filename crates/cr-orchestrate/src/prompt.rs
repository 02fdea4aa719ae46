//! The prompt of an attempt: the task, and what came before.

use cr_verdict::policy::RetryOptions;

use crate::attempt::Ended;
use crate::task::Task;

const STATUS: &str = "\
When you have finished, end your answer with one block of this form:

```json
{\"status\": \"completed\", \"summary\": \"one sentence\"}
```

`status` is `completed` only if everything asked for is done; `failed` if it is not; \
`needs-human` if a person must decide or provide something, then with \
`\"humanNeeded\": {\"reason\": \"…\", \"details\": \"…\"}`.";

/// How the next attempt at a task begins.
#[derive(Clone, Debug, Default)]
pub(crate) struct NextAttempt {
    /// What the policy decided; none for a first attempt.
    pub(crate) again: Option<RetryOptions>,
    /// It takes over from a session whose context is full.
    pub(crate) is_handoff: bool,
    /// The model, if it is not the task's own.
    pub(crate) model: Option<String>,
    /// What a person answered.
    pub(crate) answer: Option<String>,
}

/// The prompt for the next attempt at `task`, after `last`.
pub(crate) fn prompt(
    task: &Task,
    next: &NextAttempt,
    last: Option<&Ended>,
    sprint: bool,
) -> String {
    let again = next.again.as_ref();
    let error = again.and_then(|again| again.error_context.as_deref());
    let mut parts = Vec::new();
    if again.is_some_and(|again| again.resume) {
        parts.push("Continue from where you left off.".to_owned());
        parts.extend(error.map(|error| format!("What happened: {error}")));
    } else {
        parts.push(task.prompt.trim().to_owned());
        if let Some(last) = last.filter(|_| next.is_handoff) {
            parts.push(handoff(last));
        } else if let Some(error) = error {
            parts.push(format!(
                "An earlier attempt at this task did not succeed. Its work may be there \
                 in part: look before you begin. What went wrong:\n\n{error}"
            ));
        }
    }
    parts.extend(
        next.answer
            .as_ref()
            .map(|answer| format!("A person says: {answer}")),
    );
    if sprint {
        parts.push(STATUS.to_owned());
    }
    parts.join("\n\n")
}

/// The facts that a new session needs about the session before it.
fn handoff(last: &Ended) -> String {
    let mut text = "Another session worked on this task until its context was full. \
                    Take over where it stopped; look at the files first."
        .to_owned();
    if !last.end.commits.is_empty() {
        text.push_str("\n\nIts commits, newest first:");
        for commit in last.end.commits.iter().take(20) {
            text.push_str(&format!("\n- {commit}"));
        }
    }
    if let Some(answer) = last.end.result.as_deref().filter(|text| !text.is_empty()) {
        let (answer, _) = cr_io::first_chars(answer, 1500);
        text.push_str(&format!("\n\nIts last words:\n{answer}"));
    }
    text
}
