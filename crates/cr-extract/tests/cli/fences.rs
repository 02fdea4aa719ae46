//! Fences, running text, and which of several is taken.

use crate::tool::{extracted, result, run, said};

#[test]
fn a_fence_of_another_language_hides_what_it_holds() {
    let none = None;
    let b = Some("{\"b\":2}");
    let cases = [
        ("```bash\necho '{\"a\":1}'\n```", none),
        ("```bash\n{\"a\":1}\n```\nso {\"b\":2}", b),
        ("```js\n{\"a\":1}", none),
        ("```ts\n```json\n{\"x\":1}\n```\n```json\n{\"b\":2}\n```", b),
        ("````markdown\n```json\n{\"a\":1}\n```\n````\n{\"b\":2}", b),
        ("~~~sh\n```json\n{\"a\":1}\n```\n~~~", none),
        ("Run this: ```bash\n{\"a\":1}\n```\n{\"b\":2}", b),
        ("```{.python .numberLines}\n{\"a\":1}\n```", none),
        ("```jsonl\n{\"a\":1}\n```", none),
    ];
    for (text, wanted) in cases {
        assert_eq!(
            extracted(&["--from=text"], text).as_deref(),
            wanted,
            "{text}"
        );
    }
}

#[test]
fn what_agents_do_beside_the_rules_is_understood() {
    let a = Some("{\"a\":1}");
    let cases = [
        (
            "Here you are: ```json\n{\"a\":1}\n```\nand\n```json\n{\"b\":2}\n```",
            a,
        ),
        ("so ```json {\"a\":1}``` it is", a),
        ("so `{\"a\":1}` it is", a),
        ("> ```json\n> {\"a\":1}\n> ```", a),
        ("```json\n{\"a\":1}\n```json\n{\"b\":2}\n```", a),
        ("```json {.numberLines}\n{\"a\":1}\n```", a),
        ("```\nThe answer: {\"a\":1}\n```", a),
        ("```json\n{\"a\":1}\nI hope this helps!", a),
        ("~~~~json\n{\"a\":1}\n~~~~~", a),
        ("{{\"a\":1}}", a),
        ("[see {\"a\":1}]", a),
        ("in [0, 1) is {\"a\":1}", a),
        ("- [ ] one\n- [x] two [1]\n{\"a\":1}", a),
        ("none found: []", Some("[]")),
        ("as [1] says", None),
        ("- [ ] one", None),
        ("{\"items\":[{\"a\":1},{\"a\":2},", None),
        ("```json\n{\"items\":[{\"a\":1},{\"a\":", None),
        ("{\"broken\": [1,], \"x\": {\"y\":1}} then {\"a\":1}", a),
    ];
    for (text, wanted) in cases {
        assert_eq!(
            extracted(&["--from=text"], text).as_deref(),
            wanted,
            "{text}"
        );
    }
}

#[test]
fn first_last_and_all_choose_among_what_the_deciding_rule_finds() {
    let text = "{\"s\":0}\n```\n{\"bare\":1}\n```\n```json\n{\"a\":\n 1}\n```\n```json\n[2]\n```\n```json\n3\n```";
    let cases: [(&[&str], &str); 5] = [
        (&[], "{\"a\":\n 1}"),
        (&["--first"], "{\"a\":\n 1}"),
        (&["--first", "--compact"], "{\"a\":1}"),
        (&["--last"], "[2]"),
        (&["--all"], "{\"a\":1}\n[2]"),
    ];
    for (args, wanted) in cases {
        assert_eq!(extracted(args, result(text)).as_deref(), Some(wanted));
    }
    let unclosed = "```json\n{\"a\":1}\n```json\n{\"b\":2}\n```";
    let both = Some("{\"a\":1}\n{\"b\":2}");
    assert_eq!(extracted(&["--all"], result(unclosed)).as_deref(), both);
    let scanned = "{\"a\": 1} and {\"b\":\n2}";
    assert_eq!(
        extracted(&["--all"], result(scanned)).as_deref(),
        Some("{\"a\":1}\n{\"b\":2}")
    );
    assert_eq!(
        extracted(&["--last"], result(scanned)).as_deref(),
        Some("{\"b\":\n2}")
    );
}

#[test]
fn strict_takes_fences_only() {
    for text in ["{\"a\":1}", "so {\"a\":1}", "```\nso {\"a\":1}\n```"] {
        assert_eq!(extracted(&["--strict"], result(text)), None, "{text}");
    }
    for text in ["```json\n{\"a\":1}\n```", "```\n{\"a\":1}\n```"] {
        assert_eq!(
            extracted(&["--strict"], result(text)).as_deref(),
            Some("{\"a\":1}")
        );
    }
}

#[test]
fn verbose_says_where_it_was_and_which_rule_decided() {
    let cases = [
        ("{\"a\":1}", "the whole text"),
        ("```json\n{\"a\":1}\n```", "a fence tagged json"),
        ("```\n{\"a\":1}\n```", "a fence without a tag"),
        ("so {\"a\":1}", "the text outside fences"),
        ("```json\n1\n```", "a value in a fence tagged json"),
    ];
    for (text, rule) in cases {
        let output = run(&["-v"], result(text));
        assert_eq!(
            said(&output),
            format!("cr-extract: the last result, {rule}\n")
        );
    }
}

#[test]
fn json_is_printed_as_it_was_written() {
    let json = "{\"z\":1.0,\"a\" : 1E+2,\r\n\t\"big\":123456789012345678901234567890, \"e\":\"\\u00e9é\\ud800\",\"z\":0.10}";
    let text = format!("```json\n{json}\n```");
    assert_eq!(extracted(&[], result(&text)).as_deref(), Some(json));
    let compact = "{\"z\":1.0,\"a\":1E+2,\"big\":123456789012345678901234567890,\"e\":\"\\u00e9é\\ud800\",\"z\":0.10}";
    assert_eq!(
        extracted(&["--compact"], result(&text)).as_deref(),
        Some(compact)
    );
}
