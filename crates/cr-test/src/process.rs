//! The process table, as far as a test looks at it.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};

/// A living process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its id.
    pub pid: u32,
    /// Its arguments, the program first.
    pub argv: Vec<String>,
}

impl Found {
    /// Its arguments with spaces between them.
    pub fn line(&self) -> String {
        self.argv.join(" ")
    }
}

/// The living processes with `variable` (`NAME=value`) in their environment, of
/// which `first` was the first. A dead one has no environment.
pub(crate) fn with_variable(variable: &str, first: u32) -> Vec<Found> {
    // Process ids grow until they begin anew; older ones need no look.
    let first = if last_pid() < first { 0 } else { first };
    let entries = fs::read_dir("/proc").expect("/proc").flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let pids = pids.filter(|&pid| pid >= first);
    let has_variable = |pid: &u32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let mut parts = environment.split(|&byte| byte == 0);
        parts.any(|part| part == variable.as_bytes())
    };
    pids.filter(has_variable).map(found).collect()
}

/// The id of the process that was started last, on this machine.
fn last_pid() -> u32 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let last = text.split_whitespace().nth(4);
    last.and_then(|last| last.parse().ok()).unwrap_or(0)
}

fn found(pid: u32) -> Found {
    let argv = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let argv = argv.strip_suffix(b"\0").unwrap_or(&argv);
    let argv = argv.split(|&byte| byte == 0);
    let argv = argv.map(|word| String::from_utf8_lossy(word).into_owned());
    Found {
        pid,
        argv: argv.collect(),
    }
}

/// The state letter of `/proc/PID/stat`; `None` if there is no such process.
pub fn state(pid: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit(") ").next()?.chars().next()
}

/// Whether the process is there and no zombie.
pub fn is_alive(pid: u32) -> bool {
    !matches!(state(pid), None | Some('Z' | 'X'))
}

/// Whether a signal has stopped the process.
pub fn is_stopped(pid: u32) -> bool {
    state(pid) == Some('T')
}

/// Sends `signal`; a process that is gone already gets none.
pub fn kill(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let _ = kill_process(pid.expect("a process id"), signal);
}

/// The signal called `name`, without `SIG`.
pub fn signal_named(name: &str) -> Signal {
    match name {
        "HUP" => Signal::HUP,
        "INT" => Signal::INT,
        "QUIT" => Signal::QUIT,
        "KILL" => Signal::KILL,
        "TERM" => Signal::TERM,
        "STOP" => Signal::STOP,
        "CONT" => Signal::CONT,
        "TSTP" => Signal::TSTP,
        "PIPE" => Signal::PIPE,
        "USR1" => Signal::USR1,
        _ => panic!("no signal called {name}"),
    }
}
