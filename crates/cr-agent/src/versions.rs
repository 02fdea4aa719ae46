//! Options that not every version of the CLI has.
//!
//! They were found by running the CLI that lacks an option and the next one; that
//! of `--permission-prompts` by the text of both programs.

use std::ffi::{OsStr, OsString};

use anyhow::anyhow;
use cr_io::Exit;

use crate::program::Version;

/// An option of the CLI that came with a version.
struct NewOption {
    /// The option, and the value of it that is new.
    flag: &'static str,
    value: Option<&'static str>,
    /// Our own option that needs it.
    ours: &'static str,
    /// The first version that has it.
    since: &'static str,
}

const fn new(flag: &'static str, ours: &'static str, since: &'static str) -> NewOption {
    NewOption {
        flag,
        value: None,
        ours,
        since,
    }
}

/// From this version on the CLI reads the system prompt from a file.
pub(crate) const SYSTEM_PROMPT_FILE: &str = "2.0.33";

/// From this version on it repeats the system prompt of a session that is resumed,
/// unless it is told not to.
pub(crate) const SYSTEM_PROMPT_SNAPSHOT: &str = "2.1.257";

/// Every such option. The manual page of cr-spawn lists those of our own.
const NEW_OPTIONS: [NewOption; 9] = [
    new("--max-budget-usd", "--max-budget", "2.0.30"),
    new("--append-system-prompt-file", "", SYSTEM_PROMPT_FILE),
    NewOption {
        value: Some("dontAsk"),
        ..new("--permission-mode", "--permission-mode dontAsk", "2.0.44")
    },
    new("--json-schema", "--json-schema", "2.0.45"),
    new(
        "--no-session-persistence",
        "--no-session-persistence",
        "2.0.64",
    ),
    new("--forward-subagent-text", "", "2.1.211"),
    new("--restricted", "", "2.1.248"),
    new("--permission-prompts", "", "2.1.259"),
    new("--system-prompt-snapshot", "", SYSTEM_PROMPT_SNAPSHOT),
];

/// Refuses an option that the CLI does not have: `own` are those that we pass,
/// `rest` those of the user. A stand-in takes any.
pub(crate) fn refuse_missing(
    own: &[OsString],
    rest: &[OsString],
    version: &Version,
) -> anyhow::Result<()> {
    let is_missing = |new: &&NewOption| version.is_claude && version.is_before(new.since);
    for new in NEW_OPTIONS.iter().filter(is_missing) {
        let name = if new.is_in(own) && !new.ours.is_empty() {
            new.ours
        } else if new.is_in(rest) {
            new.flag
        } else {
            continue;
        };
        let have = version.number.as_deref().unwrap_or_default();
        let text = format!("{name} needs claude {}, this is {have}", new.since);
        return Err(anyhow!(text).context(Exit::Usage));
    }
    Ok(())
}

impl NewOption {
    /// Whether `argv` has it, as `--flag=value` or as two words.
    fn is_in(&self, argv: &[OsString]) -> bool {
        argv.iter().enumerate().any(|(at, arg)| {
            let text = arg.to_string_lossy();
            let (flag, value) = match text.split_once('=') {
                Some((flag, value)) => (flag, Some(value.to_owned())),
                None => (&*text, argv.get(at + 1).map(|next| word(next))),
            };
            flag == self.flag && (self.value.is_none() || self.value == value.as_deref())
        })
    }
}

fn word(arg: &OsStr) -> String {
    arg.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manual_names_every_option_of_ours_with_its_version() {
        let help = crate::options::LONG_HELP;
        for new in NEW_OPTIONS.iter().filter(|new| !new.ours.is_empty()) {
            let is_row = |line: &str| line.contains(new.ours) && line.ends_with(new.since);
            assert!(help.lines().any(is_row), "{}: {help}", new.ours);
        }
        assert!(help.contains(SYSTEM_PROMPT_FILE));
    }
}
