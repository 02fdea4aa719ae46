//! `cr-git start`: one line with the state of the repository before the run.

use std::path::Path;
use std::time::Duration;

use cr_repository::{GitError, Repo, Status};

use crate::dirty;
use crate::history;
use crate::stale;
use crate::start_record::{self, Start};
use crate::text;

/// Most entries that are named; the rest are numbers.
const NAMED: usize = 1000;

/// The state of the repository at `cwd`. Never fails: a missing repository is a
/// valid answer, and any other problem is in `error`.
pub(crate) fn observe(cwd: &Path, limit: Duration) -> Start {
    let mut start = start_record::start_at(cwd);
    match fill(&mut start, cwd, limit) {
        Ok(()) | Err(GitError::NoRepository) => {}
        Err(error) => start.error = Some(text::shown(error.to_string().as_bytes()).into()),
    }
    start
}

fn fill(start: &mut Start, cwd: &Path, limit: Duration) -> Result<(), GitError> {
    let repo = Repo::open(cwd, limit)?;
    start.repository = true;
    start.toplevel = Some(repo.top.to_string_lossy().into_owned().into());
    start.common_dir = Some(repo.shared.to_string_lossy().into_owned().into());
    start.object_format = Some(repo.format.clone().into());
    start.shallow = repo.shallow;
    start.linked_worktree = repo.is_linked();
    start.in_progress = repo.operation_in_progress().map(Into::into);
    start.index_lock = stale::index_lock(&repo);
    let (status, refs) = history::state(&repo);
    let status = status?;
    start.start_sha = status.head.as_deref().map(|id| text::short(id).into());
    start.branch = status
        .branch
        .as_deref()
        .map(|name| text::shown(name).into());
    let (refs, complete) = refs?;
    let refs = refs.into_iter();
    start.refs = refs.map(|(name, id)| (name.into(), id.into())).collect();
    start.refs_complete = complete;
    unclean(start, &repo, &status)?;
    // Set last: after an error, a missing value must not look like an unborn HEAD.
    start.start_sha_full = status.head.map(Into::into);
    Ok(())
}

/// Adds every entry that is not clean, with its fingerprint.
fn unclean(start: &mut Start, repo: &Repo, status: &Status) -> Result<(), GitError> {
    let found = dirty::fingerprints(repo, status)?;
    let entries = status.entries.iter().zip(found.entries);
    let (mut named, mut rest) = (Vec::new(), found.inside);
    for (entry, print) in entries {
        let pair = (dirty::id(&entry.path), print);
        if named.len() < NAMED {
            named.push(start_record::dirty_file(&entry.path, &entry.letters, pair));
        } else {
            rest.push(pair);
        }
    }
    start.dirty_total = status.entries.len() as u64;
    start.dirty = named;
    start.dirty_rest = start_record::encode(&rest);
    Ok(())
}
