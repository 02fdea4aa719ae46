//! The logs below directories.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use cr_io::{Exit, uncompressed_name};

/// The directory of a session that has the logs of its subagents.
const SUBAGENTS: &str = "subagents";
/// How the name of a subagent's log begins.
const AGENT: &str = "agent-";

/// A log on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFile {
    /// Its path.
    pub path: PathBuf,
    /// Its length in bytes, compressed where it is.
    pub len: u64,
    /// When it was written last, in nanoseconds since 1970.
    pub mtime_ns: i64,
    /// The number of the file in its file system: another file of the same name
    /// has another one.
    pub inode: u64,
    /// The log of a subagent.
    pub is_subagent: bool,
    /// The subagent, by the name of the file.
    pub agent_id: Option<String>,
    /// The session, by the path: of a subagent the one that called it, where the
    /// path says which.
    pub session_id: Option<String>,
}

/// The logs below `dirs`, `*.jsonl` and `*.jsonl.gz`, sorted by path and each
/// once; a file is taken by any name. Links to directories are not followed.
pub fn find_logs(dirs: &[PathBuf]) -> anyhow::Result<Vec<LogFile>> {
    let (found, failures) = find_readable_logs(dirs)?;
    match failures.into_iter().next() {
        Some(failure) => Err(failure),
        None => Ok(found),
    }
}

/// The same, and what cannot be read below `dirs`.
pub fn find_readable_logs(dirs: &[PathBuf]) -> anyhow::Result<(Vec<LogFile>, Vec<anyhow::Error>)> {
    let (mut found, mut failures) = (Vec::new(), Vec::new());
    for dir in dirs {
        let metadata = fs::metadata(dir)
            .with_context(|| dir.display().to_string())
            .context(Exit::NoInput)?;
        if metadata.is_dir() {
            walk(dir, &mut found, &mut failures);
        } else if metadata.is_file() {
            found.push(log_file(dir.clone(), &metadata));
        } else {
            // A pipe could make it wait for ever.
            let err = anyhow!("not a directory and not a file").context(dir.display().to_string());
            return Err(err.context(Exit::NoInput));
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found.dedup_by(|a, b| a.path == b.path);
    Ok((found, failures))
}

fn walk(dir: &Path, found: &mut Vec<LogFile>, failures: &mut Vec<anyhow::Error>) {
    if let Err(err) = walk_one(dir, found, failures) {
        failures.push(failure(dir, err));
    }
}

fn failure(path: &Path, err: io::Error) -> anyhow::Error {
    let err = anyhow::Error::new(err).context(path.display().to_string());
    err.context(Exit::NoInput)
}

fn walk_one(
    dir: &Path,
    found: &mut Vec<LogFile>,
    failures: &mut Vec<anyhow::Error>,
) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            walk(&path, found, failures);
        } else if uncompressed_name(&path)
            .extension()
            .is_some_and(|extension| extension == "jsonl")
        {
            match fs::metadata(&path) {
                Ok(metadata) if metadata.is_file() => found.push(log_file(path, &metadata)),
                // A pipe would never end.
                Ok(_) => {}
                // The CLI removes old logs.
                Err(err) if err.kind() == io::ErrorKind::NotFound => {}
                Err(err) => failures.push(failure(&path, err)),
            }
        }
    }
    Ok(())
}

fn log_file(path: PathBuf, metadata: &Metadata) -> LogFile {
    let plain = uncompressed_name(&path);
    let name = plain.file_stem().unwrap_or_default().to_string_lossy();
    let agent_id = name.strip_prefix(AGENT).map(str::to_owned);
    let mut folders = plain.ancestors().skip(1);
    let subagents = folders.find(|folder| folder.file_name().is_some_and(|n| n == SUBAGENTS));
    let caller = subagents.and_then(|folder| folder.parent()?.file_name());
    let caller = caller.map(|name| name.to_string_lossy().into_owned());
    let is_subagent = agent_id.is_some() || subagents.is_some();
    LogFile {
        len: metadata.len(),
        mtime_ns: metadata
            .mtime()
            .saturating_mul(1_000_000_000)
            .saturating_add(metadata.mtime_nsec()),
        inode: metadata.ino(),
        is_subagent,
        session_id: caller.or_else(|| (!is_subagent).then(|| name.clone().into_owned())),
        agent_id: agent_id.or_else(|| is_subagent.then(|| name.clone().into_owned())),
        path,
    }
}
