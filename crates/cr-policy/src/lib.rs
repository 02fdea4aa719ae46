//! A policy: which permission questions of the agent are answered without a
//! person; cr-policy(5) is its contract.
//!
//! - **The first rule that matches decides**, for each command of a list by
//!   itself. A list is allowed only if every command of it is.
//! - **What is not understood is never allowed by its words.** A rule that allows
//!   needs a call that can be read in one way only ([`simple_commands`]).
//! - **What is denied is looked for everywhere.** Where such a rule could match
//!   and that cannot be seen, no later rule allows the call: it is asked.
//!
//! Deciding reads the file system and changes nothing.

mod call;
mod file;
mod input;
mod path;
mod program;
mod rule;
mod scan;
mod shell;
mod tool;

use std::path::Path;

use anyhow::{Context, anyhow};
use cr_io::{Exit, sanitized};

use call::{Call, Part};
use rule::{Match, Rule};

pub use rule::Action;
pub use shell::{Word, simple_commands};

/// A permission question of the agent.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The name of the tool.
    pub tool: &'a str,
    /// The tool's input: a JSON object as the agent wrote it.
    pub input: &'a [u8],
    /// The directory of the agent.
    pub cwd: &'a Path,
    /// The path for which the agent asks, if it names one.
    pub blocked_path: Option<&'a str>,
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// What happens.
    pub action: Action,
    /// The rule that decided, counting from 1 as in the file; `None` for the
    /// default.
    pub rule: Option<usize>,
    /// The rule's reason.
    pub reason: Option<String>,
}

/// Rules in order, and what happens if none matches.
#[derive(Clone, Debug)]
pub struct Policy {
    rules: Vec<Rule>,
    default: Action,
}

impl Policy {
    /// Reads the text of a policy. An error begins with its line.
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        let (default, rules) = file::parse(text).map_err(|err| {
            anyhow!("line {}: {}", err.line, sanitized(&err.why)).context(Exit::Config)
        })?;
        Ok(Self { rules, default })
    }

    /// Reads the policy in the file `path`, which nobody else may write.
    pub fn load(path: &Path) -> anyhow::Result<Self> {
        let text = cr_config::read_own(path).context(Exit::Config)?;
        let (default, rules) = file::parse(&text).map_err(|err| {
            let place = format!("{}:{}", path.display(), err.line);
            anyhow!("{}: {}", sanitized(&place), sanitized(&err.why)).context(Exit::Config)
        })?;
        Ok(Self { rules, default })
    }

    /// Decides about a call. The strictest answer to one of its commands is the
    /// answer to the call.
    pub fn decide(&self, question: &Question) -> Decision {
        let call = Call::new(question);
        let parts = call.parts();
        let decisions = parts.iter().map(|part| self.decide_part(&call, part));
        let strictest = decisions.reduce(|one, other| {
            if strictness(other.action) > strictness(one.action) {
                other
            } else {
                one
            }
        });
        strictest.unwrap_or_else(|| decision(Action::Ask, None, None))
    }

    fn decide_part(&self, call: &Call, part: &Part) -> Decision {
        // The first rule that perhaps matches: after it, nothing is allowed.
        let mut doubt = None;
        for (number, rule) in (1..).zip(&self.rules) {
            match (rule.matches(call, part), rule.action) {
                (Match::No, _) => {}
                (Match::Maybe, _) => doubt = doubt.or(Some(number)),
                (Match::Yes, Action::Allow) if doubt.is_some() => {
                    return decision(Action::Ask, doubt, None);
                }
                (Match::Yes, action) => {
                    return decision(action, Some(number), rule.reason.clone());
                }
            }
        }
        let is_asked = doubt.is_some() || !rule::can_allow(call);
        match self.default {
            Action::Allow if is_asked => decision(Action::Ask, doubt, None),
            action => decision(action, None, None),
        }
    }
}

fn decision(action: Action, rule: Option<usize>, reason: Option<String>) -> Decision {
    Decision {
        action,
        rule,
        reason,
    }
}

fn strictness(action: Action) -> u8 {
    match action {
        Action::Allow => 0,
        Action::Ask => 1,
        Action::Deny => 2,
    }
}
