//! The agent's program: where it is, and which version.

use std::env;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cr_rundir::{RunDir, StateDir};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};
use serde::{Deserialize, Serialize};

/// How long the program may take to print its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(5);

/// Why a program cannot be run.
#[derive(Debug)]
pub enum Missing {
    /// No program has that name.
    NotFound,
    /// It exists and is not executable.
    CannotRun(&'static str),
}

/// The version that the program printed.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub struct Version {
    /// `2.1.326`, if it printed a version.
    pub number: Option<String>,
    /// Whether it is the real CLI, and not a stand-in.
    pub is_claude: bool,
}

#[derive(Debug, Deserialize, Serialize)]
struct CachedVersion {
    path: PathBuf,
    size: u64,
    mtime: i64,
    mtime_nsec: i64,
    version: Version,
}

/// Finds `name` as a shell does: as a path if it has a slash, else in PATH.
pub fn find_program(name: &Path) -> Result<PathBuf, Missing> {
    if name.as_os_str().as_encoded_bytes().contains(&b'/') {
        let path = std::path::absolute(name).unwrap_or_else(|_| name.to_owned());
        return check(&path).map(|()| path);
    }
    let mut worst = Missing::NotFound;
    let path = env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    for dir in env::split_paths(&path) {
        let dir = if dir.as_os_str().is_empty() {
            Path::new(".")
        } else {
            &dir
        };
        let Ok(path) = std::path::absolute(dir.join(name)) else {
            continue;
        };
        match check(&path) {
            Ok(()) => return Ok(path),
            Err(Missing::NotFound) => {}
            Err(missing) => worst = missing,
        }
    }
    Err(worst)
}

fn check(path: &Path) -> Result<(), Missing> {
    let meta = fs::metadata(path).map_err(|_| Missing::NotFound)?;
    if meta.is_dir() {
        return Err(Missing::CannotRun("is a directory"));
    }
    if meta.permissions().mode() & 0o111 == 0 {
        return Err(Missing::CannotRun("is not executable"));
    }
    Ok(())
}

/// The version of the program at `path`, from the cache or from the program. The
/// wrapper of a sandbox has the version of the program that it runs.
pub fn program_version(path: &Path, state: Option<&StateDir>) -> Version {
    let program = cr_sandbox::program_of(path);
    let path = program.as_deref().unwrap_or(path);
    if !can_be_asked(path) {
        return Version::default();
    }
    let cache = state.and_then(|state| {
        let dir = state.open_part("cache").ok()?;
        Some(RunDir::from_fd(dir, state.path().join("cache")))
    });
    let Ok(meta) = fs::metadata(path) else {
        return Version::default();
    };
    let is_same = |known: &CachedVersion| {
        known.path == path
            && known.size == meta.size()
            && (known.mtime, known.mtime_nsec) == (meta.mtime(), meta.mtime_nsec())
    };
    let file = cache
        .as_ref()
        .map(|cache| cache.path().join("versions.json"));
    let mut known: Vec<CachedVersion> = file
        .and_then(|file| fs::read(file).ok())
        .and_then(|text| serde_json::from_slice(&text).ok())
        .unwrap_or_default();
    // The version of a stand-in depends on its recording.
    if let Some(known) = known
        .iter()
        .find(|known| is_same(known) && known.version.is_claude)
    {
        return known.version.clone();
    }
    let version = ask(path);
    if let (Some(cache), true) = (cache, version.is_claude) {
        known.retain(|known| known.path != path);
        known.truncate(20);
        known.push(CachedVersion {
            path: path.to_owned(),
            size: meta.size(),
            mtime: meta.mtime(),
            mtime_nsec: meta.mtime_nsec(),
            version: version.clone(),
        });
        // Without a cache the program is asked again.
        let _ = serde_json::to_vec(&known).map(|text| cache.write("versions.json", &text));
    }
    version
}

/// Whether it is safe to run the program for its version. A script may be a
/// wrapper that ignores its arguments, and it would do its work twice.
fn can_be_asked(path: &Path) -> bool {
    let mut head = [0; 128];
    let Ok(length) = File::open(path).and_then(|mut file| file.read(&mut head)) else {
        return false;
    };
    let head = &head[..length];
    if !head.starts_with(b"#!") {
        return head.starts_with(b"\x7FELF");
    }
    let first = head.split(|&b| b == b'\n').next().unwrap_or_default();
    let mut words = first.split(|b| b" \t/".contains(b));
    words.any(|word| word == b"node" || word == b"bun")
}

fn ask(path: &Path) -> Version {
    let mut command = Command::new(path);
    command
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    cr_sys::in_own_session(&mut command, Some(Signal::KILL));
    let Ok(mut child) = command.spawn() else {
        return Version::default();
    };
    let group = Pid::from_child(&child);
    let mut text = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        read_for(stdout, &mut text, VERSION_TIMEOUT);
    }
    let _ = kill_process_group(group, Signal::KILL);
    let _ = child.wait();
    parse(&String::from_utf8_lossy(&text))
}

/// Reads until the end or until `limit` has passed.
fn read_for(mut from: impl Read + std::os::fd::AsFd, text: &mut Vec<u8>, limit: Duration) {
    let until = Instant::now() + limit;
    let mut buf = [0; 1024];
    while text.len() < 4096 {
        let left = until.saturating_duration_since(Instant::now());
        if !readable(&from, left) {
            return;
        }
        match from.read(&mut buf) {
            Ok(0) | Err(_) => return,
            Ok(n) => text.extend_from_slice(&buf[..n]),
        }
    }
}

/// Waits until something can be read, for at most `limit`.
fn readable(fd: &impl std::os::fd::AsFd, limit: Duration) -> bool {
    let mut fds = [PollFd::new(fd, PollFlags::IN)];
    let limit = Timespec::try_from(limit).unwrap_or_default();
    matches!(poll(&mut fds, Some(&limit)), Ok(ready) if ready > 0)
}

fn parse(text: &str) -> Version {
    let number = text.split_whitespace().next().unwrap_or_default();
    let parts = number
        .split('.')
        .filter(|part| part.parse::<u32>().is_ok())
        .count();
    let is_number = parts >= 3;
    Version {
        number: is_number.then(|| number.to_owned()),
        is_claude: is_number && text.contains("Claude Code"),
    }
}

impl Version {
    /// Whether it is known to be older than `other`.
    pub fn is_before(&self, other: &str) -> bool {
        let parts =
            |text: &str| -> Vec<u32> { text.split('.').filter_map(|p| p.parse().ok()).collect() };
        self.number
            .as_ref()
            .is_some_and(|number| parts(number) < parts(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_compared() {
        let version = parse("2.1.326 (Claude Code)\n");
        assert_eq!(version.number.as_deref(), Some("2.1.326"));
        assert!(version.is_claude);
        assert!(version.is_before("2.1.1000") && !version.is_before("2.1.197"));
        assert_eq!(parse("hello world"), Version::default());
        assert!(!parse("2.1.326 (cr-replay)").is_claude);
        assert!(!Version::default().is_before("9.9.9"));
    }
}
