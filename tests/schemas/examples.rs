//! The schemas themselves.

use cr_verdict::{ACTIONS, Category, Outcome};
use serde_json::Value;

use crate::checker::Checker;

const ALL: [(&str, &str); 8] = [
    ("cr-summarize", "--output-schema"),
    ("cr-filter", "--output-schema"),
    ("cr-extract", "--output-schema"),
    ("cr-runs", "--output-schema"),
    ("cr-turns", "--output-schema"),
    ("cr-ledger", "report --output-schema"),
    ("cr-orchestrate", "--output-schema"),
    ("cr-orchestrate", "--task-schema"),
];

/// Calls `check` with each schema of an object in `schema`, and its place.
fn each_object(schema: &Value, place: &str, check: &mut impl FnMut(&Value, &str)) {
    if schema["type"] == "object" {
        check(schema, place);
    }
    let parts = schema.as_object().into_iter().flatten();
    for (key, part) in parts.filter(|(key, _)| *key != "allOf") {
        each_object(part, &format!("{place}/{key}"), check);
        for item in part.as_array().into_iter().flatten() {
            each_object(item, &format!("{place}/{key}"), check);
        }
    }
}

#[test]
fn unknown_properties_are_forbidden_and_the_values_of_maps_have_a_schema() {
    for (tool, flag) in ALL {
        let checker = Checker::of(tool, flag);
        each_object(&checker.schema, tool, &mut |schema, place| {
            let more = &schema["additionalProperties"];
            let is_closed = schema["properties"].is_object() && *more == false;
            let is_map = schema["properties"].is_null() && more.is_object();
            assert!(is_closed || is_map, "{place}");
        });
    }
}

#[test]
fn every_field_has_a_description_and_every_example_is_right() {
    for (tool, flag) in ALL {
        let checker = Checker::of(tool, flag);
        let mut count = 0;
        each_object(&checker.schema, tool, &mut |schema, place| {
            for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                let text = property["description"].as_str().unwrap_or_default();
                assert!(text.ends_with(['.', ';', '`']), "{place}/{name}: {text}");
                for example in property["examples"].as_array().into_iter().flatten() {
                    assert!(checker.fits(property, example), "{place}/{name}: {example}");
                    count += 1;
                }
            }
        });
        assert!(count >= 2, "{tool} {flag}");
    }
}

/// The values that a property may have.
fn values(property: &Value) -> Vec<&str> {
    let values = property["enum"].as_array().into_iter().flatten();
    values.filter_map(Value::as_str).collect()
}

#[test]
fn the_words_of_a_verdict_are_those_that_the_schema_lists() {
    let checker = Checker::of("cr-summarize", "--output-schema");
    let fields = &checker.schema["$defs"]["Summary"]["properties"];
    let outcomes = Outcome::ALL.map(Outcome::as_str);
    let mut listed = values(&fields["outcome"]);
    listed.sort_unstable();
    let mut known = outcomes.to_vec();
    known.sort_unstable();
    assert_eq!(listed, known);
    let categories = Category::ALL.map(Category::as_str);
    assert_eq!(values(&fields["category"]), categories);
    let action = &checker.schema["$defs"]["Retry"]["properties"]["action"];
    assert_eq!(values(action), ACTIONS);
}
