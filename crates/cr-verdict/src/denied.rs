//! Sentences about calls that were denied.

use crate::Evidence;
use crate::sentences::{Words, visible, words};

pub(crate) fn last_call_denied(evidence: &Evidence<'_>) -> Words {
    let commit = no_commit(evidence);
    let why = match denied(evidence) {
        Some(denied) => format!("The last tool call was denied ({denied}){commit}."),
        None => format!("The last tool call was denied, so the work is not finished{commit}."),
    };
    words(
        why,
        "Permit the tool (--allowed-tools, --permission-mode), then resume the session.",
    )
}

/// The denied calls, for use in a sentence: `2 denied: Bash, Write`.
fn denied(evidence: &Evidence<'_>) -> Option<String> {
    const SHOWN: usize = 3;
    /// Characters of a tool's name.
    const NAME: usize = 24;
    let denials = &evidence.denials;
    let short = |name: &&str| -> String { name.chars().take(NAME).map(visible).collect() };
    let mut tools: Vec<_> = denials.tools.iter().take(SHOWN).map(short).collect();
    if denials.tools.len() > SHOWN {
        tools.push("…".to_owned());
    }
    (denials.count > 0).then(|| format!("{} denied: {}", denials.count, tools.join(", ")))
}

fn no_commit(evidence: &Evidence<'_>) -> &'static str {
    if evidence.no_commit && evidence.denials.count > 0 {
        "; no commit was made"
    } else {
        ""
    }
}

pub(crate) fn success(evidence: &Evidence<'_>) -> Words {
    let Some(denied) = denied(evidence) else {
        return words("The run ended with a good result.", "Nothing.");
    };
    let commit = no_commit(evidence);
    words(
        format!("The run ended with a good result, but tool calls were denied ({denied}){commit}."),
        "Check that the work is complete without the denied calls; if not, permit them (--allowed-tools, --permission-mode) and resume.",
    )
}
