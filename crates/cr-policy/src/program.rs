//! Programs that start other programs, and the words of the shell itself.

/// Words with a meaning in the grammar of bash. They are not commands.
const RESERVED: [&str; 23] = [
    "!", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
    "function", "if", "in", "select", "then", "time", "until", "while", "{", "}", "#",
];

/// Reserved words before which no command stands, and after which one can.
const BEFORE_A_COMMAND: [&str; 10] = [
    "!", "do", "elif", "else", "if", "then", "until", "while", "{", "}",
];

/// Shells, and commands that read more commands.
const SHELLS: [&str; 18] = [
    ".", "ash", "bash", "busybox", "csh", "dash", "eval", "fish", "ksh", "mksh", "nu", "pwsh",
    "rbash", "sh", "source", "tcsh", "toybox", "zsh",
];

/// Commands that run the command which their arguments name.
const WRAPPERS: [&str; 49] = [
    "alias",
    "at",
    "batch",
    "bind",
    "builtin",
    "caffeinate",
    "chpst",
    "chroot",
    "chrt",
    "command",
    "compgen",
    "complete",
    "doas",
    "enable",
    "entr",
    "env",
    "exec",
    "expect",
    "fakeroot",
    "fc",
    "firejail",
    "flock",
    "hash",
    "ionice",
    "jobs",
    "ltrace",
    "mapfile",
    "nice",
    "nohup",
    "nsenter",
    "parallel",
    "pkexec",
    "readarray",
    "run-parts",
    "runuser",
    "script",
    "setpriv",
    "setsid",
    "ssh",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "systemd-run",
    "taskset",
    "timeout",
    "trap",
    "watch",
    "xargs",
];

/// Programs that run commands which a text among their arguments can name.
const INTERPRETERS: [&str; 24] = [
    "awk", "bwrap", "docker", "ed", "emacs", "ex", "find", "gawk", "gdb", "lua", "mawk", "nawk",
    "node", "perl", "php", "podman", "python", "ruby", "screen", "sed", "tclsh", "tmux", "vi",
    "vim",
];

/// Reserved words after which a command does not have to come first.
const OPERANDS: [&str; 5] = ["coproc", "for", "function", "select", "time"];

/// Commands of the shell that set variables. They evaluate their arguments:
/// `unset 'a[$(rm x)]'` runs `rm`.
const EVALUATES: [&str; 10] = [
    "declare", "export", "getopts", "let", "local", "read", "readonly", "typeset", "unset", "wait",
];

/// Other commands of the shell that change what later commands do.
const CHANGES_SHELL: [&str; 15] = [
    "bg", "break", "cd", "compopt", "continue", "dirs", "fg", "popd", "pushd", "return", "set",
    "shift", "shopt", "ulimit", "umask",
];

/// Options with which a program runs another one, writes a file that they name
/// or reads other code. An option of one letter is found in a group of letters
/// too, a long one also if it is abbreviated.
#[rustfmt::skip]
const EXECUTING: [(&str, &[&str]); 10] = [
    ("git", &[
        "-c", "-O", "-x", "--config-env", "--exec", "--exec-path", "--ext-diff", "--extcmd",
        "--open-files-in-pager", "--output", "--receive-pack", "--template", "--textconv",
        "--upload-pack",
    ]),
    ("cargo", &["-C", "-Z", "--config", "--manifest-path"]),
    ("find", &[
        "-delete", "-exec", "-execdir", "-fls", "-fprint", "-fprint0", "-fprintf", "-ok", "-okdir",
    ]),
    ("fd", &["-x", "-X", "--exec", "--exec-batch"]),
    ("fdfind", &["-x", "-X", "--exec", "--exec-batch"]),
    ("rg", &["--hostname-bin", "--pre"]),
    ("sort", &["-o", "--compress-program", "--output"]),
    ("tree", &["-o"]),
    ("printf", &["-v"]),
    ("test", &["-v", "-R"]),
];

/// The name by which a program is known: without its directory, `.exe` and a
/// `!` of git, in small letters.
pub(crate) fn name_of(word: &str) -> String {
    let name = word.trim_start_matches('!');
    let name = name.rsplit('/').next().unwrap_or(name);
    let name = name.to_ascii_lowercase();
    name.strip_suffix(".exe").unwrap_or(&name).to_owned()
}

pub(crate) fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}

pub(crate) fn is_before_a_command(word: &str) -> bool {
    BEFORE_A_COMMAND.contains(&word)
}

pub(crate) fn changes_shell(word: &str) -> bool {
    CHANGES_SHELL.contains(&word)
}

pub(crate) fn is_shell(word: &str) -> bool {
    is_in(&SHELLS, word) || is_in(&INTERPRETERS, word)
}

/// Whether `word` is a command whose job is to run another one.
pub(crate) fn is_wrapper(word: &str) -> bool {
    is_in(&SHELLS, word) || is_in(&WRAPPERS, word)
}

/// Whether the shell itself evaluates an argument of a command with these words.
pub(crate) fn is_evaluated(program: &str, mut further: impl Iterator<Item: AsRef<str>>) -> bool {
    let can_set = ["printf", "test"].contains(&program);
    EVALUATES.contains(&program)
        || (can_set && further.any(|word| is_executing(program, word.as_ref())))
}

/// Whether a command with these words can run another command which they name.
pub(crate) fn can_run_another(words: &[String]) -> bool {
    let Some((first, further)) = words.split_first() else {
        return false;
    };
    let has_option = || further.iter().any(|word| is_executing(first, word));
    let can_name = OPERANDS.contains(&first.as_str()) || is_evaluated(first, further.iter());
    is_wrapper(first) || is_shell(first) || can_name || has_option()
}

/// Whether `program` has options of that kind.
pub(crate) fn has_executing_options(program: &str) -> bool {
    let name = name_of(program);
    EXECUTING.iter().any(|(program, _)| *program == name)
}

/// Whether `word` is an option with which `program` does more than its job.
pub(crate) fn is_executing(program: &str, word: &str) -> bool {
    let name = name_of(program);
    let known = EXECUTING.iter().find(|(program, _)| *program == name);
    known.is_some_and(|(_, options)| options.iter().any(|option| is_option(option, word)))
}

fn is_option(option: &str, word: &str) -> bool {
    if option.starts_with("--") {
        let name = word.split('=').next().unwrap_or(word);
        return name.len() > 2 && option.starts_with(name);
    }
    let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    match option.len() {
        2 => letters.is_some_and(|letters| letters.contains(&option[1..])),
        _ => word == option,
    }
}

/// Whether `list` has the program, also with a version after its name.
fn is_in(list: &[&str], word: &str) -> bool {
    let name = name_of(word);
    let without_version = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    list.contains(&name.as_str()) || list.contains(&without_version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_known_by_their_names() {
        for word in [
            "sh",
            "/bin/sh",
            "BASH",
            "bash5.2",
            "python3.11",
            "!sh",
            "x/env",
            "sh.exe",
            ".",
        ] {
            assert!(is_wrapper(word) || is_shell(word), "{word}");
        }
        for word in ["shell", "git", "cargo", "sh/x", ""] {
            assert!(!is_wrapper(word) && !is_shell(word), "{word}");
        }
    }

    #[test]
    fn an_option_is_found_in_a_group_and_abbreviated() {
        #[rustfmt::skip]
        let cases = [
            ("git", "-c", true),           ("git", "--output=x", true),   ("git", "--outp=x", true),
            ("git", "--ext-d", true),      ("git", "--oneline", false),   ("git", "--", false),
            ("git", "-vc", true),          ("git", "HEAD", false),        ("/bin/git", "-c", true),
            ("find", "-exec", true),       ("find", "-name", false),      ("find", "-delete", true),
            ("sort", "-ro", true),         ("sort", "-r", false),         ("ls", "-c", false),
            ("cargo", "--config", true),   ("cargo", "--conf", true),     ("cargo", "--lib", false),
            ("git", "", false),            ("git", "-", false),           ("printf", "-va", true),
        ];
        for (program, word, wanted) in cases {
            assert_eq!(is_executing(program, word), wanted, "{program} {word}");
        }
    }
}
