//! Files that were dirty before the run, and whether the run changed them.
//!
//! A file's fingerprint is a hash of its `lstat` and of git's record of it. It
//! includes the inode's change time, which a program cannot set: a file that is
//! written and then given its old modification time is still detected.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Bound;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use cr_repository::{Entry, GitError, Repo, Status};

/// Most directories that are named on git's command line.
const NAMED: usize = 200;

/// Most files in new directories that get a fingerprint each.
const INSIDE: usize = 10_000;

/// The hash of a path.
pub(crate) type Id = u64;

/// The hash of a path's state.
pub(crate) type Fingerprint = u64;

/// The fingerprint of each dirty path.
pub(crate) type Fingerprints = HashMap<Id, Fingerprint>;

/// The hash of `path`.
pub(crate) fn id(path: &[u8]) -> Id {
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    hasher.finish()
}

/// The fingerprints of a status.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// One for each entry, in its order.
    pub(crate) entries: Vec<Fingerprint>,
    /// The files in new directories, unless there are too many.
    pub(crate) inside: Vec<(Id, Fingerprint)>,
}

/// The fingerprints of everything in `status`.
pub(crate) fn fingerprints(repo: &Repo, status: &Status) -> Result<Found, GitError> {
    let (mut dirs, inside) = directories(repo, &status.entries)?;
    let print = |entry: &Entry| {
        let mut hasher = begin(&entry.letters, &entry.detail);
        look(&repo.top, &entry.path, &mut hasher);
        if let Some(files) = dirs.remove(&*entry.path) {
            files.finish().hash(&mut hasher);
        }
        hasher.finish()
    };
    Ok(Found {
        entries: status.entries.iter().map(print).collect(),
        inside,
    })
}

fn begin(letters: &str, detail: &[u8]) -> DefaultHasher {
    let mut hasher = DefaultHasher::new();
    (letters, detail).hash(&mut hasher);
    hasher
}

type Directories<'a> = BTreeMap<&'a [u8], DefaultHasher>;

/// What is in each new directory, hashed: the directory's own times do not tell
/// of a change further down.
fn directories<'a>(
    repo: &Repo,
    entries: &'a [Entry],
) -> Result<(Directories<'a>, Vec<(Id, Fingerprint)>), GitError> {
    let mut inside = Vec::new();
    let mut found: Directories<'_> = entries
        .iter()
        .filter(|entry| entry.is_new() && entry.path.ends_with(b"/"))
        .map(|entry| (&*entry.path, DefaultHasher::new()))
        .collect();
    if found.is_empty() {
        return Ok((found, inside));
    }
    let mut args: Vec<&OsStr> = ["ls-files", "-z", "--others", "--exclude-standard", "--"]
        .map(OsStr::new)
        .to_vec();
    if found.len() <= NAMED {
        args.extend(found.keys().copied().map(OsStr::from_bytes));
    }
    let files = repo.git.ask(&args)?;
    for file in files.split(|&b| b == 0) {
        // No directory of them is inside another, so the last one that sorts
        // before the file is the only candidate.
        let before = found
            .range_mut::<[u8], _>((Bound::Unbounded, Bound::Included(file)))
            .next_back();
        if let Some((dir, hasher)) = before
            && file.starts_with(dir)
        {
            // As if the file were an entry of its own.
            let mut print = begin("??", b"");
            look(&repo.top, file, &mut print);
            let pair = (id(file), print.finish());
            pair.hash(hasher);
            inside.push(pair);
        }
    }
    if inside.len() > INSIDE {
        inside.clear();
    }
    Ok((found, inside))
}

/// Hashes what the file system says about `path` under `top`.
fn look(top: &Path, path: &[u8], hasher: &mut DefaultHasher) {
    let path = top.join(OsStr::from_bytes(path));
    let Ok(meta) = fs::symlink_metadata(&path) else {
        return;
    };
    if !meta.is_dir() {
        return stamp(&meta, hasher);
    }
    // A directory's times and size change with anything below it, ignored
    // files included. A repository in it (a submodule) is recognised by these.
    meta.ino().hash(hasher);
    let inner = repository(path.join(".git"));
    for name in ["HEAD", "index", "logs/HEAD"] {
        if let Ok(meta) = fs::symlink_metadata(inner.join(name)) {
            stamp(&meta, hasher);
        }
    }
}

/// The directory that `place`, a `.git`, is or points to.
fn repository(place: PathBuf) -> PathBuf {
    let pointer = fs::symlink_metadata(&place).is_ok_and(|m| m.is_file() && m.len() < 8192);
    let text = if pointer {
        fs::read(&place)
    } else {
        Ok(Vec::new())
    };
    let text = text.unwrap_or_default();
    match text.trim_ascii_end().strip_prefix(b"gitdir: ") {
        Some(to) => place.with_file_name(OsStr::from_bytes(to)),
        None => place,
    }
}

fn stamp(meta: &fs::Metadata, hasher: &mut DefaultHasher) {
    let sizes = [meta.ino(), meta.size(), u64::from(meta.mode())];
    let times = [
        meta.mtime(),
        meta.mtime_nsec(),
        meta.ctime(),
        meta.ctime_nsec(),
    ];
    (sizes, times).hash(hasher);
}
