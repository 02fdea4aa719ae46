//! The `cr/git` lines: what they hold, written and read back.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::dirty::{Fingerprint, Fingerprints, Id};
use crate::text::{self, Name};

/// A `cr/git` line.
#[derive(Debug, Serialize)]
pub(crate) struct Line<'a, T> {
    r#type: &'static str,
    subtype: &'static str,
    at: String,
    run_id: Option<&'a str>,
    phase: &'static str,
    #[serde(flatten)]
    body: &'a T,
}

/// The line of `phase` with `body`, without its newline.
pub(crate) fn line<T: Serialize>(phase: &'static str, run_id: Option<&str>, body: &T) -> Vec<u8> {
    let line = Line {
        r#type: "cr",
        subtype: "git",
        at: cr_rundir::now(),
        run_id,
        phase,
        body,
    };
    serde_json::to_vec(&line).expect("strings and numbers only")
}

/// What `start` saw.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
#[expect(
    clippy::struct_excessive_bools,
    clippy::struct_field_names,
    reason = "the names and types of the line"
)]
pub(crate) struct Start {
    pub(crate) repository: bool,
    /// Not masked: the run goes on in it.
    pub(crate) cwd: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd_b64: Option<String>,
    pub(crate) toplevel: Option<String>,
    pub(crate) common_dir: Option<String>,
    pub(crate) start_sha: Option<String>,
    pub(crate) start_sha_full: Option<String>,
    pub(crate) branch: Option<String>,
    pub(crate) object_format: Option<String>,
    pub(crate) shallow: bool,
    pub(crate) linked_worktree: bool,
    pub(crate) in_progress: Option<String>,
    pub(crate) index_lock: Option<IndexLock>,
    /// How many entries were not clean; the first of them are in `dirty`, the
    /// rest in `dirty_rest`.
    pub(crate) dirty_total: u64,
    pub(crate) dirty: Vec<Dirty>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dirty_rest: Option<String>,
    pub(crate) refs: BTreeMap<String, String>,
    pub(crate) refs_complete: bool,
    pub(crate) error: Option<String>,
}

/// An entry that was not clean at the start.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct Dirty {
    #[serde(flatten)]
    pub(crate) name: Name,
    pub(crate) status: String,
    id: String,
    print: String,
}

impl Dirty {
    pub(crate) fn new(path: &[u8], status: &str, (id, print): (Id, Fingerprint)) -> Self {
        Self {
            name: Name::of(path),
            status: status.to_owned(),
            id: format!("{id:016x}"),
            print: format!("{print:016x}"),
        }
    }
}

impl Start {
    /// A start in `cwd` of which nothing is known yet.
    pub(crate) fn at(cwd: &Path) -> Self {
        let bytes = cwd.as_os_str().as_bytes();
        Self {
            cwd: cwd.to_string_lossy().into_owned(),
            cwd_b64: str::from_utf8(bytes).is_err().then(|| text::base64(bytes)),
            ..Self::default()
        }
    }

    /// The directory of the run.
    pub(crate) fn cwd(&self) -> PathBuf {
        let bytes = self.cwd_b64.as_deref().and_then(text::unbase64);
        bytes.map_or_else(
            || PathBuf::from(&self.cwd),
            |bytes| PathBuf::from(OsString::from_vec(bytes)),
        )
    }

    /// Puts `prints` into the form for many: sixteen bytes each.
    pub(crate) fn pack(prints: &[(Id, Fingerprint)]) -> Option<String> {
        let number =
            |&(id, print): &(Id, Fingerprint)| [id.to_be_bytes(), print.to_be_bytes()].concat();
        let bytes: Vec<u8> = prints.iter().flat_map(number).collect();
        (!bytes.is_empty()).then(|| text::base64(&bytes))
    }

    /// The print of everything that was not clean.
    pub(crate) fn prints(&self) -> Fingerprints {
        let number = |hex: &str| u64::from_str_radix(hex, 16).ok();
        let named = self
            .dirty
            .iter()
            .filter_map(|d| Some((number(&d.id)?, number(&d.print)?)));
        let rest = self.dirty_rest.as_deref().and_then(text::unbase64);
        let rest = rest.unwrap_or_default();
        let (pairs, _) = rest.as_chunks::<16>();
        let rest = pairs.iter().map(|pair| {
            let both = u128::from_be_bytes(*pair);
            let low = both & u128::from(u64::MAX);
            let number = |n: u128| u64::try_from(n).expect("64 bits of it");
            (number(both >> 64), number(low))
        });
        named.chain(rest).collect()
    }
}

/// A lock that another git left, or holds.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(default)]
pub(crate) struct IndexLock {
    pub(crate) age_seconds: u64,
    /// The process that may hold it; none: it is stale.
    pub(crate) holder: Option<u32>,
}

/// What `end` sees, compared with the start. Unknown is null, never 0.
#[derive(Clone, Debug, Default, Serialize)]
#[expect(
    clippy::struct_excessive_bools,
    clippy::struct_field_names,
    reason = "the names and types of the line"
)]
pub(crate) struct End {
    pub(crate) repository: bool,
    /// What is known of the start: `commit`, `unborn` or `unknown`.
    pub(crate) start: &'static str,
    pub(crate) start_sha: Option<String>,
    pub(crate) start_sha_full: Option<String>,
    pub(crate) end_sha: Option<String>,
    pub(crate) end_sha_full: Option<String>,
    pub(crate) start_branch: Option<String>,
    pub(crate) branch: Option<String>,
    pub(crate) commits: Option<Vec<String>>,
    pub(crate) commits_more: u64,
    pub(crate) changed_files: Option<u64>,
    pub(crate) insertions: Option<u64>,
    pub(crate) deletions: Option<u64>,
    pub(crate) uncommitted_changes: Option<u64>,
    pub(crate) dirty_before: Option<u64>,
    pub(crate) files: Vec<File>,
    pub(crate) files_more: u64,
    pub(crate) rewritten: bool,
    pub(crate) rewound: bool,
    pub(crate) agent_commits: Option<Vec<String>>,
    pub(crate) other_refs: Option<Vec<OtherRef>>,
    pub(crate) other_refs_more: u64,
    pub(crate) shallow: bool,
    pub(crate) in_progress: Option<&'static str>,
    pub(crate) index_lock: Option<IndexLock>,
    pub(crate) error: Option<String>,
}

/// A file that the run changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct File {
    #[serde(flatten)]
    pub(crate) name: Name,
    /// git's letter for a committed change, its two for one that is not.
    pub(crate) status: String,
    /// Where it was, when it was renamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) from_b64: Option<String>,
    pub(crate) insertions: Option<u64>,
    pub(crate) deletions: Option<u64>,
    pub(crate) committed: bool,
    pub(crate) uncommitted: bool,
}

/// A branch, tag or stash, not the current branch, that is not where it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct OtherRef {
    pub(crate) r#ref: String,
    pub(crate) from: Option<String>,
    pub(crate) to: Option<String>,
    pub(crate) commits: Vec<String>,
    pub(crate) commits_more: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_come_back_from_both_forms() {
        let start = Start {
            dirty: vec![Dirty::new(b"a", ".M", (1, u64::MAX))],
            dirty_rest: Start::pack(&[(2, 3), (u64::MAX, 4)]),
            ..Start::default()
        };
        let line = line("start", Some("x"), &start);
        let read: Start = serde_json::from_slice(&line).expect("our own line");
        let expected = [(1, u64::MAX), (2, 3), (u64::MAX, 4)].into();
        assert_eq!(read.prints(), expected);
    }
}
