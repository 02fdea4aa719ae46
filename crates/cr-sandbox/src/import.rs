//! Brings the agent's commits into the repository.
//!
//! It is a shell script, because it runs at two places: at the end of the
//! wrapper, so that whoever looks after the agent's end sees the commits, and
//! from [`Sandbox::import`] for an attempt whose wrapper was killed.
//!
//! It reads what the agent could write and writes only what the agent could not:
//! a process that the agent has left behind can make it fail, and no more.

use std::fmt;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::git::remove_setuid;
use crate::{GitDirs, Sandbox};

/// Why the agent's commits are not in the repository.
#[derive(Debug)]
pub struct NotImported(String);

impl fmt::Display for NotImported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotImported {}

impl From<io::Error> for NotImported {
    fn from(err: io::Error) -> Self {
        Self(err.to_string())
    }
}

/// The function `import_work`. It uses `$common`, `$branch` and `$private`.
const FUNCTION: &str = r#"git_of_repository() {
    env -i PATH="$PATH" HOME=/nonexistent LC_ALL=C GIT_CONFIG_NOSYSTEM=1 \
        GIT_NO_REPLACE_OBJECTS=1 GIT_NO_LAZY_FETCH=1 ${store:+GIT_OBJECT_DIRECTORY="$store"} \
        git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c core.alternateRefsCommand= \
        -c gc.auto=0 --git-dir="$common" "$@"
}

not_imported() {
    echo "cr-sandbox: the agent's commits are not imported: $1" >&2
    return 1
}

import_work() {
    [ -d "$private/git/objects" ] || return 0
    # git does not work in a directory that the agent has removed.
    cd /
    store=
    # A pipe in place of an object would keep git waiting.
    [ -z "$(find "$private/git/objects" ! -type f ! -type d)" ] ||
        { not_imported 'the object store holds more than files'; return; }
    if [ -n "$(find "$private/git/objects" -type f ! -path '*/info/*')" ]; then
        {
            store=$private/git/objects
            git_of_repository cat-file --batch-all-objects --batch-check='%(objectname)' \
                2>/dev/null | git_of_repository pack-objects --quiet --stdout 2>/dev/null
        } | git_of_repository index-pack --stdin --fsck-objects >/dev/null ||
            { not_imported 'a broken object'; return; }
    fi
    ref=$private/git/branch/${branch##*/}
    [ -e "$ref" ] || return 0
    { [ -f "$ref" ] && [ ! -L "$ref" ]; } || { not_imported 'no plain ref'; return; }
    new=$(head -c 65 "$ref")
    old=$(git_of_repository rev-parse --quiet --verify "$branch")
    [ "$new" != "$old" ] || return 0
    case $new in
    '' | *[!0-9a-f]*) not_imported 'no plain ref'; return ;;
    esac
    { git_of_repository cat-file -e "$new^{commit}" &&
        git_of_repository rev-list --objects --quiet "$new" --not --all; } 2>/dev/null ||
        { not_imported 'objects are missing'; return; }
    git_of_repository update-ref -m 'sandbox: import' "$branch" "$new" "$old" ||
        not_imported 'the branch has moved'
}
"#;

/// The function `import_work` for the repository `git`.
pub(crate) fn function(git: &GitDirs) -> io::Result<String> {
    Ok(format!(
        "common={}\nbranch={}\n{FUNCTION}",
        quote(&git.common)?,
        quote(Path::new(&git.branch))?,
    ))
}

/// `path` as a word of a shell.
pub(crate) fn quote(path: &Path) -> io::Result<String> {
    let quoted = path.to_str().and_then(cr_io::quote);
    quoted.ok_or_else(|| io::Error::other(format!("{}: not a name in UTF-8", path.display())))
}

impl Sandbox {
    /// Brings the commits of the last attempt into the repository, moves the
    /// task's branch, and makes the worktree safe for git outside. The wrapper has
    /// done the first two, unless it was killed. Nothing of the attempt may be
    /// alive.
    pub fn import(&self) -> Result<(), NotImported> {
        if self.is_root {
            remove_setuid(&self.work_tree)?;
        }
        let Some(git) = &self.git else {
            return Ok(());
        };
        git.restore()?;
        let script = function(git)? + "import_work\n";
        let output = Command::new("/bin/sh")
            .args(["-c", &script])
            .env("PATH", self.outer_path())
            .env("private", &self.private)
            .stdin(Stdio::null())
            .output()?;
        if output.status.success() {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&output.stderr);
        let last = text.trim_end().rsplit('\n').next().unwrap_or_default();
        Err(NotImported(
            last.trim_start_matches("cr-sandbox: ").to_owned(),
        ))
    }
}
