//! The kernel's process table: one process, its children, its descendants.

use std::collections::HashMap;
use std::fs;
use std::io;

use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

/// Clock ticks a second in `/proc`; the kernel shows this number to everyone.
const TICKS: u64 = 100;

/// One process, as it was when it was read.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct Process {
    /// Its process id.
    pub pid: i32,
    /// Its name.
    pub comm: String,
    /// How long it has been alive.
    pub age_ms: u64,
    #[serde(skip)]
    parent: i32,
    #[serde(skip)]
    group: i32,
    #[serde(skip)]
    session: i32,
    #[serde(skip)]
    state: u8,
    /// Ticks after boot; with the pid it names a process for good.
    #[serde(skip)]
    start: u64,
}

impl Process {
    /// Looks at process `pid`.
    pub fn read(pid: i32) -> Option<Self> {
        let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
        Self::parse(&stat)
    }

    /// Reads a line of `/proc/PID/stat`. The name may hold anything, blanks and
    /// brackets included, so it ends at the last bracket.
    fn parse(stat: &[u8]) -> Option<Self> {
        let open = memchr_first(stat, b'(')?;
        let close = stat.iter().rposition(|&b| b == b')')?;
        let pid = std::str::from_utf8(&stat[..open]).ok()?.trim();
        let rest = std::str::from_utf8(stat.get(close + 1..)?).ok()?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        Some(Self {
            pid: pid.parse().ok()?,
            comm: String::from_utf8_lossy(&stat[open + 1..close]).into_owned(),
            age_ms: 0,
            state: *fields.first()?.as_bytes().first()?,
            parent: fields.get(1)?.parse().ok()?,
            group: fields.get(2)?.parse().ok()?,
            session: fields.get(3)?.parse().ok()?,
            start: fields.get(19)?.parse().ok()?,
        })
    }

    /// Looks at this process.
    pub fn own() -> Option<Self> {
        Self::read(getpid().as_raw_nonzero().get())
    }

    /// The id of its process group; 0 if that group is outside our namespace, a
    /// Its parent.
    pub fn parent(&self) -> i32 {
        self.parent
    }

    /// value that `getpgrp` of rustix does not allow.
    pub fn group(&self) -> i32 {
        self.group
    }

    /// Whether it leads its session. The session may be outside our namespace.
    pub fn leads_session(&self) -> bool {
        self.session == self.pid
    }

    /// Whether it is dead and not yet reaped.
    pub fn is_dead(&self) -> bool {
        matches!(self.state, b'Z' | b'X')
    }

    /// Whether a signal or a debugger has stopped it.
    pub fn is_stopped(&self) -> bool {
        matches!(self.state, b'T' | b't')
    }

    /// Sends it `signal`, unless the pid belongs to another process by now.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        let pid = Pid::from_raw(self.pid).ok_or(io::ErrorKind::InvalidInput)?;
        let handle = pidfd_open(pid, PidfdFlags::empty())?;
        let same = Self::read(self.pid).is_some_and(|now| now.start == self.start);
        if !same {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(pidfd_send_signal(&handle, signal)?)
    }
}

fn memchr_first(bytes: &[u8], byte: u8) -> Option<usize> {
    bytes.iter().position(|&b| b == byte)
}

/// Every living descendant of `root`, parents before their children.
pub fn descendants(root: i32) -> Vec<Process> {
    let mut found: Vec<Process> = Vec::new();
    let mut parents = vec![root];
    let mut everyone = None;
    while let Some(parent) = parents.pop() {
        let children = children(parent).unwrap_or_else(|| {
            let table = everyone.get_or_insert_with(by_parent);
            table.get(&parent).cloned().unwrap_or_default()
        });
        for pid in children {
            let Some(process) = Process::read(pid) else {
                continue;
            };
            // A descendant that moved up during the walk may be met twice.
            if process.is_dead() || found.iter().any(|seen| seen.pid == pid) {
                continue;
            }
            parents.push(pid);
            found.push(process);
        }
    }
    let now = uptime_ticks();
    for process in &mut found {
        process.age_ms = now.saturating_sub(process.start) * 1000 / TICKS;
    }
    found
}

/// The children of `parent`, the dead among them included.
pub(crate) fn children(parent: i32) -> Option<Vec<i32>> {
    let mut found = Vec::new();
    // The process may be gone, and its children reparented.
    let Ok(threads) = fs::read_dir(format!("/proc/{parent}/task")) else {
        return Some(found);
    };
    for thread in threads.flatten() {
        match fs::read_to_string(thread.path().join("children")) {
            Ok(text) => found.extend(
                text.split_ascii_whitespace()
                    .filter_map(|p| p.parse::<i32>().ok()),
            ),
            // A kernel without this file.
            Err(err) if err.kind() == io::ErrorKind::NotFound && thread.path().exists() => {
                return None;
            }
            Err(_) => {}
        }
    }
    Some(found)
}

/// The children of everyone, for kernels that do not list them.
fn by_parent() -> HashMap<i32, Vec<i32>> {
    let mut table: HashMap<i32, Vec<i32>> = HashMap::new();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    for process in pids.filter_map(Process::read) {
        table.entry(process.parent).or_default().push(process.pid);
    }
    table
}

fn uptime_ticks() -> u64 {
    let text = fs::read_to_string("/proc/uptime").unwrap_or_default();
    let (seconds, rest) = text.split_once('.').unwrap_or(("0", "0"));
    let seconds: u64 = seconds.parse().unwrap_or(0);
    let hundredths: u64 = rest.get(..2).and_then(|r| r.parse().ok()).unwrap_or(0);
    seconds * TICKS + hundredths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_and_blanks_is_read_whole() {
        let mut stat = b"42 (a) (b c) S 7".to_vec();
        stat.extend(b" 0".repeat(17));
        stat.extend(b" 990 0");
        let process = Process::parse(&stat).expect("a stat line");
        assert_eq!((process.pid, process.parent, process.start), (42, 7, 990));
        assert_eq!(process.comm, "a) (b c");
    }

    #[test]
    fn this_process_is_a_descendant_of_its_parent() {
        let parent = std::os::unix::process::parent_id();
        let me = i32::try_from(std::process::id()).expect("a pid");
        let family = descendants(i32::try_from(parent).expect("a pid"));
        assert!(family.iter().any(|process| process.pid == me));
    }
}
