//! Runs cr-spawn at the far end, and ends it when the near end is gone.

use std::fs::File;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use cr_io::{Exit, Line, Lines, find_tool};
use cr_rundir::file;
use cr_signal::{ControlMessage, ControlSender, SIGTERM, Signals};
use cr_stream::Finder;

use super::attempt::{Attempt, PART};
use super::link::{Link, Sender, Taken};
use crate::frame::Kind;
use crate::message::{Hello, Start, Stop, decode};
use crate::tail::Tail;

/// The descriptor under which cr-spawn has its control channel.
const CONTROL_FD: i32 = 3;

/// The signals that reach cr-spawn through it, and not directly.
const PASSED_ON: [i32; 4] = [1, 2, 3, SIGTERM];

/// How often the lease and the signals are looked at.
const TICK: Duration = Duration::from_millis(20);

/// How long cr-spawn may take to end beyond the agent's grace.
const END_LIMIT: Duration = Duration::from_secs(8);

/// How long cr-spawn may take to exit once its output has ended.
const EXIT_LIMIT: Duration = Duration::from_secs(2);

/// Runs the agent to its end. Afterwards no process of it is left.
pub(crate) fn run(
    attempt: &Attempt,
    hello: &Hello,
    start: &Start,
    link: &Link,
    signals: &mut Signals,
) -> anyhow::Result<()> {
    let (control, reader) = ControlSender::pair()?;
    let mut command = command(attempt, hello, start)?;
    cr_sys::with_ignored_signals_and_fd(&mut command, &PASSED_ON, reader.into(), CONTROL_FD);
    let program = command.get_program().to_owned();
    let mut child = command.spawn().map_err(|err| {
        let text = format!("{}: {err}", program.display());
        anyhow!(text).context(Exit::NotFound)
    })?;
    // The command holds our copy of the reading end.
    drop(command);
    let stderr = child.stderr.take().map(Tail::of).transpose()?;
    let stdout = child.stdout.take().context("no standard output")?;
    let ended = read_on_thread(stdout, link.sender())?;
    let mut supervision = Supervision {
        control,
        link,
        is_stopping: None,
        limit: Duration::from_millis(start.grace_ms) + END_LIMIT,
    };
    supervision.wait(&ended, signals);
    let code = end(&mut child);
    attempt.note_code(code)?;
    if attempt.run_dir().join(file::EXIT).exists() {
        return Ok(());
    }
    // It refused to begin, and its message is the only record.
    let why = stderr.and_then(|tail| tail.last_line());
    let why = why.unwrap_or_else(|| format!("cr-spawn ended with code {code}"));
    Err(anyhow!(why).context(match code {
        126 => Exit::CannotExec,
        127 => Exit::NotFound,
        _ => Exit::Tool,
    }))
}

fn command(attempt: &Attempt, hello: &Hello, start: &Start) -> anyhow::Result<Command> {
    let mut command = Command::new(find_tool("cr-spawn"));
    let cwd = attempt.work_dir().join(&start.prefix);
    command.arg("--control-fd").arg(CONTROL_FD.to_string());
    command.arg("--run-dir").arg(attempt.run_dir());
    command.arg("--cwd").arg(cwd);
    if start.system_prompt.is_some() {
        command
            .arg("--system-prompt-file")
            .arg(attempt.system_prompt());
    }
    command.args(&start.options);
    command.envs(start.env.iter().map(|(name, value)| (name, value)));
    command.env("CR_RUN_ID", &hello.run_id);
    command
        .stdin(File::open(attempt.prompt())?)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Ok(command)
}

/// Ends what is left, and returns the code of cr-spawn.
fn end(child: &mut Child) -> u8 {
    // It has closed its output, so it is about to exit; if not, it is killed.
    let until = Instant::now() + EXIT_LIMIT;
    let status = loop {
        match child.try_wait() {
            Ok(None) if Instant::now() < until => thread::sleep(Duration::from_millis(1)),
            Ok(status) => break status,
            // The sweep has reaped it.
            Err(_) => break None,
        }
    };
    cr_proc::sweep(Duration::ZERO, |_, _| ());
    let signal = status.and_then(|status| status.signal());
    let number = status.and_then(|status| status.code());
    let number = number.or(signal.map(|signal| 128 + signal));
    number.map_or(Exit::Tool.code(), |number| {
        u8::try_from(number).unwrap_or(u8::MAX)
    })
}

struct Supervision<'a> {
    control: ControlSender,
    link: &'a Link,
    is_stopping: Option<Instant>,
    limit: Duration,
}

impl Supervision<'_> {
    /// Waits for the end of cr-spawn's output: no process of the agent is left
    /// then. Passes on what asks it to stop.
    fn wait(&mut self, ended: &Receiver<()>, signals: &mut Signals) {
        let mut is_open = true;
        while ended.try_recv() == Err(TryRecvError::Empty) {
            if is_open {
                is_open = self.take_frame();
            } else {
                thread::sleep(TICK);
            }
            for number in signals.numbers() {
                self.stop(number);
            }
            if self.is_stopping.is_none() && (!is_open || self.link.is_lost()) {
                // Nobody reads any more, and the agent must not wait for that.
                self.link.cut();
                self.stop(SIGTERM);
            }
            if self
                .is_stopping
                .is_some_and(|since| since.elapsed() > self.limit)
            {
                cr_proc::sweep(Duration::ZERO, |_, _| ());
                self.link.cut();
                return;
            }
        }
    }

    /// Takes a frame, if one comes soon; returns whether more can come.
    fn take_frame(&mut self) -> bool {
        match self.link.take(TICK) {
            Taken::Frame(frame) if frame.kind == Kind::Stop => {
                let stop: Stop = decode(&frame.bytes).unwrap_or_default();
                let is_known = PASSED_ON.contains(&stop.signal);
                self.stop(if is_known { stop.signal } else { SIGTERM });
                true
            }
            Taken::Ended => false,
            Taken::Frame(_) | Taken::Nothing => true,
        }
    }

    fn stop(&mut self, number: i32) {
        self.is_stopping.get_or_insert_with(Instant::now);
        // One that has ended needs no message.
        let _ = self.control.send(ControlMessage::Signal(number));
    }
}

/// Passes the lines of cr-spawn on, on a thread; the receiver is told the end.
fn read_on_thread(
    stdout: impl Read + Send + 'static,
    sender: Sender,
) -> anyhow::Result<Receiver<()>> {
    let (end, ended) = mpsc::channel();
    thread::Builder::new().spawn(move || {
        let mut outlet = Outlet::new(sender);
        let mut lines = Lines::new(stdout).limit(usize::MAX >> 1);
        loop {
            match lines.next() {
                Ok(Some(Line::Whole(line) | Line::Torn(line))) => outlet.line(line),
                Ok(Some(Line::Long(_))) => {
                    if let Ok(Some(Line::Whole(line) | Line::Torn(line))) = lines.whole() {
                        outlet.line(line);
                    }
                }
                Ok(None) | Err(_) => break,
            }
            if lines.is_drained() {
                outlet.flush();
            }
        }
        outlet.flush();
        let _ = end.send(());
    })?;
    Ok(ended)
}

/// Sends lines in frames: our own apart from the agent's. `cr/exit` is held back;
/// it is sent when the work has been.
pub(crate) struct Outlet {
    sender: Sender,
    finder: Finder,
    kind: Kind,
    waiting: Vec<u8>,
}

impl Outlet {
    pub(crate) fn new(sender: Sender) -> Self {
        Self {
            sender,
            finder: Finder::new(),
            kind: Kind::Lines,
            waiting: Vec::new(),
        }
    }

    pub(crate) fn line(&mut self, line: &[u8]) {
        let kind = match self.finder.find(line) {
            Some(_) if self.finder.is_exit(line) => return,
            Some(_) => Kind::Own,
            None => Kind::Lines,
        };
        if kind != self.kind || self.waiting.len() + line.len() > PART {
            self.flush();
        }
        self.kind = kind;
        self.waiting.extend_from_slice(line);
        self.waiting.push(b'\n');
    }

    pub(crate) fn flush(&mut self) {
        if !self.waiting.is_empty() {
            let lines = std::mem::take(&mut self.waiting);
            self.sender.send(self.kind, lines);
        }
    }
}
