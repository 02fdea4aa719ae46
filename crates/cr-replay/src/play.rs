//! Playing a recording.

use std::fs::File;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use cr_event::{Event, Kind, OWN_TYPE};
use cr_io::{Exit, Input, Line, Lines};
use cr_stream::OwnLine;
use jiff::Timestamp;

use crate::child;
use crate::fault::{Faults, HangPoint};

/// Longer than any run.
const FOR_EVER: Duration = Duration::from_secs(1 << 30);

/// How a recording is played.
#[derive(Clone, Debug)]
pub(crate) struct Player {
    /// The speed factor; infinity means no waiting.
    pub(crate) speed: f64,
    /// Play only the agent's lines and its end.
    pub(crate) as_agent: bool,
    /// Give each line the time at which it is played.
    pub(crate) now: bool,
    pub(crate) faults: Faults,
}

/// How the recorded agent ended.
#[derive(Clone, Copy, Debug, Default)]
struct End {
    code: Option<u8>,
    signal: Option<i32>,
}

/// Writes the lines, with the faults applied.
struct Stage {
    out: Option<File>,
    split: Option<usize>,
    buffer: Vec<u8>,
}

impl Player {
    /// Plays `input` to standard output.
    pub(crate) fn play(&self, input: &Input) -> anyhow::Result<Exit> {
        let place = |path: Option<&Path>| {
            path.map_or("standard input".to_owned(), |p| p.display().to_string())
        };
        let name = place(input.name());
        let mut lines = Lines::new(input.open()?);
        let mut stage = Stage::new(self.faults.split)?;
        self.prelude(&mut stage)?;
        let mut clock = Clock::new(self.speed);
        let (mut end, mut number) = (End::default(), 0_u64);
        let mut held: Option<Vec<u8>> = None;
        loop {
            let Some(mut line) = next_line(&mut lines, &name)? else {
                break;
            };
            let event = Event::parse(&line).ok();
            let own = event.as_ref().and_then(OwnLine::read);
            if let Some(own) = own.filter(|_| self.as_agent) {
                if let OwnLine::Exit(exit) = own {
                    end = End::of(&exit);
                }
                continue;
            }
            if let Some(held) = held.take() {
                self.line(&held, &mut number, &mut stage)?;
            }
            if let Some(wait) = event.as_ref().and_then(|event| clock.wait(event)) {
                // Flush only before a line that must wait.
                stage.flush()?;
                thread::sleep(wait);
            }
            let place = event.and_then(|event| place_in(&line, event.at?.bytes()));
            if let Some(place) = place.filter(|_| self.now) {
                line.splice(place, cr_stream::now().into_bytes());
            }
            held = Some(line);
        }
        if let Some(last) = held {
            self.last(&last, &mut number, &mut stage)?;
        }
        stage.flush()?;
        self.finish(end)
    }

    /// Plays the faults that come before the first line.
    fn prelude(&self, stage: &mut Stage) -> anyhow::Result<()> {
        let faults = &self.faults;
        if faults.ignore_term {
            child::ignore().context("ignore signals")?;
        }
        for kind in &faults.children {
            child::leave_behind(*kind).context("start a child")?;
        }
        if faults.stderr > 0 {
            let line = b"a line on standard error that says nothing of interest to anyone\n";
            flood(&line.repeat(1000), faults.stderr);
        }
        if faults.stderr_raw > 0 {
            flood(
                &(0..=255)
                    .filter(|b| *b != b'\n')
                    .collect::<Vec<u8>>()
                    .repeat(64),
                faults.stderr_raw,
            );
        }
        if faults.forge {
            let end = r#""subtype":"exit","reason":"exit","exit_code":0"#;
            let line = format!(r#"{{"type":"{OWN_TYPE}",{end}}}"#);
            stage.write(line.as_bytes(), true)?;
        }
        if faults.long > 0 {
            let mut line = br#"{"type":"x","text":""#.to_vec();
            line.resize(faults.long.max(line.len() + 2) - 2, b'x');
            line.extend(b"\"}");
            stage.write(&line, true)?;
        }
        Ok(())
    }

    fn line(&self, line: &[u8], number: &mut u64, stage: &mut Stage) -> anyhow::Result<()> {
        *number += 1;
        self.before(*number, stage)?;
        stage.write(line, true)?;
        self.after(line, *number, stage)
    }

    fn last(&self, line: &[u8], number: &mut u64, stage: &mut Stage) -> anyhow::Result<()> {
        if !self.faults.torn {
            return self.line(line, number, stage);
        }
        *number += 1;
        self.before(*number, stage)?;
        stage.write(&line[..line.len() / 2], false)
    }

    fn before(&self, number: u64, stage: &mut Stage) -> anyhow::Result<()> {
        if self.faults.hang == Some(HangPoint::Line(number)) {
            hang(stage)?;
        }
        if self.faults.close_stdout == Some(number) {
            stage.close()?;
        }
        Ok(())
    }

    fn after(&self, line: &[u8], number: u64, stage: &mut Stage) -> anyhow::Result<()> {
        if self
            .faults
            .noise
            .is_some_and(|every| number.is_multiple_of(every))
        {
            stage.write(b"this is no JSON", true)?;
        }
        let is_result = || Event::parse(line).is_ok_and(|event| event.kind == Kind::Result);
        if self.faults.hang == Some(HangPoint::Result) && is_result() {
            hang(stage)?;
        }
        Ok(())
    }

    fn finish(&self, end: End) -> anyhow::Result<Exit> {
        thread::sleep(self.faults.linger);
        if self.faults.hang == Some(HangPoint::End) {
            thread::sleep(FOR_EVER);
        }
        let asked = self.faults.exit.is_some() || self.faults.signal.is_some();
        let signal = self.faults.signal.or(end.signal.filter(|_| !asked));
        if let Some(signal) = signal {
            // Restore the default action: the Rust runtime ignores some signals.
            signal_hook::low_level::emulate_default_handler(signal).context("die by a signal")?;
        }
        Ok(Exit::Code(self.faults.exit.or(end.code).unwrap_or(0)))
    }
}

/// The next line of the recording called `name`.
fn next_line(lines: &mut Lines<impl Read>, name: &str) -> anyhow::Result<Option<Vec<u8>>> {
    let long = match lines.next().with_context(|| name.to_owned())? {
        None => return Ok(None),
        Some(Line::Whole(line) | Line::Torn(line)) => return Ok(Some(line.to_vec())),
        Some(Line::Long(_)) => lines.whole().with_context(|| name.to_owned())?,
    };
    match long {
        Some(Line::Whole(line) | Line::Torn(line) | Line::Long(line)) => Ok(Some(line.to_vec())),
        None => Err(anyhow!("{name}: a line is too long").context(Exit::Data)),
    }
}

/// Where `part`, which is borrowed from `line`, is in it.
fn place_in(line: &[u8], part: &[u8]) -> Option<Range<usize>> {
    let start = part.as_ptr().addr().checked_sub(line.as_ptr().addr())?;
    Some(start..start + part.len())
}

impl End {
    /// The recorded end.
    fn of(exit: &cr_stream::Exit<'_>) -> Self {
        Self {
            code: exit.exit_code.and_then(|code| u8::try_from(code).ok()),
            signal: exit.signal,
        }
    }
}

impl Stage {
    fn new(split: Option<usize>) -> anyhow::Result<Self> {
        use std::os::fd::AsFd;
        let out = io::stdout().as_fd().try_clone_to_owned()?;
        Ok(Self {
            out: Some(out.into()),
            split,
            buffer: Vec::new(),
        })
    }

    fn write(&mut self, line: &[u8], newline: bool) -> anyhow::Result<()> {
        self.buffer.extend_from_slice(line);
        if newline {
            self.buffer.push(b'\n');
        }
        if self.split.is_some() || self.buffer.len() > 64 << 10 {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> anyhow::Result<()> {
        if let Some(out) = &mut self.out {
            let size = self.split.unwrap_or(usize::MAX);
            for piece in self.buffer.chunks(size) {
                out.write_all(piece).map_err(|err| {
                    let exit = match err.kind() {
                        io::ErrorKind::BrokenPipe => Exit::Gone,
                        _ => Exit::Io,
                    };
                    anyhow::Error::from(err)
                        .context("write standard output")
                        .context(exit)
                })?;
            }
        }
        self.buffer.clear();
        Ok(())
    }

    /// Closes standard output for good.
    fn close(&mut self) -> anyhow::Result<()> {
        self.flush()?;
        self.out = None;
        let null = File::options().write(true).open("/dev/null")?;
        rustix::stdio::dup2_stdout(&null)?;
        Ok(())
    }
}

/// The recorded times, and the position in them.
struct Clock {
    speed: f64,
    last: Option<Timestamp>,
    due: Instant,
}

impl Clock {
    fn new(speed: f64) -> Self {
        Self {
            speed,
            last: None,
            due: Instant::now(),
        }
    }

    /// How long to wait before `event`.
    fn wait(&mut self, event: &Event<'_>) -> Option<Duration> {
        if self.speed.is_infinite() {
            return None;
        }
        let at: Timestamp = event.at?.decode().parse().ok()?;
        let gap = self
            .last
            .map_or(0.0, |last| at.duration_since(last).as_secs_f64());
        self.last = Some(self.last.map_or(at, |last| last.max(at)));
        self.due += Duration::from_secs_f64(gap.max(0.0) / self.speed);
        let wait = self.due.saturating_duration_since(Instant::now());
        (!wait.is_zero()).then_some(wait)
    }
}

/// Writes `bytes` of `pattern` to standard error, in large pieces.
fn flood(pattern: &[u8], bytes: usize) {
    let mut left = bytes;
    let mut stderr = io::stderr().lock();
    while left > 0 {
        let piece = &pattern[..pattern.len().min(left)];
        if stderr.write_all(piece).is_err() {
            return;
        }
        left -= piece.len();
    }
}

fn hang(stage: &mut Stage) -> anyhow::Result<()> {
    stage.flush()?;
    thread::sleep(FOR_EVER);
    Ok(())
}

/// Reads standard input to its end, as an agent reads its prompt.
pub(crate) fn take_prompt() {
    let _ = io::copy(&mut io::stdin().lock().take(1 << 30), &mut io::sink());
}
