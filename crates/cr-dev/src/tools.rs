//! The tools. A new one is one line here.

use clap::{Command, CommandFactory};

/// The arguments of every tool that is shipped, in the order of the manual.
pub(crate) fn all() -> Vec<Command> {
    vec![
        // The script, whose command line cr-runs reads.
        cr_runs::Runner::command(),
        cr_agent::AgentOptions::command(),
        cr_git::Args::command(),
        cr_filter::Args::command(),
        cr_summarize::Args::command(),
        cr_extract::Args::command(),
        cr_runs::Args::command(),
        cr_send::Args::command(),
        cr_serve::Args::command(),
        cr_ledger::Args::command(),
        cr_turns::Args::command(),
        cr_orchestrate::Args::command(),
        // A script, which hands its command line on.
        cr_orchestrate::sprint_loop(),
        cr_replay::Args::command(),
    ]
}

#[cfg(test)]
mod tests {
    use clap::error::ErrorKind;
    use clap::{Arg, Command};

    use super::*;

    /// How the help calls a number, a size or a time.
    const NUMBERS: [&str; 12] = [
        "N",
        "USD",
        "TIME",
        "TIMES",
        "DURATION",
        "BYTES",
        "TOKENS",
        "CHARACTERS",
        "PID",
        "FD",
        "WATCH_PID",
        "MAX_WAIT",
    ];

    fn with_subcommands(command: &Command) -> Vec<Command> {
        let below = command.get_subcommands().flat_map(with_subcommands);
        std::iter::once(command.clone()).chain(below).collect()
    }

    fn value_name(arg: &Arg) -> Option<&str> {
        let takes_value = arg.get_action().takes_values() && arg.get_long().is_some();
        let names = arg.get_value_names().filter(|_| takes_value)?;
        names.first().map(AsRef::as_ref)
    }

    #[test]
    fn a_number_outside_its_range_is_a_usage_error_of_every_tool() {
        let wrong = ["nan", "inf", "-inf", "-1", "1e400", "", "x", "1.5.5"];
        let mut count = 0;
        for command in all().iter().flat_map(with_subcommands) {
            for arg in command.get_arguments() {
                let Some(name) = value_name(arg).filter(|name| NUMBERS.contains(name)) else {
                    continue;
                };
                count += 1;
                for value in wrong {
                    let option = format!("--{}={value}", arg.get_long().unwrap_or_default());
                    let parsed = command.clone().try_get_matches_from(["x", &option]);
                    let kind = parsed.map_or_else(|err| err.kind(), |_| ErrorKind::DisplayHelp);
                    let is_refused =
                        matches!(kind, ErrorKind::ValueValidation | ErrorKind::InvalidValue);
                    assert!(
                        is_refused,
                        "{} {option} ({name}): {kind:?}",
                        command.get_name()
                    );
                }
            }
        }
        assert!(count > 40, "{count}");
    }
}
