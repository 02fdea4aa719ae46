//! Values that a shell asks for when somebody completes: runs, tasks, models.
//!
//! The tools list them one per line, and only plain words (letters, digits, `.`,
//! `_`, `-`): the name of a run comes from whoever started it and must never
//! become a command.

use clap::{Arg, Command};

/// The names of models that the agent takes.
const MODELS: [&str; 3] = ["haiku", "opus", "sonnet"];

/// What an argument takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Values {
    Models,
    /// Runs of `claude-runner`.
    Runs,
    /// Runs of `cr-orchestrate`.
    OrchestratedRuns,
    /// Tasks of the plan or run on the command line.
    Tasks,
}

impl Values {
    pub(crate) const ALL: [Self; 4] = [
        Self::Models,
        Self::Runs,
        Self::OrchestratedRuns,
        Self::Tasks,
    ];

    /// What `arg` of the tool takes, by the name of its value.
    pub(crate) fn of(tool: &str, arg: &Arg) -> Option<Self> {
        let is_of_plan = ["cr-orchestrate", "sprint-loop"].contains(&tool);
        let name = arg.get_value_names()?.first()?.as_str();
        match name {
            "MODEL" => Some(Self::Models),
            "RUN" if is_of_plan => Some(Self::OrchestratedRuns),
            "RUN" => Some(Self::Runs),
            "ID" | "ID[=TEXT]" if is_of_plan => Some(Self::Tasks),
            _ => None,
        }
    }

    /// The command that lists them, for every shell.
    pub(crate) fn command(self) -> String {
        match self {
            Self::Models => format!("printf '%s\\n' {}", MODELS.join(" ")),
            Self::Runs => "cr-runs ls -n 0 --quiet 2>/dev/null".to_owned(),
            Self::OrchestratedRuns => "cr-orchestrate status --runs 2>/dev/null".to_owned(),
            // The plan or the run; a tool that finds none prints nothing.
            Self::Tasks => "cr-orchestrate --dry-run --quiet".to_owned(),
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Models => "models",
            Self::Runs => "runs",
            Self::OrchestratedRuns => "orchestrated_runs",
            Self::Tasks => "tasks",
        }
    }

    /// The function that offers them in the completions of `tool`.
    pub(crate) fn function(self, tool: &str) -> String {
        format!("_{}_{}", tool.replace('-', "_"), self.word())
    }
}

/// Every argument of `command` and of its subcommands, with the subcommand.
pub(crate) fn arguments(command: &Command) -> Vec<(Option<&Command>, &Arg)> {
    let own = command.get_arguments().map(|arg| (None, arg));
    let below = command
        .get_subcommands()
        .flat_map(|sub| sub.get_arguments().map(move |arg| (Some(sub), arg)));
    own.chain(below).collect()
}

/// The kinds that the arguments of `command` take.
pub(crate) fn kinds(command: &Command) -> Vec<Values> {
    let tool = command.get_name();
    let all = arguments(command);
    let is_taken = |kind: &Values| {
        all.iter()
            .any(|(_, arg)| Values::of(tool, arg) == Some(*kind))
    };
    Values::ALL.into_iter().filter(is_taken).collect()
}

/// The completions for zsh, with the values of `command`.
pub(crate) fn in_zsh(command: &Command, text: &str) -> String {
    let tool = command.get_name();
    let mut text = text.to_owned();
    for (_, arg) in arguments(command) {
        let Some(kind) = Values::of(tool, arg) else {
            continue;
        };
        let action = kind.function(tool);
        let name = &arg.get_value_names().unwrap_or_default()[0];
        text = text.replace(&format!(":{name}:_default"), &format!(":{name}:{action}"));
        if arg.is_positional() {
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            let shown = format!("{} -- {help}", arg.get_id());
            text = text.replace(&format!(":{shown}:_default"), &format!(":{shown}:{action}"));
        }
    }
    let functions: String = kinds(command)
        .iter()
        .map(|kind| zsh_function(*kind, tool))
        .collect();
    // After the first line, which must stay the first.
    text.replacen("\n\n", &format!("\n\n{functions}\n"), 1)
}

fn zsh_function(kind: Values, tool: &str) -> String {
    let (name, list) = (kind.function(tool), kind.command());
    let list = if kind == Values::Tasks {
        format!("{list} \"${{plan[@]}}\" 2>/dev/null")
    } else {
        list
    };
    let plan = if kind == Values::Tasks { ZSH_PLAN } else { "" };
    format!(
        "{name}() {{\n    local -a found plan\n{plan}    found=(\"${{(@f)$({list})}}\")\n    compadd -a found\n}}\n"
    )
}

/// Finds the plan or the run among the words.
const ZSH_PLAN: &str = "\
    local i=${words[(i)--resume-run]}
    if (( i < ${#words} )); then
        plan=(--resume-run \"${words[i+1]}\")
    else
        for i in \"${words[@]:1}\"; do [[ $i != -* && -e $i ]] && plan=(-- \"$i\"); done
    fi
";

/// The completions for fish, with the values of `command`.
pub(crate) fn in_fish(command: &Command, text: &str) -> String {
    let tool = command.get_name();
    let lines = text.lines().map(|line| after_positional(command, line));
    let mut lines: Vec<String> = lines.collect();
    let mut positional = Vec::new();
    for (sub, arg) in arguments(command) {
        let Some(kind) = Values::of(tool, arg) else {
            continue;
        };
        let offer = format!(" -f -a \"({})\"", kind.function(tool));
        if let Some(long) = arg.get_long() {
            let option = format!(" -l {long} ");
            for line in &mut lines {
                if line.contains(&option) && line.ends_with(" -r") {
                    line.push_str(&offer);
                }
            }
        } else if let Some(sub) = sub {
            let name = tool.replace('-', "_");
            let condition = format!("__fish_{name}_using_subcommand {}", sub.get_name());
            positional.push(format!("complete -c {tool} -n \"{condition}\"{offer}"));
        }
    }
    let functions = kinds(command);
    let functions = functions.iter().map(|kind| fish_function(*kind, tool));
    let mut all: Vec<String> = functions.collect();
    all.extend(lines);
    all.extend(positional);
    all.join("\n") + "\n"
}

/// `line`, with an option that is also offered after the first positional: the
/// generated condition takes that for a command.
fn after_positional(command: &Command, line: &str) -> String {
    let is_option = [" -l ", " -s "].iter().any(|option| line.contains(option));
    if command.get_positionals().next().is_none() || !is_option {
        return line.to_owned();
    }
    let name = command.get_name().replace('-', "_");
    let commands: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
    let other = format!("not __fish_seen_subcommand_from {}", commands.join(" "));
    line.replace(&format!("__fish_{name}_needs_command"), &other)
}

fn fish_function(kind: Values, tool: &str) -> String {
    let (name, list) = (kind.function(tool), kind.command());
    if kind == Values::Tasks {
        return format!("function {name}\n{FISH_PLAN}    {list} $plan 2>/dev/null\nend\n");
    }
    format!("function {name}\n    {list}\nend\n")
}

/// Finds the plan or the run among the words.
const FISH_PLAN: &str = "\
    set -l words (commandline -opc)
    set -l plan
    if set -l i (contains -i -- --resume-run $words)
        set -- plan --resume-run $words[(math $i + 1)]
    else
        for word in $words[2..]
            if not string match -q -- '-*' $word; and test -e $word
                set -- plan -- $word
            end
        end
    end
";
