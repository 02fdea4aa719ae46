//! Completions of bash, zsh and fish, from the tools' own arguments.
//!
//! Hidden options and commands are not in them. Values that only exist at run
//! time are asked for when somebody completes: see [`values`].

mod bash;
mod values;

use clap::Command;
use clap_complete::{Generator, Shell, generate};

use crate::files::Files;
use crate::tools;

/// Every completion file, by name.
pub(crate) fn all() -> Files {
    let mut files = Files::new();
    for command in tools::all() {
        let mut command = visible(&command);
        command.build();
        let name = command.get_name().to_owned();
        files.insert(format!("{name}.bash"), bash::script(&command).into_bytes());
        for shell in [Shell::Zsh, Shell::Fish] {
            let mut text = Vec::new();
            generate(shell, &mut command, &name, &mut text);
            let text = String::from_utf8_lossy(&text);
            let text = match shell {
                Shell::Zsh => values::in_zsh(&command, &text),
                _ => values::in_fish(&command, &text),
            };
            files.insert(shell.file_name(&name), text.into_bytes());
        }
    }
    files
}

/// `command` without what is hidden.
fn visible(command: &Command) -> Command {
    let arguments = command.get_arguments().filter(|arg| !arg.is_hide_set());
    let commands = command.get_subcommands().filter(|it| !it.is_hide_set());
    let mut shown = Command::new(command.get_name().to_owned())
        .args(arguments.map(|arg| {
            // Rules between arguments may name a hidden one.
            let mut shown = clap::Arg::new(arg.get_id().clone()).action(arg.get_action().clone());
            if let Some(long) = arg.get_long() {
                shown = shown.long(long.to_owned());
            }
            if let Some(short) = arg.get_short() {
                shown = shown.short(short);
            }
            if let Some(help) = arg.get_help() {
                shown = shown.help(help.clone());
            }
            if let Some(names) = arg.get_value_names() {
                shown = shown.value_names(names.to_vec());
            }
            if let Some(number) = arg.get_num_args() {
                shown = shown.num_args(number);
            }
            let possible = arg.get_possible_values();
            if !possible.is_empty() {
                shown = shown.value_parser(clap::builder::PossibleValuesParser::new(possible));
            }
            shown
                .last(arg.is_last_set())
                .value_hint(arg.get_value_hint())
        }))
        .subcommands(commands.map(visible));
    if let Some(about) = command.get_about() {
        shown = shown.about(about.clone());
    }
    if let Some(version) = command.get_version() {
        shown = shown.version(version.to_owned());
    }
    shown
}
