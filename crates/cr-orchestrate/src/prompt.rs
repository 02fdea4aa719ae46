//! What an agent is told: the task, and what came before.

use cr_verdict::policy::Again;

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

/// How an attempt begins.
#[derive(Clone, Debug, Default)]
pub(crate) struct Beginning {
    /// How the policy wants it; none for a first attempt.
    pub(crate) again: Option<Again>,
    /// It takes over from a session that is full.
    pub(crate) is_handoff: bool,
    /// What a person said.
    pub(crate) said: Option<String>,
}

/// The words for the next attempt of `task`, after `last`.
pub(crate) fn prompt(
    task: &Task,
    beginning: &Beginning,
    last: Option<&Ended>,
    sprint: bool,
) -> String {
    let again = beginning.again.as_ref();
    let error = again.and_then(|again| again.error_context.as_deref());
    let mut parts = Vec::new();
    if again.is_some_and(|again| again.resume) {
        parts.push("Continue from where you left off.".to_owned());
        parts.extend(error.map(|error| format!("What happened: {error}")));
    } else {
        parts.push(task.prompt.trim().to_owned());
        if let Some(last) = last.filter(|_| beginning.is_handoff) {
            parts.push(handoff(last));
        } else if let Some(error) = error {
            parts.push(format!(
                "An earlier attempt at this task did not succeed. Its work may be there \
                 in part: look before you begin. What went wrong:\n\n{error}"
            ));
        }
    }
    parts.extend(
        beginning
            .said
            .as_ref()
            .map(|said| format!("A person says: {said}")),
    );
    if sprint {
        parts.push(STATUS.to_owned());
    }
    parts.join("\n\n")
}

/// What a new session must know of the one it takes over from.
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
    if let Some(words) = last.end.result.as_deref().filter(|text| !text.is_empty()) {
        let (words, _) = cr_io::first_chars(words, 1500);
        text.push_str(&format!("\n\nIts last words:\n{words}"));
    }
    text
}
