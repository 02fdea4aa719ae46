//! The choice among the JSON of an answer.

use cr_json::Rule;

use crate::Args;
use crate::answer::Answer;
use crate::schema::Schema;

/// The JSON that was chosen, and the rule that found it.
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

/// The JSON that each rule finds, in the order of the rules.
fn found(answer: &Answer, strict: bool) -> Vec<(Rule, Vec<&str>)> {
    let structured = answer.structured.as_deref().into_iter().collect();
    let mut found = vec![(Rule::Structured, structured)];
    let text = answer.text.as_deref();
    found.extend(
        text.into_iter()
            .flat_map(|text| cr_json::search(text, strict)),
    );
    found
}
