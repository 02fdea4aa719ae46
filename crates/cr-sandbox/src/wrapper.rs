//! The script that runs the agent in the sandbox, as the program of one attempt.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::environment::is_name;
use crate::import::{function, quote};
use crate::{KEPT, Sandbox, canonical};

/// Begins the second line of a wrapper; the program's path follows.
const MARK: &str = "# cr-sandbox: ";

/// The program that the wrapper at `path` runs. `None` if it is no wrapper.
///
/// The program itself can be asked for its version, which is the same outside.
pub fn program_of(path: &Path) -> Option<PathBuf> {
    let mut head = Vec::new();
    let file = File::open(path).ok()?;
    file.take(4200).read_to_end(&mut head).ok()?;
    let head = String::from_utf8_lossy(&head);
    let (_, rest) = head.strip_prefix("#!/bin/sh\n")?.split_once(MARK)?;
    Some(rest.lines().next()?.into())
}

/// Passes variables on, and the files of the run that the agent needs: its
/// system prompt, and the trace that its git commands write. By a pipe, since
/// arguments are visible to every user.
const SETTINGS: &str = r#"settings() {
    printf '%s\0' --setenv PATH "$agents_path"
    for name; do
        if eval "[ -n \"\${$name+set}\" ]"; then
            eval "printf '%s\\0' --setenv \"\$name\" \"\$$name\""
        fi
    done
    case ${CR_RUN-} in
    /*) printf '%s\0' --ro-bind-try "$CR_RUN/system-prompt" "$CR_RUN/system-prompt" ;;
    esac
    case ${GIT_TRACE2_EVENT-} in
    /*/git-trace.ndjson)
        : >>"$GIT_TRACE2_EVENT" && printf '%s\0' --bind "$GIT_TRACE2_EVENT" "$GIT_TRACE2_EVENT" ;;
    esac
}
"#;

/// Waits for bubblewrap.
///
/// SIGTERM goes to the whole group, so the agent has it already. But the kernel
/// also sends it, to this shell alone, when the supervisor was killed.
const WAIT: &str = r#"sandbox=$!
exec 3<&-
parent=$PPID
signalled=
pass_on() {
    signalled=1
    while read -r key value; do
        [ "$key" != PPid: ] || [ "$value" = "$parent" ] || { trap '' TERM; kill -TERM 0; }
    done <"/proc/$$/status"
}
trap pass_on TERM
trap 'signalled=1' INT QUIT
wait "$sandbox"
code=$?
# A signal ends the wait, too. 127: the first wait was the right one.
while [ -n "$signalled" ]; do
    signalled=
    wait "$sandbox"
    again=$?
    [ "$again" -eq 127 ] || code=$again
done
trap '' TERM INT QUIT
"#;

/// Waits for the first process inside, which ends a moment after bubblewrap: the
/// supervisor would take it for one that the agent has left behind. If there are
/// such, it stays for them, and is not waited for.
const FIRST: &str = r#"first=
read -r first 2>/dev/null <"$private/status"
first=${first#*\"child-pid\": }
first=${first%%[!0-9]*}
waits_for_others() {
    children=
    read -r children 2>/dev/null <"/proc/$first/task/$first/children"
    [ -n "$children" ]
}
has_ended() {
    state=
    while read -r key state; do
        [ "$key" != State: ] || break
    done 2>/dev/null <"/proc/$first/status"
    case $state in
    '' | Z* | X*) return 0 ;;
    esac
    return 1
}
turns=0
while [ -n "$first" ] && [ "$turns" -lt 20000 ] && ! has_ended && ! waits_for_others; do
    turns=$((turns + 1))
done
"#;

impl Sandbox {
    /// A shell script that runs `program` in the sandbox with the script's
    /// arguments, and ends with its code (128 and the number of the signal that
    /// killed it). Then the agent's commits are in the repository; if they cannot
    /// be, a success becomes 125.
    ///
    /// The script belongs where the agent cannot write. The programs that it runs
    /// outside are not looked for where the agent can write, either.
    pub fn wrapper_script(&self, program: &Path) -> io::Result<String> {
        let mut script = format!("#!/bin/sh\n{MARK}{}\n", line(program)?);
        let mut words = String::new();
        for word in self.command_line(&files_of(program)) {
            words.push_str(&quote(Path::new(&word))?);
            words.push(' ');
        }
        // The rest of the arguments comes before the end of the options.
        let words = words.strip_suffix("-- ").unwrap_or(&words);
        let names = KEPT.iter().copied();
        let names = names.chain(self.env_keep.iter().map(String::as_str));
        let names: Vec<&str> = names.filter(|name| is_name(name)).collect();
        let home = quote(&self.real_home)?;
        let program = quote(program)?;
        script.push_str(&format!(
            "agents_path=${{PATH-}}\nPATH={}\nprivate={}\n",
            quote(Path::new(&self.outer_path()))?,
            quote(&self.private)?
        ));
        script.push_str(SETTINGS);
        // bubblewrap itself ignores the signals that are for the agent.
        script.push_str(&format!(
            "exec 3<&0\nsettings {} | (\n    trap '' TERM INT QUIT\n    exec env -i {words}\
             --setenv HOME {home} --setenv IS_SANDBOX 1 --args 4 --json-status-fd 5 -- \\\n        \
             /usr/bin/env --default-signal=TERM,INT,QUIT {program} \"$@\" \\\n        \
             4<&0 <&3 3<&- 5>\"$private/status\"\n) &\n",
            names.join(" ")
        ));
        script.push_str(WAIT);
        script.push_str(FIRST);
        if let Some(git) = &self.git {
            script.push_str(&function(git)?);
            script.push_str("import_work || [ \"$code\" -ne 0 ] || code=125\n");
        }
        script.push_str("exit \"$code\"\n");
        Ok(script)
    }
}

/// A path for one line of text.
fn line(path: &Path) -> io::Result<&str> {
    let text = path.to_str().filter(|text| !text.contains('\n'));
    text.ok_or_else(|| io::Error::other(format!("{}: not a name for one line", path.display())))
}

/// The files that `program` consists of: itself, what it links to, its package,
/// and its interpreter.
fn files_of(program: &Path) -> Vec<PathBuf> {
    let file = canonical(program);
    let mut files = vec![
        program.to_owned(),
        package_of(&file).unwrap_or(&file).to_owned(),
    ];
    let head = fs::read(&file).ok().and_then(|text| {
        let first = text.split(|&b| b == b'\n').next()?;
        let first = first.strip_prefix(b"#!")?;
        String::from_utf8(first.to_owned()).ok()
    });
    // `#!/usr/bin/env node`
    let name = head
        .as_deref()
        .and_then(|line| line.split_whitespace().last());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = name.and_then(|name| {
        let mut places = std::env::split_paths(&path).map(|dir| dir.join(name));
        places.find(|place| place.is_file())
    });
    if let Some(interpreter) = found {
        files.push(canonical(&interpreter));
        files.push(interpreter);
    }
    files.retain(|path| {
        !["/usr", "/bin", "/opt"]
            .iter()
            .any(|dir| path.starts_with(dir))
    });
    files
}

/// The package of npm that `file` is in: the directory below `node_modules`.
fn package_of(file: &Path) -> Option<&Path> {
    let mut dirs = file.ancestors().skip(1);
    dirs.find(|dir| {
        let name = |dir: Option<&Path>| dir.and_then(Path::file_name).map(OsString::from);
        let parent = name(dir.parent());
        let is_scoped = parent
            .as_ref()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b"@"));
        let above = if is_scoped {
            name(dir.ancestors().nth(2))
        } else {
            parent
        };
        above.is_some_and(|name| name == "node_modules")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_the_directory_below_node_modules() {
        let of = |path| package_of(Path::new(path));
        let package = Some(Path::new("/h/node_modules/@a/claude"));
        assert_eq!(of("/h/node_modules/@a/claude/cli.js"), package);
        assert_eq!(of("/h/node_modules/@a/claude/bin/x"), package);
        assert_eq!(
            of("/h/node_modules/b/x.js"),
            Some(Path::new("/h/node_modules/b"))
        );
        assert_eq!(of("/h/bin/claude"), None);
    }
}
