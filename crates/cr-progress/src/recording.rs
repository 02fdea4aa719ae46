//! The progress lines of a whole recording, for tools that show one.

use std::io::{Read, Write};

use cr_event::{Event, Kind, strip};
use cr_io::{Line, Lines, Out, Redactor, read_failure};

use crate::{Clock, Level, LineFormatter, ProgressLine, ProgressTracker, TimeSource};

/// How [`write_progress`] shows a recording.
#[derive(Clone, Copy, Debug)]
pub struct TextOptions {
    /// The lowest level that is shown.
    pub least: Level,
    /// Where the time of a line comes from.
    pub time: TimeSource,
    /// Whether labels are coloured.
    pub colour: bool,
}

/// Writes the progress lines of `input`, one JSON object a line, to `out`.
///
/// Everything is written before the next read: a reader of a growing file sees
/// each line as it comes.
pub fn write_progress(
    input: impl Read,
    out: impl Write,
    options: &TextOptions,
) -> anyhow::Result<()> {
    let mut text = Text {
        least: options.least,
        tracker: ProgressTracker::default(),
        formatter: LineFormatter {
            clock: Clock::new(options.time, false),
            redactor: Redactor::from_env(),
            width: usize::MAX,
            colour: options.colour,
            github: false,
        },
        out: Out::new(out),
    };
    let read = text.read(&mut Lines::new(input));
    let ended = text.end();
    read.and(ended)
}

struct Text<W> {
    least: Level,
    tracker: ProgressTracker,
    formatter: LineFormatter,
    out: Out<W>,
}

impl<W: Write> Text<W> {
    fn read(&mut self, lines: &mut Lines<impl Read>) -> anyhow::Result<()> {
        loop {
            // By far the most lines of a stream with partial messages.
            lines.skip(br#"{"type":"stream_event""#);
            if lines.is_drained() {
                self.out.flush()?;
            }
            match lines.next().map_err(read_failure)? {
                None => return Ok(()),
                Some(Line::Whole(line) | Line::Torn(line)) => self.line(line)?,
                Some(Line::Long(head)) => {
                    if !self.is_silent(head)
                        && let Some(line) = lines.whole().map_err(read_failure)?
                    {
                        let (Line::Whole(line) | Line::Torn(line) | Line::Long(line)) = line;
                        self.line(line)?;
                        continue;
                    }
                    lines.pass(|_| ()).map_err(read_failure)?;
                }
            }
        }
    }

    /// Whether a line with this head has no progress lines, whatever follows.
    fn is_silent(&mut self, head: &[u8]) -> bool {
        match Kind::of_head(head) {
            Some(Kind::StreamEvent | Kind::Other) => true,
            Some(Kind::User) if self.least > Level::Detail => self.tracker.is_silent_result(head),
            _ => false,
        }
    }

    fn line(&mut self, line: &[u8]) -> anyhow::Result<()> {
        if self.is_silent(line) {
            return Ok(());
        }
        let Ok(event) = Event::parse(strip(line)) else {
            return Ok(());
        };
        self.formatter.clock.see(event.at);
        let lines: Vec<ProgressLine> = self.tracker.lines(&event, &self.formatter.clock).collect();
        lines.iter().try_for_each(|line| self.show(line))
    }

    fn show(&mut self, line: &ProgressLine) -> anyhow::Result<()> {
        if line.level < self.least {
            return Ok(());
        }
        let line = self.formatter.line(line);
        self.out.line(line.as_bytes())
    }

    fn end(&mut self) -> anyhow::Result<()> {
        if let Some(line) = self.tracker.last_text() {
            self.show(&line)?;
        }
        self.out.flush()
    }
}
