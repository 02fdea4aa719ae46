//! JSON inside an agent's text: one search for all tools.
//!
//! The result is a part of the text, as it was written: strict JSON, never
//! repaired, never a part of a broken value.

mod fence;
mod scan;
mod value;

use std::fmt;

pub use value::{compact, is_value};

/// The rule by which some JSON was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// It was given as such, beside the text.
    Structured,
    /// The text is nothing else.
    Whole,
    /// It is an object or an array in a fence tagged json.
    Tagged,
    /// It is one in a fence without a tag.
    Bare,
    /// It is one in the text outside fences.
    Scan,
    /// It is another value in a fence tagged json.
    Scalar,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Structured => "structured output",
            Self::Whole => "the whole text",
            Self::Tagged => "a fence tagged json",
            Self::Bare => "a fence without a tag",
            Self::Scan => "the text outside fences",
            Self::Scalar => "a value in a fence tagged json",
        })
    }
}

/// The JSON that each rule finds in `text`, in the order of the rules; the first
/// that finds any decides. With `strict`, only fences count.
pub fn search(text: &str, strict: bool) -> Vec<(Rule, Vec<&str>)> {
    let whole = text.trim_start_matches('\u{feff}').trim_ascii();
    if !strict && value::is_container(whole) && is_value(whole) {
        return vec![(Rule::Whole, vec![whole])];
    }
    let parts = fence::split(text);
    let mut found = vec![(Rule::Tagged, parts.tagged), (Rule::Bare, parts.bare)];
    if !strict {
        let prose = parts.prose.into_iter().flat_map(scan::containers);
        found.push((Rule::Scan, prose.collect()));
    }
    found.push((Rule::Scalar, parts.scalars));
    found
}

/// The JSON in `text`: the first that the first rule finds.
pub fn first(text: &str) -> Option<&str> {
    let mut found = search(text, false).into_iter();
    found.find_map(|(_, json)| json.first().copied())
}

/// The last JSON in `text` that is wanted, by any rule.
pub fn last_that<'a, T>(text: &'a str, wanted: impl FnMut(&'a str) -> Option<T>) -> Option<T> {
    let rules = search(text, false).into_iter();
    let mut found: Vec<&str> = rules.flat_map(|(_, json)| json).collect();
    found.sort_by_key(|json| std::cmp::Reverse(json.as_ptr().addr()));
    found.into_iter().find_map(wanted)
}
