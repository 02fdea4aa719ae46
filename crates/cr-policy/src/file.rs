//! The file of a policy.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};
use toml::Spanned;

use cr_config::line_of;

use crate::path::PathGlob;
use crate::rule::{Action, CommandWords, Rule, When};
use crate::tool::{PathTool, SHELL, ToolName};

/// Why a file is refused, and the line.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) line: usize,
    pub(crate) why: String,
}

/// The default and the rules of a file.
pub(crate) fn parse(text: &str) -> Result<(Action, Vec<Rule>), Refused> {
    let refused = |at: usize, why: String| Refused {
        line: line_of(text, at),
        why,
    };
    let file: File = toml::from_str(text).map_err(|err| {
        let at = err.span().map_or(0, |span| span.start);
        refused(at, err.message().replace('\n', " "))
    })?;
    let rules: Result<Vec<Rule>, Wrong> = file.rule.into_iter().map(rule).collect();
    let rules = rules.map_err(|(at, why)| refused(at, why))?;
    Ok((file.default.unwrap_or(Action::Ask), rules))
}

/// Where a value is wrong, and why.
type Wrong = (usize, String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    default: Option<Action>,
    #[serde(default)]
    rule: Vec<Spanned<RuleText>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleText {
    tool: Spanned<Texts>,
    command: Option<Spanned<Texts>>,
    path: Option<Spanned<Texts>>,
    action: Action,
    reason: Option<String>,
}

fn rule(text: Spanned<RuleText>) -> Result<Rule, Wrong> {
    let at = text.span().start;
    let text = text.into_inner();
    let tool_at = text.tool.span().start;
    let tools = each(text.tool, ToolName::new)?;
    let action = text.action;
    let when = match (text.command, text.path) {
        (None, None) => When::Always,
        (Some(commands), None) => {
            only_for(&tools, "command", |tool| tool == SHELL).map_err(|why| (tool_at, why))?;
            When::Command(each(commands, |text| CommandWords::new(text, action))?)
        }
        (None, Some(paths)) => {
            let has_path = |tool: &str| PathTool::named(tool).is_some();
            only_for(&tools, "path", has_path).map_err(|why| (tool_at, why))?;
            When::Path(each(paths, PathGlob::new)?)
        }
        (Some(_), Some(_)) => {
            return Err((at, "a rule has `command` or `path`, not both".to_owned()));
        }
    };
    let reason = text.reason;
    Ok(Rule {
        tools,
        when,
        action,
        reason,
    })
}

/// Refuses a tool for which `key` means nothing.
fn only_for(tools: &[ToolName], key: &str, has: impl Fn(&str) -> bool) -> Result<(), String> {
    let mut exact = tools.iter().filter_map(ToolName::exact);
    match exact.find(|tool| !has(tool)) {
        Some(tool) => Err(format!("`{key}` is not known for the tool `{tool}`")),
        None => Ok(()),
    }
}

fn each<T>(texts: Spanned<Texts>, of: impl Fn(&str) -> Result<T, String>) -> Result<Vec<T>, Wrong> {
    let at = texts.span().start;
    let texts = texts.into_inner().0;
    if texts.is_empty() {
        return Err((at, "expected at least one".to_owned()));
    }
    let one =
        |(own, text): (Option<usize>, String)| of(&text).map_err(|why| (own.unwrap_or(at), why));
    texts.into_iter().map(one).collect()
}

/// A string, or an array of strings and where each is.
struct Texts(Vec<(Option<usize>, String)>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextsVisitor)
    }
}

struct TextsVisitor;

impl<'de> Visitor<'de> for TextsVisitor {
    type Value = Texts;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or an array of strings")
    }

    fn visit_str<E>(self, text: &str) -> Result<Texts, E> {
        Ok(Texts(vec![(None, text.to_owned())]))
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut seq: S) -> Result<Texts, S::Error> {
        let mut texts = Vec::new();
        while let Some(text) = seq.next_element::<Spanned<String>>()? {
            texts.push((Some(text.span().start), text.into_inner()));
        }
        Ok(Texts(texts))
    }
}
