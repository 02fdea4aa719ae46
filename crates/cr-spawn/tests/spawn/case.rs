//! A run to look at.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::bins;

/// A run that goes on for longer than this hangs.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) const INIT: &str = r#"{"type":"system","subtype":"init","session_id":"s"}"#;
pub(crate) const CALL: &str = r#"{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"sleep 300"}}]}}"#;
pub(crate) const RESULT: &str =
    r#"{"duration_ms":5,"is_error":false,"type":"result","subtype":"success","result":"done"}"#;

/// A run in the making.
pub(crate) struct Case {
    pub(crate) dir: TempDir,
    pub(crate) command: Command,
    pub(crate) tag: String,
}

/// A run that goes on.
pub(crate) struct Running {
    pub(crate) dir: TempDir,
    pub(crate) tag: String,
    pub(crate) child: Child,
    pub(crate) out: Option<BufReader<ChildStdout>>,
    pub(crate) lines: Vec<String>,
    what: String,
    cleaner: Cleaner,
}

/// A run that is over.
pub(crate) struct Done {
    pub(crate) dir: TempDir,
    pub(crate) tag: String,
    pub(crate) lines: Vec<String>,
    pub(crate) status: ExitStatus,
    pub(crate) stderr: String,
    _cleaner: Cleaner,
}

impl Case {
    /// An agent that plays `lines` with `fault`.
    pub(crate) fn playing(lines: &[&str], fault: &str) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let dir = tempfile::tempdir().expect("a directory");
        let tag = format!(
            "{}-{}",
            std::process::id(),
            NUMBER.fetch_add(1, Ordering::Relaxed)
        );
        let recording = dir.path().join("recording.ndjson");
        let text: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
        fs::write(&recording, text).expect("write the recording");
        let mut command = Command::new(bins::spawn());
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", dir.path())
            .env("CR_STATE_DIR", dir.path().join("state"))
            .env("CR_CLAUDE", bins::replay())
            .env("CR_REPLAY", &recording)
            .env("CR_REPLAY_SPEED", "instant")
            .env("CR_REPLAY_FAULT", fault)
            .env("CR_TEST_TAG", &tag)
            .current_dir(dir.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Self { dir, command, tag }
    }

    /// An agent that is a shell script.
    pub(crate) fn script(text: &str) -> Self {
        let mut case = Self::playing(&[], "");
        let path = case.write_script("agent", text);
        case.command.env("CR_CLAUDE", path);
        case
    }

    pub(crate) fn write_script(&self, name: &str, text: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = self.dir.path().join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("write the script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("chmod");
        path
    }

    pub(crate) fn args(mut self, args: &[&str]) -> Self {
        self.command.args(args);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Starts it, with a prompt.
    pub(crate) fn start(self) -> Running {
        self.start_with(b"what to do")
    }

    pub(crate) fn start_with(mut self, prompt: &[u8]) -> Running {
        let mut child = self.command.spawn().expect("start cr-spawn");
        if let Some(mut stdin) = child.stdin.take() {
            // A run that is refused does not read it.
            let _ = stdin.write_all(prompt);
        }
        let out = child.stdout.take().map(BufReader::new);
        Running {
            dir: self.dir,
            cleaner: Cleaner(self.tag.clone()),
            tag: self.tag,
            child,
            out,
            lines: Vec::new(),
            what: String::new(),
        }
    }

    /// Runs it to its end.
    pub(crate) fn run(self) -> Done {
        self.start().finish()
    }
}

impl Running {
    pub(crate) fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).expect("a pid")
    }

    /// The guardian's pid, from the first line.
    pub(crate) fn guardian(&mut self) -> i32 {
        self.number("guardian_pid")
    }

    pub(crate) fn agent(&mut self) -> i32 {
        self.number("agent_pid")
    }

    fn number(&mut self, key: &str) -> i32 {
        self.wait_for("cr/start");
        let start: Value = serde_json::from_str(&self.lines[0]).expect("JSON");
        i32::try_from(start[key].as_i64().expect("a number")).expect("a pid")
    }

    /// Reads until a line of this kind came.
    pub(crate) fn wait_for(&mut self, kind: &str) -> Value {
        if let Some(line) = self.lines.iter().find(|line| kind_of(line) == kind) {
            return serde_json::from_str(line).expect("JSON");
        }
        loop {
            let line = self
                .next()
                .unwrap_or_else(|| panic!("no {kind} in {:#?}", self.lines));
            if kind_of(&line) == kind {
                return serde_json::from_str(&line).expect("JSON");
            }
        }
    }

    fn next(&mut self) -> Option<String> {
        let out = self.out.as_mut().expect("a reader");
        if out.buffer().is_empty() {
            assert!(
                readable(out.get_ref(), PATIENCE),
                "it hangs: {} {:#?}",
                self.what,
                self.lines
            );
        }
        let mut line = String::new();
        out.read_line(&mut line).expect("read");
        if line.is_empty() {
            return None;
        }
        self.lines.push(line.trim_end().to_owned());
        self.lines.last().cloned()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(self.pid(), signal);
    }

    /// Nobody reads any more.
    pub(crate) fn leave(&mut self) {
        self.out = None;
    }

    /// Reads to the end.
    pub(crate) fn finish(self) -> Done {
        self.finish_or("a run")
    }

    /// Reads to the end; `what` is said of a run that has none.
    pub(crate) fn finish_or(mut self, what: &str) -> Done {
        what.clone_into(&mut self.what);
        if self.out.is_some() {
            while self.next().is_some() {}
        }
        self.wait()
    }

    /// Waits for the end without reading.
    pub(crate) fn wait(mut self) -> Done {
        let pid = Pid::from_child(&self.child);
        let gone = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty());
        assert!(
            readable(&gone.expect("a pidfd"), PATIENCE),
            "it does not end"
        );
        let status = self.child.wait().expect("wait");
        let mut stderr = String::new();
        if let Some(mut pipe) = self.child.stderr.take() {
            let mut bytes = Vec::new();
            pipe.read_to_end(&mut bytes).expect("read stderr");
            stderr = String::from_utf8_lossy(&bytes).into_owned();
        }
        Done {
            dir: self.dir,
            tag: self.tag,
            lines: self.lines,
            status,
            stderr,
            _cleaner: self.cleaner,
        }
    }
}

impl Done {
    pub(crate) fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// All lines of a kind.
    pub(crate) fn all(&self, kind: &str) -> Vec<Value> {
        let lines = self.lines.iter().filter(|line| kind_of(line) == kind);
        lines
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect()
    }

    /// The last line, which must be the only `cr/exit`, after a first line that
    /// must be `cr/start`.
    pub(crate) fn exit(&self) -> Value {
        let exits = self.all("cr/exit");
        assert_eq!(exits.len(), 1, "{:#?}\n{}", self.lines, self.stderr);
        assert_eq!(
            self.lines.first().map(|line| kind_of(line)).as_deref(),
            Some("cr/start")
        );
        assert_eq!(
            self.lines.last().map(|line| kind_of(line)).as_deref(),
            Some("cr/exit")
        );
        exits.into_iter().next().expect("one")
    }

    /// The agent's lines, without ours.
    pub(crate) fn agents(&self) -> Vec<&str> {
        let lines = self.lines.iter().map(String::as_str);
        lines
            .filter(|line| !kind_of(line).starts_with("cr/"))
            .collect()
    }

    /// The run's directory.
    pub(crate) fn run_dir(&self) -> PathBuf {
        run_dirs(self.dir.path())
            .into_iter()
            .next()
            .expect("a run directory")
    }

    /// What the run's directory says of its end.
    pub(crate) fn record(&self) -> Value {
        let text = fs::read(self.run_dir().join("exit.json")).expect("exit.json");
        serde_json::from_slice(&text).expect("JSON")
    }

    /// Fails unless nobody is left soon.
    pub(crate) fn wait_until_nobody_is_left(&self) {
        until("nobody is left", || tagged(&self.tag).is_empty());
    }

    /// Fails unless nobody is left.
    pub(crate) fn assert_nobody_left(&self, what: &str) {
        let left = tagged(&self.tag);
        assert!(left.is_empty(), "{what}: {left:?}");
    }
}

/// A test that failed leaves nobody behind either. It goes with the run to its
/// end, so that it never hides a survivor.
struct Cleaner(String);

impl Drop for Cleaner {
    fn drop(&mut self) {
        for (pid, _) in tagged(&self.0) {
            kill(pid, Signal::KILL);
        }
    }
}

pub(crate) fn run_dirs(dir: &Path) -> Vec<PathBuf> {
    let runs = fs::read_dir(dir.join("state/runs")).into_iter().flatten();
    runs.map(|entry| entry.expect("an entry").path()).collect()
}

/// `type`, or `type/subtype` for lines of ours.
pub(crate) fn kind_of(line: &str) -> String {
    let Ok(value) = serde_json::from_str::<Value>(line) else {
        return "no JSON".to_owned();
    };
    let kind = value["type"].as_str().unwrap_or_default();
    match (kind, value["subtype"].as_str()) {
        ("cr", Some(subtype)) => format!("cr/{subtype}"),
        _ => kind.to_owned(),
    }
}

/// Every living process with the tag in its environment, and its command.
pub(crate) fn tagged(tag: &str) -> Vec<(i32, String)> {
    let needle = format!("CR_TEST_TAG={tag}\0");
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").expect("/proc").flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse::<i32>().ok())
        else {
            continue;
        };
        let environ = fs::read(entry.path().join("environ")).unwrap_or_default();
        let has = environ
            .windows(needle.len())
            .any(|part| part == needle.as_bytes());
        // A dead one has no environment, so whoever has one lives.
        if has {
            let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            found.push((pid, String::from_utf8_lossy(&command).replace('\0', " ")));
        }
    }
    found
}

/// Polls for what nothing announces.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < end, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

pub(crate) fn kill(pid: i32, signal: Signal) {
    let _ = kill_process(Pid::from_raw(pid).expect("a pid"), signal);
}

pub(crate) fn is_alive(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ")
        .next()
        .is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}

fn readable(fd: &impl AsFd, limit: Duration) -> bool {
    let limit = Timespec::try_from(limit).expect("a timeout");
    let mut fds = [PollFd::new(fd, PollFlags::IN)];
    loop {
        match poll(&mut fds, Some(&limit)) {
            Ok(ready) => return ready > 0,
            Err(rustix::io::Errno::INTR) => {}
            Err(err) => panic!("poll: {err}"),
        }
    }
}
