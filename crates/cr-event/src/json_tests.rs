//! The cursor, by itself.

use super::*;

fn text(json: &str) -> Text<'_> {
    Raw::new(json.as_bytes()).text().expect("a string")
}

#[test]
fn strings_decode_and_what_is_no_character_is_replaced() {
    #[rustfmt::skip]
    let cases = [
        (r#""plain""#, "plain"),
        (r#""a\n\t\"\\\/b""#, "a\n\t\"\\/b"),
        (r#""\u00e9\u0041""#, "éA"),
        (r#""\ud83d\ude80!""#, "🚀!"),
        (r#""x\ud83d""#, "x\u{fffd}"),
        (r#""\ud83dx""#, "\u{fffd}x"),
        (r#""\ude80\ud83d\ude80""#, "\u{fffd}🚀"),
        (r#""\q""#, "\u{fffd}q"),
        (r#""\u+041""#, "\u{fffd}+041"),
        (r#""\u12""#, "\u{fffd}12"),
        ("\"\u{2028}\"", "\u{2028}"),
    ];
    for (json, decoded) in cases {
        assert_eq!(text(json).decode(), decoded, "{json}");
    }
}

#[test]
fn a_prefix_ends_at_the_end_of_a_character() {
    for length in 0..20 {
        let plain = text("\"aéb🚀c日本\"").prefix(length);
        assert!("aéb🚀c日本".starts_with(&*plain), "{length}: {plain}");
        let escaped = text("\"\\naéb🚀c日本\"").prefix(length);
        assert!("\naéb🚀c日本".starts_with(&*escaped), "{length}: {escaped}");
        assert!(plain.len() + 3 >= length.min(18), "{length}: {plain}");
    }
}

#[test]
fn numbers_are_whole_or_absent_and_saturate() {
    #[rustfmt::skip]
    let cases = [
        ("5", Some(5)), ("5.0", Some(5)), ("1e3", Some(1000)), ("5.5", None), ("-1", None),
        ("1e400", None), ("1e30", Some(u64::MAX)), ("18446744073709551616", Some(u64::MAX)),
        ("\"5\"", None), ("null", None), ("NaN", None), ("inf", None),
    ];
    for (json, number) in cases {
        assert_eq!(Raw::new(json.as_bytes()).u64(), number, "{json}");
    }
}

#[test]
fn a_path_leads_through_objects_whatever_their_order() {
    let raw = Raw::new(br#"{"b":{"x":[1,{"y":2}],"c":"found"},"\u0061":1}"#);
    assert_eq!(
        raw.at(&["b", "c"]).and_then(Raw::text),
        Some(text("\"found\""))
    );
    assert_eq!(raw.get("a").and_then(Raw::u64), Some(1));
    assert_eq!(raw.at(&["b", "x", "y"]), None);
}

#[test]
fn broken_structure_is_an_error_with_its_column() {
    #[rustfmt::skip]
    let cases = [
        ("{", 2), ("{\"a\"}", 5), ("{\"a\":}", 6), ("{\"a\":1 \"b\":2}", 8), ("{\"a\":tru}", 6),
        ("{\"a\":01}", 6), ("{\"a\":\"", 6), ("{\"a\":[1,2}", 11), ("{,}", 2), ("{} {}", 4),
    ];
    for (json, column) in cases {
        let mut cursor = Cursor::new(json.as_bytes());
        let walked = cursor
            .object(|cursor, _| cursor.skip())
            .and_then(|_| cursor.end());
        assert_eq!(walked.map_err(|e| e.column), Err(column), "{json}");
    }
}

#[test]
fn depth_costs_no_stack_where_it_is_skipped() {
    let deep = format!(
        "{{\"a\":{}1{},\"b\":2}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert_eq!(
        Raw::new(deep.as_bytes()).get("b").and_then(Raw::u64),
        Some(2)
    );
}
