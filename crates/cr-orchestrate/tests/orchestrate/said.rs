//! The status that an agent reports, in every form.

use crate::case::Case;

/// Runs a sprint of one step whose agent ends with `answer`, which stands in
/// JSON and in single quotes.
fn sprint(answer: &str) -> (Case, Option<i32>) {
    let case = Case::new();
    case.plan(&[("a", "retries: 0")]);
    let result = format!(r#"result '"subtype":"success","is_error":false,"result":"{answer}"' 0"#);
    case.script("a", 1, &result);
    let code = case.go(&["--sprint"]).code;
    (case, code)
}

#[test]
fn a_status_counts_whatever_stands_beside_it() {
    // (an answer, the code of the run)
    let cases = [
        (r#"{\"status\":\"failed\",\"summary\":null}"#, 1),
        (r#"{\"status\":\"failed\",\"summary\":[\"no key\"]}"#, 1),
        (r#"{\"status\":\"failed\",\"humanNeeded\":false}"#, 1),
        (r#"{\"status\":\" Needs_Human \"}"#, 4),
        (
            r#"{\"status\":\"needs-human\",\"humanNeeded\":{\"reason\":null}}"#,
            4,
        ),
        (r#"{\"status\":\"Completed\",\"summary\":{\"files\":3}}"#, 0),
    ];
    for (answer, code) in cases {
        assert_eq!(sprint(answer).1, Some(code), "{answer}");
    }
}

#[test]
fn the_status_that_ends_the_answer_counts_wherever_it_stands() {
    let work = r#"```json\n{\"status\":\"ok\"}\n```\n"#;
    let last = r#"{\"status\":\"failed\"}"#;
    assert_eq!(sprint(&format!("{work}It is not.\\n{last}")).1, Some(1));
    assert_eq!(sprint(&format!("{last}\\nSo I made:\\n{work}")).1, Some(0));
}

#[test]
fn a_question_is_shown_in_every_form() {
    for (asked, shown) in [
        (r#"\"which port?\""#, "it asks: which port?"),
        (
            r#"{\"reason\":\"which port?\",\"details\":[80,81]}"#,
            r"\[80,81\]",
        ),
        ("true", "it asks: stuck"),
    ] {
        let answer = format!(
            r#"{{\"status\":\"needs-human\",\"summary\":\"stuck\",\"humanNeeded\":{asked}}}"#
        );
        let (case, code) = sprint(&answer);
        assert_eq!(code, Some(4), "{asked}");
        let report = case.of_run("report.md");
        assert!(report.contains(shown), "{asked}: {report}");
    }
}
