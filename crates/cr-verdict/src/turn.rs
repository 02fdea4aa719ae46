//! The verdict on one turn of a session, by its result line alone.

use cr_event::TurnEnd;
use jiff::Timestamp;

use crate::{Evidence, ResultFacts, Verdict, judge};

/// Says how the turn ended that `end` reports; without a result it is
/// incomplete. The result line does not tell which call was the last, so a call
/// that was denied at the end is not seen.
pub fn judge_turn(end: Option<&TurnEnd<'_>>, now: Timestamp) -> Verdict {
    let mut evidence = Evidence {
        now: Some(now),
        ..Evidence::default()
    };
    let Some(end) = end else {
        return judge(&evidence);
    };
    let (subtype, reason) = (end.subtype(), end.string("terminal_reason"));
    let api_error = end.api_error().map(cr_event::Text::decode);
    let text = end.text().map(cr_event::Text::decode);
    let text = text.or_else(|| end.errors().into_iter().next());
    evidence.result = Some(ResultFacts {
        is_error: end.is_error(),
        subtype: &subtype,
        terminal_reason: reason.as_deref(),
        api_error_status: end.api_error_status(),
        api_error: api_error.as_deref(),
        text: text.as_deref().unwrap_or_default(),
    });
    judge(&evidence)
}

#[cfg(test)]
mod tests {
    use cr_event::Raw;

    use super::*;

    #[test]
    fn a_turn_gets_the_verdict_of_a_run_with_the_same_result() {
        #[rustfmt::skip]
        let cases = [
            (r#"{"type":"result","subtype":"success","is_error":false,"result":"done"}"#, 0),
            (r#"{"subtype":"error_max_turns","is_error":true}"#, 3),
            (r#"{"subtype":"error_max_budget_usd","is_error":true}"#, 3),
            (r#"{"subtype":"success","is_error":true,"api_error_status":529,"result":"overloaded"}"#, 75),
            (r#"{"subtype":"success","is_error":true,"result":"Prompt is too long"}"#, 76),
            (r#"{"subtype":"success","is_error":true,"api_error_status":401,"result":"no"}"#, 77),
            (r#"{"subtype":"error_during_execution","is_error":true,"errors":["boom"]}"#, 1),
            (r#"{"subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_tools"}"#, 130),
        ];
        for (line, code) in cases {
            let end = TurnEnd::new(Raw::of(line.as_bytes()).expect("an object"));
            assert_eq!(
                judge_turn(Some(&end), Timestamp::now()).code,
                code,
                "{line}"
            );
        }
        assert_eq!(judge_turn(None, Timestamp::now()).code, 6);
    }
}
