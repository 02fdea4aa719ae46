//! Which JSON of an answer is meant.

use std::fmt;

use crate::answer::Answer;
use crate::schema::Schema;
use crate::{Args, fence, json, scan};

/// Why some JSON is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    Structured,
    Whole,
    Tagged,
    Bare,
    Scan,
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

/// What was chosen, and why.
#[derive(Debug)]
pub(crate) struct Choice<'a> {
    pub(crate) rule: Rule,
    pub(crate) json: Vec<&'a str>,
}

/// Chooses from `answer`; an error is the first violation of the schema, if
/// there was any JSON at all.
pub(crate) fn choose<'a>(
    answer: &'a Answer,
    args: &Args,
    schema: Option<&Schema>,
) -> Result<Choice<'a>, Option<String>> {
    let mut violation = None;
    let mut satisfies = |json: &&str| {
        let checked = schema.map_or(Ok(()), |schema| schema.check(json));
        let is_ok = checked.is_ok();
        if let Err(found) = checked {
            violation.get_or_insert(found);
        }
        is_ok
    };
    for (rule, mut json) in found(answer, args.strict) {
        if args.last {
            json.reverse();
        }
        let good = json.into_iter().filter(&mut satisfies);
        let json: Vec<_> = if args.all {
            good.collect()
        } else {
            good.take(1).collect()
        };
        if !json.is_empty() {
            return Ok(Choice { rule, json });
        }
    }
    Err(violation)
}

/// What each rule finds, in the order in which they are asked.
fn found(answer: &Answer, strict: bool) -> Vec<(Rule, Vec<&str>)> {
    let structured = answer.structured.as_deref().into_iter().collect();
    let mut found = vec![(Rule::Structured, structured)];
    let Some(text) = answer.text.as_deref() else {
        return found;
    };
    let whole = text.trim_start_matches('\u{feff}').trim_ascii();
    if !strict && json::is_container(whole) && json::is_value(whole) {
        found.push((Rule::Whole, vec![whole]));
        return found;
    }
    let parts = fence::split(text);
    found.push((Rule::Tagged, parts.tagged));
    found.push((Rule::Bare, parts.bare));
    if !strict {
        let prose = parts.prose.into_iter().flat_map(scan::containers);
        found.push((Rule::Scan, prose.collect()));
    }
    found.push((Rule::Scalar, parts.scalars));
    found
}
