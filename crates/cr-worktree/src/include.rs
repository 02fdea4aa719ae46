//! `.worktreeinclude`: which ignored files a new worktree gets a copy of.
//!
//! The file has patterns as a `.gitignore` has. A file is copied if it matches one
//! and git ignores it in the user's tree. Tracked files are never overwritten.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::copy::{self, Root};
use crate::repository::{Repository, names_in, path_of};

/// The name of the file.
const FILE: &str = ".worktreeinclude";

/// What was copied, and notes about what was not.
#[derive(Debug, Default)]
pub(crate) struct Included {
    pub(crate) copied: usize,
    pub(crate) notes: Vec<String>,
}

/// Copies what `.worktreeinclude` of the user's tree names to the worktree `to`,
/// whose tracked files are `tracked`.
pub(crate) fn include(
    repository: &Repository,
    to: &Path,
    tracked: &BTreeSet<Vec<u8>>,
) -> anyhow::Result<Included> {
    let mut included = Included::default();
    let file = repository.top().join(FILE);
    match fs::symlink_metadata(&file) {
        Ok(meta) if meta.is_file() => {}
        Ok(_) => {
            included.notes.push(format!("{FILE}: not a plain file"));
            return Ok(included);
        }
        Err(_) => return Ok(included),
    }
    let (from, root) = (Root::open(repository.top())?, Root::open(to)?);
    for path in matching(repository)? {
        let shown = || path_of(&path).display().to_string();
        if path.ends_with(b"/") {
            let note = format!("{FILE}: {}: a repository, not copied", shown());
            included.notes.push(note);
        } else if !tracked.contains(&path) {
            match copy::copy(&from, &root, &path) {
                Ok(is_new) => included.copied += usize::from(is_new),
                Err(err) => included.notes.push(format!("{FILE}: {}: {err}", shown())),
            }
        }
    }
    Ok(included)
}

/// The files that match a pattern and are ignored.
fn matching(repository: &Repository) -> anyhow::Result<BTreeSet<Vec<u8>>> {
    let list = |patterns: &str| {
        let args = ["ls-files", "-z", "--others", "--ignored", patterns];
        let text = repository.repo.git.ask(&args)?;
        anyhow::Ok(names_in(&text).map(<[u8]>::to_vec).collect::<BTreeSet<_>>())
    };
    let named = list(&format!("--exclude-from={FILE}"))?;
    if named.is_empty() {
        return Ok(named);
    }
    let ignored = list("--exclude-standard")?;
    Ok(named.intersection(&ignored).cloned().collect())
}
