//! The user's command that makes a summary of a handoff.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use cr_io::{Redactor, show_duration};
use rustix::process::{Pid, Signal, kill_process_group};

/// How often a command that closed its output is asked whether it has ended.
const END_CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// Why it failed; nothing if its time is over.
type Failure = Option<String>;

/// Runs `command` with `input` as its standard input; returns what it writes, in
/// at most `limit` bytes, or why that cannot be used.
pub(crate) fn run(
    command: &str,
    input: &str,
    limit: usize,
    timeout: Duration,
) -> Result<String, String> {
    let mut child = start(command).map_err(|err| err.to_string())?;
    let deadline = Instant::now() + timeout;
    let done = read(&mut child, input, limit, deadline);
    let ended = done.and_then(|text| ended(&mut child, deadline).map(|()| text));
    // Also what it left in the background.
    stop(&mut child);
    let bytes = ended.map_err(|err| {
        err.unwrap_or_else(|| format!("it took longer than {}", show_duration(timeout)))
    })?;
    let text = Redactor::from_env()
        .redact(&String::from_utf8_lossy(&bytes))
        .trim()
        .to_owned();
    if text.is_empty() {
        return Err("it wrote nothing".to_owned());
    }
    let end = text.floor_char_boundary(limit);
    Ok(text[..end].to_owned())
}

fn start(command: &str) -> io::Result<Child> {
    // A group of its own, which can be ended as a whole.
    Command::new("/bin/sh")
        .args(["-c", command])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
}

/// Writes its input and reads its output. Of an output that is too long, the rest
/// is read and dropped.
fn read(
    child: &mut Child,
    input: &str,
    limit: usize,
    deadline: Instant,
) -> Result<Vec<u8>, Failure> {
    let (Some(mut stdin), Some(mut stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(Some("it has no streams".to_owned()));
    };
    let input = input.to_owned();
    // A command that does not read its input is no failure.
    thread::spawn(move || stdin.write_all(input.as_bytes()));
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(4);
        let read = stdout.by_ref().take(most).read_to_end(&mut bytes);
        let read = read.and_then(|_| io::copy(&mut stdout, &mut io::sink()));
        // Nobody waits any longer for one that came too late.
        let _ = sender.send(read.map(|_| bytes));
    });
    let left = deadline.saturating_duration_since(Instant::now());
    match receiver.recv_timeout(left) {
        Ok(read) => read.map_err(|err| Some(err.to_string())),
        Err(_) => Err(None),
    }
}

/// Waits until it has ended, and well.
fn ended(child: &mut Child, deadline: Instant) -> Result<(), Failure> {
    loop {
        match child.try_wait().map_err(|err| Some(err.to_string()))? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(Some(format!("it ended with {status}"))),
            None if Instant::now() >= deadline => return Err(None),
            None => thread::sleep(END_CHECK_INTERVAL),
        }
    }
}

/// Ends the command and its children.
fn stop(child: &mut Child) {
    let group = Pid::from_child(child);
    // It may have ended already.
    let _ = kill_process_group(group, Signal::KILL);
    let _ = child.wait();
}
