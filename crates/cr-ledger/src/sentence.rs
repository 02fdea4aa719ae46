//! The reason of a decision, in one sentence.

use crate::choice::Reason;
use crate::decision::Decision;
use crate::thresholds::Thresholds;

/// The sentence for a decision whose other fields are set.
pub(crate) fn why(decision: &Decision, reason: Reason, marks: &Thresholds) -> String {
    let context = &decision.context;
    let full = full(decision, marks);
    let text = match reason {
        Reason::Exhausted => "The last run ended because the context was full".to_owned(),
        Reason::Full => full,
        Reason::UnknownContext => {
            "How full the context is cannot be said: no message and no run says it".to_owned()
        }
        Reason::UnknownWindow => format!(
            "The context has {} tokens, and the size of its window is not known: \
             give --context-window, or record a run that ends with a result",
            context.used.unwrap_or(0)
        ),
        Reason::Compacted => format!("{full}, because the agent has compacted it"),
        Reason::Running => format!("{full}, and the session is running"),
        Reason::Warm => format!("{full}, and the prompt cache has it {}", until(decision)),
        Reason::RefreshCheaper => format!(
            "{full}, but the prompt cache has expired, and {} than a resume{}",
            "a new session is cheaper",
            prices(decision)
        ),
        Reason::ResumeCheaper => format!(
            "{full}, and although the prompt cache has expired, a resume is not dearer than a \
             new session{}",
            prices(decision)
        ),
        Reason::NoPrice => format!(
            "{full}; {}, and {}, so that only the thresholds count",
            match &decision.cache {
                Some(_) => "the prompt cache has expired",
                None => "no time says whether the prompt cache has expired",
            },
            // The price of the model is known then.
            match decision.price.resume_usd {
                Some(_) => "what a new session costs is not known before `cr-ledger import`",
                None => "the price of a resumed or of a new session is not known",
            }
        ),
    };
    format!("{text}{}.", early(decision, reason, marks))
}

/// How full the context is, and which threshold that reaches.
fn full(decision: &Decision, marks: &Thresholds) -> String {
    let context = &decision.context;
    let (Some(used), Some(window)) = (context.used, context.window) else {
        return "How full the context is cannot be said".to_owned();
    };
    let percent = context.percent.unwrap_or(0);
    let text = format!("The context is {percent} % full ({used} of {window} tokens)");
    let mark = match decision.level {
        Some("warning") => ("warning", marks.warn),
        Some("refresh") => ("refresh", marks.refresh),
        Some("emergency") => ("emergency refresh", marks.emergency),
        _ => return text,
    };
    format!(
        "{text}, at or above the {} at {} %",
        mark.0,
        percentage(mark.1)
    )
}

/// A part as per cent, without an error of binary fractions.
fn percentage(part: f64) -> f64 {
    (part * 1e6).round() / 1e4
}

fn until(decision: &Decision) -> String {
    let expires_at = decision.cache.as_ref().and_then(|cache| cache.expires_at);
    expires_at.map_or_else(String::new, |at| format!("until {at}"))
}

fn prices(decision: &Decision) -> String {
    let price = &decision.price;
    match (price.refresh_usd, price.resume_usd) {
        (Some(refresh), Some(resume)) => format!(
            ": ${refresh} against ${resume} for the context of {}",
            cr_io::counted(price.calls, "call")
        ),
        _ => String::new(),
    }
}

/// That the agent compacts the context before the threshold of a refresh.
fn early(decision: &Decision, reason: Reason, marks: &Thresholds) -> String {
    let window = decision.context.window.unwrap_or(0);
    let mark = crate::price::amount(window) * marks.refresh;
    let told = decision.context.auto_compact_at;
    let told = told.filter(|at| crate::price::amount(*at) < mark);
    let seen = decision.compaction.as_ref();
    let seen = seen.filter(|seen| seen.is_before_refresh);
    let tokens = told.or(seen.and_then(|seen| seen.pre_tokens));
    match tokens {
        Some(tokens) if !reason.is_refresh() => {
            format!("; the agent compacts it by itself at {tokens} tokens, before a refresh")
        }
        _ => String::new(),
    }
}
