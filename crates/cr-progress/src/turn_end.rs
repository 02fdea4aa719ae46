//! The words of a turn's end.

use cr_event::{ModelUsage, Raw, TurnEnd, Usage};
use cr_usage::{CONTEXT_WARNING, is_nearly_full, is_window_of, percent_used};

/// How a turn ended, by its fields; the error itself unless a line has shown it,
/// under the name `shown`.
pub(crate) fn ending(end: &TurnEnd<'_>, shown: Option<&str>) -> String {
    let subtype = end.subtype();
    if !end.is_error() {
        return subtype.into_owned();
    }
    let reason = end
        .string("terminal_reason")
        .filter(|reason| reason != "completed");
    let kind = if subtype == "success" {
        // Some releases give no reason.
        reason.unwrap_or_else(|| shown.unwrap_or_default().to_owned().into())
    } else {
        subtype
    };
    let error = end.errors().first().map(|error| error.clone().into_owned());
    let error = error.or_else(|| Some(end.text()?.prefix(200).into_owned()));
    let error = error.filter(|_| shown.is_none() || kind.is_empty());
    let error = error.unwrap_or_default();
    let error = error.trim();
    match (kind.is_empty(), error.is_empty()) {
        (true, true) => "no reason given".to_owned(),
        (_, true) => kind.into_owned(),
        (true, _) => error.to_owned(),
        _ => format!("{kind}: {error}"),
    }
}

/// The cost of the turn, or of the session where the CLI says no more.
pub(crate) fn cost(end: &TurnEnd<'_>) -> Option<f64> {
    cr_usage::since_last_result(end).or_else(|| end.total_cost_usd())
}

/// `context 31% of 200000`, once the size of the window is known.
pub(crate) fn context_share(end: &TurnEnd<'_>, usage: &[u8], model: &str) -> Option<String> {
    let used = Usage::of(Raw::of(usage)?).context();
    let models = end.model_usage()?;
    let named = |m: &&ModelUsage<'_>| is_window_of(&m.model.decode(), model);
    let window = models.iter().find(named)?.context_window?;
    share(used, window)
}

/// Above the mark the share has a decimal: 60.2% is more than 60%.
fn share(used: u64, window: u64) -> Option<String> {
    if !is_nearly_full(used, window) {
        let percent = percent_used(used, window)?;
        return Some(format!("context {percent}% of {window}"));
    }
    let tenths = percent_used(used.saturating_mul(10), window)?;
    let tenths = tenths.max(CONTEXT_WARNING * 10 + 1);
    let (whole, tenth) = (tenths / 10, tenths % 10);
    Some(format!(
        "context {whole}.{tenth}% of {window} (above {CONTEXT_WARNING}%)"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_above_the_mark_is_shown_as_more_than_the_mark() {
        #[rustfmt::skip]
        let cases = [
            (62_000, "context 31% of 200000"), (120_000, "context 60% of 200000"),
            (120_001, "context 60.1% of 200000 (above 60%)"), (120_400, "context 60.2% of 200000 (above 60%)"),
            (200_000, "context 100.0% of 200000 (above 60%)"),
        ];
        for (used, shown) in cases {
            assert_eq!(share(used, 200_000).as_deref(), Some(shown));
        }
        assert_eq!(share(1, 0), None);
    }
}
