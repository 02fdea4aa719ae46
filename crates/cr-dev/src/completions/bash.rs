//! Completions for bash.
//!
//! Written here, because those of `clap_complete` mistake the commands of a tool
//! with a hyphen in its name, and offer `[RUN]` as a word.

use clap::builder::PossibleValue;
use clap::{Arg, Command};

use super::values::{Values, kinds};

/// Offers lines of standard input, which are never evaluated.
const OFFER: &str = r#"# Offers the lines of standard input that begin with $1. They are only compared:
# `compgen -W` would run a command that is in one of them.
@offer() {
    local line
    while IFS= read -r line; do
        [[ -z $line || $line != "$1"* ]] || COMPREPLY+=("$line")
    done
}
"#;

/// The words before the cursor. bash makes `=` a word of its own.
const WORDS: &str = r"    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command='' word
    COMPREPLY=()
    if [[ $cur == '=' ]]; then
        cur=''
    elif [[ $prev == '=' ]]; then
        prev=${COMP_WORDS[COMP_CWORD-2]}
    fi
";

/// Lists the tasks of the plan or run among the words.
const TASKS: &str = r#"    local i plan=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        if [[ ${COMP_WORDS[i]} == --resume-run ]]; then
            plan=(--resume-run "${COMP_WORDS[i+1]}")
            break
        elif [[ ${COMP_WORDS[i]} != -* && -e ${COMP_WORDS[i]} ]]; then
            plan=(-- "${COMP_WORDS[i]}")
        fi
    done
"#;

/// The completions of `command`.
pub(crate) fn script(command: &Command) -> String {
    let tool = command.get_name();
    let function = format!("_{}", tool.replace('-', "_"));
    let mut text = format!("# Completions of {tool} for bash, made by scripts/completions.\n\n");
    text += &OFFER.replace("@offer", &format!("{function}_offer"));
    for kind in kinds(command) {
        text += &list_function(kind, tool);
    }
    text += &format!("\n{function}() {{\n{WORDS}{}", find_command(command));
    text += "    case $command:$prev in\n";
    text += &options_with_values(&function, tool, "", command);
    for sub in command.get_subcommands() {
        text += &options_with_values(&function, tool, sub.get_name(), sub);
    }
    text += "    esac\n    case $command:$cur in\n";
    for sub in command.get_subcommands() {
        text += &words(&function, tool, sub.get_name(), sub);
    }
    text += &words(&function, tool, "", command);
    text += "    esac\n}\n\n";
    text + &format!("complete -F {function} -o bashdefault -o default {tool}\n")
}

fn list_function(kind: Values, tool: &str) -> String {
    let (name, list) = (kind.function(tool), kind.command());
    if kind == Values::Tasks {
        return format!("\n{name}() {{\n{TASKS}    {list} \"${{plan[@]}}\" 2>/dev/null\n}}\n");
    }
    format!("\n{name}() {{\n    {list}\n}}\n")
}

/// Finds the command among the words, if the tool has commands.
fn find_command(command: &Command) -> String {
    let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
    if names.is_empty() {
        return String::new();
    }
    format!(
        "    for word in \"${{COMP_WORDS[@]:1:COMP_CWORD-1}}\"; do\n        \
         case $word in\n        {}) command=$word && break ;;\n        esac\n    done\n",
        names.join(" | ")
    )
}

/// `--long` and `-s` of an option.
fn spellings(arg: &Arg) -> Vec<String> {
    let long = arg.get_long().map(|long| format!("--{long}"));
    let short = arg.get_short().map(|short| format!("-{short}"));
    long.into_iter().chain(short).collect()
}

/// A pattern for each option that takes a value, with what it takes. Without an
/// offer, bash completes a file name.
fn options_with_values(function: &str, tool: &str, at: &str, command: &Command) -> String {
    let mut text = String::new();
    for arg in command.get_arguments() {
        if arg.is_positional() || !arg.get_action().takes_values() {
            continue;
        }
        let patterns: Vec<String> = spellings(arg)
            .iter()
            .map(|option| format!("{at}:{option}"))
            .collect();
        let offer = offer(function, tool, arg).map_or(String::new(), |offer| offer + " && ");
        text += &format!("    {}) {offer}return ;;\n", patterns.join(" | "));
    }
    text
}

/// The command that offers the values of `arg`.
fn offer(function: &str, tool: &str, arg: &Arg) -> Option<String> {
    let possible = arg.get_possible_values();
    let names: Vec<&str> = possible.iter().map(PossibleValue::get_name).collect();
    let list = match Values::of(tool, arg) {
        Some(kind) => kind.function(tool),
        None if names.is_empty() => return None,
        None => format!("printf '%s\\n' {}", names.join(" ")),
    };
    Some(format!("{function}_offer \"$cur\" < <({list})"))
}

/// What is offered for a word that is no option's value.
fn words(function: &str, tool: &str, at: &str, command: &Command) -> String {
    let options: Vec<String> = command.get_arguments().flat_map(spellings).collect();
    let mut text = format!(
        "    {at}:-*) {function}_offer \"$cur\" < <(printf '%s\\n' {}) ;;\n",
        options.join(" ")
    );
    let positional = command.get_positionals().next();
    let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
    let value = positional.and_then(|arg| offer(function, tool, arg));
    if let Some(value) = value {
        text += &format!("    {at}:*) {value} ;;\n");
    } else if !names.is_empty() {
        let names = names.join(" ");
        text += &format!("    {at}:*) {function}_offer \"$cur\" < <(printf '%s\\n' {names}) ;;\n");
    }
    text
}
