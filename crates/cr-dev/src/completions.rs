//! Completions of bash, zsh and fish, from the tools' own arguments.

use clap_complete::{Generator, Shell, generate};

use crate::files::Files;
use crate::tools;

/// Every completion file, by name.
pub(crate) fn all() -> Files {
    let mut files = Files::new();
    for mut command in tools::all() {
        let name = command.get_name().to_owned();
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let mut text = Vec::new();
            generate(shell, &mut command, &name, &mut text);
            files.insert(shell.file_name(&name), text);
        }
    }
    files
}
