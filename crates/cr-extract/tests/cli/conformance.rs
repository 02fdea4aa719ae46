//! The answers that older programs find, and the right ones.

use crate::tool::{extracted, message, quoted, result, summarized};

/// A text, and the JSON in it.
type Case = (&'static str, Option<&'static str>);

/// Every case as a plain text, and as the result of a stream; the summary of
/// that stream has the same JSON.
fn check(cases: &[Case]) {
    for (text, wanted) in cases {
        let wanted = wanted.map(str::to_owned);
        assert_eq!(extracted(&["--from=text"], *text), wanted, "{text}");
        both(&result(text), wanted.as_deref());
    }
}

/// Checks that the tool and cr-summarize find `wanted` in `stream`.
fn both(stream: &str, wanted: Option<&str>) {
    let found = extracted(&[], stream);
    assert_eq!(found.as_deref(), wanted, "{stream}");
    let compact = extracted(&["--compact"], stream);
    // A summary has no other word for a null.
    let compact = compact.filter(|json| json != "null");
    assert_eq!(summarized(stream), compact, "cr-summarize: {stream}");
}

#[test]
fn the_cases_of_extract_json_with_fences() {
    check(&[
        (
            "Done.\n```json\n{\"status\":\"completed\",\"summary\":\"Task done\"}\n```\nBye.",
            Some(r#"{"status":"completed","summary":"Task done"}"#),
        ),
        (
            "```json\n{\"first\":true}\n```\nand\n```json\n{\"second\":true}\n```",
            Some(r#"{"first":true}"#),
        ),
        (
            "```json\n{\"data\":{\"nested\":{\"value\":42}}}\n```",
            Some(r#"{"data":{"nested":{"value":42}}}"#),
        ),
        (
            "```json\n[1, 2, 3, {\"item\":\"four\"}]\n```",
            Some(r#"[1, 2, 3, {"item":"four"}]"#),
        ),
        ("plain text, no fence", None),
        ("```json\n```", None),
        ("```json\n\n```", None),
        ("```json\n{invalid json here}\n```", None),
        (
            "```json\n{\n  \"multiline\": true,\n  \"n\": 1\n}\n```",
            Some("{\n  \"multiline\": true,\n  \"n\": 1\n}"),
        ),
        (
            "```typescript\nconst x = {\"fake\":1};\n```\n```json\n{\"realJson\":true}\n```",
            Some(r#"{"realJson":true}"#),
        ),
        (
            "```typescript\n{\"fake\":1}\n```\n```json {\"realJson\":true}\n```",
            Some(r#"{"realJson":true}"#),
        ),
    ]);
}

#[test]
fn the_last_of_two_blocks_is_an_option() {
    let text = "```json\n{\"first\":true}\n```\nand\n```json\n{\"second\":true}\n```";
    let second = Some(r#"{"second":true}"#.to_owned());
    assert_eq!(extracted(&["--last"], result(text)), second);
}

#[test]
fn the_requests_of_an_operator_are_kept() {
    for requests in [
        r#""operatorRequests":[{"priority":"critical"}]"#,
        r#""operatorRequests":[{"priority":"critical"},{"priority":"medium"},{"priority":"low"}]"#,
        r#""operatorRequests":[]"#,
        r#""summary":"absent""#,
    ] {
        let json = format!(r#"{{"status":"completed",{requests}}}"#);
        let text = format!("```json\n{json}\n```");
        both(&result(&text), Some(&json));
    }
}

#[test]
fn the_spellings_of_a_fence() {
    let a = Some(r#"{"a":1}"#);
    check(&[
        ("```json\r\n{\"a\":1}\r\n```\r\n", a),
        ("```json  \t\n{\"a\":1}\n```", a),
        ("```json\n\n\n{\"a\":1}\n\n```", a),
        ("  - so:\n\n    ```json\n    {\"a\":1}\n    ```", a),
        ("````json\n{\"a\":1}\n````", a),
        ("```json\n{\"a\":1}```", a),
        ("\u{feff}```json\n{\"a\":1}\n```", a),
        ("```json\n\u{feff}{\"a\":1}\n```", a),
        ("```json\n{bad}\n```\n```json\n{\"a\":1}\n```", a),
        ("```json {\"a\":1}```", a),
        ("```JSON\n{\"a\":1}\n```", a),
        ("```Json\n{\"a\":1}\n```", a),
        ("```\n{\"a\":1}\n```", a),
        ("``` json\n{\"a\":1}\n```", a),
        ("```json title=\"x\"\n{\"a\":1}\n```", a),
        ("~~~json\n{\"a\":1}\n~~~", a),
        ("```json\n{\"a\":1}", a),
        (
            "{\"status\":\"completed\"}",
            Some(r#"{"status":"completed"}"#),
        ),
        ("```jsonc\n{\"a\":1}\n```", None),
        ("```json5\n{\"a\":1}\n```", None),
        ("```json\n{\"a\":1,\"a\":2}\n```", Some(r#"{"a":1,"a":2}"#)),
        (
            "```json\n{\"code\":\"```sh\\nls\\n```\"}\n```",
            Some("{\"code\":\"```sh\\nls\\n```\"}"),
        ),
    ]);
}

#[test]
fn a_scalar_counts_only_in_a_tagged_fence_and_where_there_is_nothing_better() {
    check(&[
        ("```json\n42\n```", Some("42")),
        ("```json\nnull\n```", Some("null")),
        ("```json\n\"s\"\n```", Some("\"s\"")),
        (
            "```json\n42\n```\n```json\n{\"a\":1}\n```",
            Some(r#"{"a":1}"#),
        ),
        ("```json\n42\n```\nor {\"a\":1}", Some(r#"{"a":1}"#)),
        ("```\n42\n```", None),
        ("42", None),
        ("null", None),
    ]);
}

#[test]
fn what_is_not_strict_json_is_none() {
    check(&[
        ("```json\n{\"a\":1} // yes\n```", None),
        ("```json\n// yes\n{\"a\":1}\n```", None),
        ("```json\n{\"a\":{\"b\":1}, // yes\n\"c\":{}}\n```", None),
        ("```json\n{\"a\":1,}\n```", None),
        ("```json\n{\"a\":{\"b\":1},}\n```", None),
        ("```json\n{\"a\":NaN}\n```", None),
        ("{\"a\":{\"b\":1},}", None),
        ("so: {\"a\": 1, // yes\n \"b\": {\"c\": 2}}", None),
        ("```json\n{'a':1}\n```", None),
    ]);
}

#[test]
fn structured_output_comes_before_the_text() {
    for text in ["", "```json\n{\"b\":2}\n```"] {
        let line = format!(
            r#"{{"type":"result","subtype":"success","structured_output":{{"z": 1.50,"a":[1]}},"result":{}}}"#,
            quoted(text)
        );
        let wanted = Some(r#"{"z": 1.50,"a":[1]}"#.to_owned());
        both(&line, wanted.as_deref());
        assert_eq!(extracted(&["--text"], line.clone()), wanted);
        assert_eq!(extracted(&["--strict"], line), wanted);
    }
}

#[test]
fn the_cases_of_sprint_loop() {
    let completed = "```json\n{\"status\":\"completed\"}\n```";
    let json = Some(r#"{"status":"completed"}"#);
    both(&result(completed), json);
    for noise in [
        "Warning: no stdin data\n",
        "[warn] {x\n",
        "{\n",
        "\0\u{1}\n",
    ] {
        let around = format!("{noise}{}{noise}", result(completed));
        both(&around, json);
    }
    let two = format!("{completed}\n```json\n{{\"status\":\"failed\"}}\n```");
    both(&result(&two), json);
    let nested = r#"{"status":"needs-human","humanNeeded":{"reason":"which?"}}"#;
    let flat = r#"{"status":"failed","summary":"no"}"#;
    for raw in [nested, flat] {
        let text = format!("I am stuck. {raw}");
        both(&result(&text), Some(raw));
    }
    let last = result("{\"turn\":1}") + &result("{\"turn\":2}");
    both(&last, Some(r#"{"turn":2}"#));
    // A result without words stands for those before it.
    let said = message("m", "So: {\"a\":1}") + &result("");
    both(&said, Some(r#"{"a":1}"#));
}

#[test]
fn the_cases_of_obra() {
    let simple = Some(r#"{"key": "value", "number": 42}"#);
    check(&[
        (r#"{"key": "value", "number": 42}"#, simple),
        (
            "Sure, here is the JSON:\n{\"key\": \"value\", \"number\": 42}",
            simple,
        ),
        (
            "{\"key\": \"value\", \"number\": 42}\nI hope this helps!",
            simple,
        ),
        (
            "Sure:\n{\"key\": \"value\", \"number\": 42}\nI hope this helps!",
            simple,
        ),
        ("```json\n{\"key\": \"value\", \"number\": 42}\n```", simple),
        ("```\n{\"key\": \"value\", \"number\": 42}\n```", simple),
        (
            r#"{"outer":{"inner":"value"}}"#,
            Some(r#"{"outer":{"inner":"value"}}"#),
        ),
        ("[1, 2, 3]", Some("[1, 2, 3]")),
        (r#"{"items":[1,2,[3]]}"#, Some(r#"{"items":[1,2,[3]]}"#)),
        (
            "\n  \t{\"a\":1,\"b\":[{\"c\":2}],\"d\":{\"e\":{}},\"f\":null,\"g\":\"\"}",
            Some("{\"a\":1,\"b\":[{\"c\":2}],\"d\":{\"e\":{}},\"f\":null,\"g\":\"\"}"),
        ),
        (
            r#"{"message":"He said \"hello\""}"#,
            Some(r#"{"message":"He said \"hello\""}"#),
        ),
        (
            r#"{"i":1,"f":-2.50,"e":1E+9}"#,
            Some(r#"{"i":1,"f":-2.50,"e":1E+9}"#),
        ),
        (r#"{"t":true,"f":false}"#, Some(r#"{"t":true,"f":false}"#)),
        (r#"{"n":null}"#, Some(r#"{"n":null}"#)),
        (
            r#"{"s":"Line 1\nLine 2"}"#,
            Some(r#"{"s":"Line 1\nLine 2"}"#),
        ),
        ("This is not JSON at all", None),
        ("", None),
        ("   \n\t  ", None),
        ("The result is: {\"is_valid\": true, but I think...", None),
        (r#"x {"a":{"b":{"c":1}}} y"#, Some(r#"{"a":{"b":{"c":1}}}"#)),
        (r#"fn main() { } then {"a":1}"#, Some(r#"{"a":1}"#)),
        ("```json\n[1,2]\n```", Some("[1,2]")),
        (r#"{} {"a":1}"#, Some("{}")),
    ]);
}
