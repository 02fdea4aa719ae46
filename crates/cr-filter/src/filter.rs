//! The loop: lines in, text out, and the stream itself with `--tee`.

use std::io::{self, IsTerminal, Read, Write};

use anyhow::Context;
use cr_event::{Documents, Event, Kind, strip};
use cr_io::{Exit, Line, Lines, MAX_LINE, Out, Redactor, inputs, read_failure};

use crate::args::{Args, Format};
use crate::clock::Clock;
use crate::github::Step;
use crate::narrate::Narrator;
use crate::note::{Note, Weight};
use crate::print::Printer;
use crate::rows::Rows;
use crate::sink::Sink;
use crate::stats::{Fate, Stats};

/// Runs the tool on the process's own streams.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let inputs = inputs(&args.files)?;
    let many = inputs.len() > 1;
    for input in inputs {
        let name = input.name().map(|path| path.display().to_string());
        let stream = input.open()?;
        let live = stream.is_live();
        let source = Source {
            name: name.filter(|_| many),
            live,
        };
        let exit = run_on(
            args,
            &source,
            stream,
            io::stdout().lock(),
            &mut io::stderr(),
        )?;
        if exit != Exit::Ok {
            return Ok(exit);
        }
    }
    Ok(Exit::Ok)
}

/// What is known of an input beside its bytes.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// Its name, where there are several.
    pub name: Option<String>,
    /// Whether lines arrive as they happen.
    pub live: bool,
}

/// Filters one stream; text that goes beside it is written to `notes`.
pub fn run_on(
    args: &Args,
    source: &Source,
    input: impl Read,
    out: impl Write,
    notes: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let mut filter = Filter::new(args, source, Out::new(out), notes)?;
    filter.header()?;
    let mut lines = Lines::new(input);
    // Whether a dropped line was a whole one shows in the statistics only.
    if args.stats {
        lines = lines.judged();
    }
    let read = filter.all(&mut lines);
    let ended = filter.end();
    if args.stats {
        let line = format!("cr-filter: {}\n", filter.stats);
        let _ = filter.notes.write_all(line.as_bytes());
    }
    read.and(ended)?;
    Ok(Exit::Ok)
}

struct Filter<'a, W> {
    args: &'a Args,
    source: &'a Source,
    out: Out<W>,
    sink: Sink,
    notes: &'a mut dyn Write,
    printer: Printer,
    documents: Documents,
    narrator: Narrator,
    rows: Rows,
    stats: Stats,
    step: Step,
    /// Bytes of text written so far.
    written: u64,
    /// Whether the line that says so was written.
    limited: bool,
    /// Whether a group is open in a workflow's log.
    grouped: bool,
}

impl<'a, W: Write> Filter<'a, W> {
    fn new(
        args: &'a Args,
        source: &'a Source,
        out: Out<W>,
        notes: &'a mut dyn Write,
    ) -> anyhow::Result<Self> {
        let sink = Sink::new(args.tee.as_deref())?;
        let redactor = if args.no_redact {
            Redactor::none()
        } else {
            Redactor::from_env()
        };
        let terminal = match sink {
            Sink::Main => io::stdout().is_terminal(),
            Sink::Notes(..) => io::stderr().is_terminal(),
            Sink::File(_) => false,
        };
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let printer = Printer {
            clock: Clock::new(args.time, source.live),
            redactor,
            width: args.width.unwrap_or(usize::MAX),
            colour: terminal && !plain && !dumb,
            github: args.format == Format::Github,
        };
        Ok(Self {
            args,
            source,
            out,
            sink,
            notes,
            printer,
            documents: Documents::new(MAX_LINE),
            narrator: Narrator::default(),
            rows: Rows::default(),
            stats: Stats::default(),
            step: Step::default(),
            written: 0,
            limited: false,
            grouped: false,
        })
    }

    /// Names the file, where there are several.
    fn header(&mut self) -> anyhow::Result<()> {
        match (&self.source.name, self.args.format) {
            (Some(name), Format::Text | Format::Github) => {
                let line = format!("==> {} <==", cr_io::sanitized(name));
                self.sink.line(&line, &mut self.out)
            }
            _ => Ok(()),
        }
    }

    fn all(&mut self, lines: &mut Lines<impl Read>) -> anyhow::Result<()> {
        loop {
            // By far the most lines of a stream with partial messages.
            if !self.sink.is_tee() {
                self.stats
                    .pass_over(lines.skip(br#"{"type":"stream_event""#));
            }
            if lines.is_drained() {
                self.flush()?;
            }
            let number = lines.number() + 1;
            let fate = match lines.next().map_err(read_failure)? {
                None => return Ok(()),
                Some(Line::Whole(line)) => self.line(line, b"\n", number)?,
                // Passed on as it came.
                Some(Line::Torn(line)) => self.line(line, b"", number)?,
                Some(Line::Long(head)) => {
                    let dropped = !self.sink.is_tee() && self.is_dropped(head);
                    self.long(lines, dropped, number)?
                }
            };
            self.stats.count(match fate {
                Fate::Dropped if self.args.stats && !lines.is_object() => Fate::BadJson,
                Fate::Part => Fate::Dropped,
                fate => fate,
            });
        }
    }

    fn line(&mut self, line: &[u8], newline: &[u8], number: u64) -> anyhow::Result<Fate> {
        let fate = self.read(line, number)?;
        if self.sink.is_tee() {
            self.pass(line, newline)?;
        }
        Ok(fate)
    }

    /// A line that does not fit the buffer.
    fn long(
        &mut self,
        lines: &mut Lines<impl Read>,
        dropped: bool,
        number: u64,
    ) -> anyhow::Result<Fate> {
        if !dropped {
            match lines.whole().map_err(read_failure)? {
                Some(Line::Torn(line)) => return self.line(line, b"", number),
                Some(Line::Whole(line) | Line::Long(line)) => {
                    return self.line(line, b"\n", number);
                }
                None => {}
            }
        }
        let mut passed = Ok(());
        let tee = self.sink.is_tee();
        let (sink, out, notes) = (&mut self.sink, &mut self.out, &mut self.notes);
        let ended = lines.pass(|part| {
            if tee && passed.is_ok() {
                passed = sink.flush(notes).and_then(|()| out.part(part));
            }
        });
        passed?;
        if ended.map_err(read_failure)? && tee {
            self.out.part(b"\n")?;
        }
        Ok(if dropped {
            Fate::Dropped
        } else {
            Fate::Oversize
        })
    }

    /// Says what there is to say of a line. Of a dropped one it is not known
    /// yet whether it is whole.
    fn read(&mut self, line: &[u8], number: u64) -> anyhow::Result<Fate> {
        if self.is_dropped(line) {
            return Ok(Fate::Dropped);
        }
        let line = strip(line);
        if line.is_empty() {
            return Ok(Fate::Blank);
        }
        if self.documents.is_lines() {
            return self.event(line, number);
        }
        let mut events = Vec::new();
        self.documents
            .line(line, &mut |event| events.push(event.to_vec()));
        match self.events(&events, number)? {
            // An array of events is no object, and nothing is wrong with it.
            Fate::Dropped if line.first() != Some(&b'{') => Ok(Fate::Part),
            fate => Ok(fate),
        }
    }

    /// The events of a document, or of lines that turned out to be none.
    fn events(&mut self, events: &[Vec<u8>], number: u64) -> anyhow::Result<Fate> {
        let mut fate = Fate::Part;
        for event in events {
            let next = self.event(event, number)?;
            if fate == Fate::Part || next == Fate::Shown {
                fate = next;
            }
        }
        Ok(fate)
    }

    fn event(&mut self, line: &[u8], number: u64) -> anyhow::Result<Fate> {
        let Ok(event) = Event::parse(line) else {
            return Ok(Fate::BadJson);
        };
        if self.args.stats {
            self.stats.meet(&event);
        }
        self.printer.clock.see(event.at);
        match self.args.format {
            Format::Json => self.row(&event, number),
            Format::Text | Format::Github => self.note(&event),
        }
    }

    /// Whether a line with this head, which may be all of it, has nothing for
    /// us: then it is never parsed.
    fn is_dropped(&mut self, head: &[u8]) -> bool {
        let text = self.args.format != Format::Json;
        match Kind::of_head(head) {
            Some(Kind::StreamEvent) => true,
            Some(Kind::Other) => !self.args.stats,
            Some(Kind::User) if text && !self.args.verbose => self.narrator.is_idle_result(head),
            _ => false,
        }
    }

    fn note(&mut self, event: &Event<'_>) -> anyhow::Result<Fate> {
        let notes: Vec<Note> = self.narrator.notes(event, &self.printer.clock).collect();
        let mut fate = Fate::Dropped;
        for note in notes {
            if self.show(&note)? {
                fate = Fate::Shown;
            }
        }
        Ok(fate)
    }

    /// Writes a note if it matters enough; says whether it did.
    fn show(&mut self, note: &Note) -> anyhow::Result<bool> {
        let least = match (self.args.verbose, self.args.quiet || self.limited) {
            (_, true) => Weight::Key,
            (true, _) => Weight::Detail,
            _ => Weight::Normal,
        };
        if note.weight < least {
            return Ok(false);
        }
        let line = self.printer.line(note);
        self.step.see(note, &line);
        self.written += line.len() as u64 + 1;
        if self.args.format == Format::Github {
            self.group(note)?;
        }
        self.sink.line(&line, &mut self.out)?;
        if !self.limited && self.args.limit.is_some_and(|limit| self.written > limit) {
            self.limited = true;
            let text = "more was written than --limit allows; from here on only commits, errors, limits and the end";
            let line = self.printer.line(&Note::new("Limit", text));
            self.sink.line(&line, &mut self.out)?;
        }
        Ok(true)
    }

    /// A session's lines are a group, which a workflow's log shows folded; what
    /// ends it stands outside.
    fn group(&mut self, note: &Note) -> anyhow::Result<()> {
        let begins = note.label == "Session" && note.weight > Weight::Detail;
        let ends = matches!(&*note.label, "Done" | "Failed") && note.weight == Weight::Key;
        if self.grouped && (begins || ends) {
            self.grouped = false;
            self.sink.line("::endgroup::", &mut self.out)?;
        }
        if begins {
            self.grouped = true;
            let session = cr_io::sanitized(&self.narrator.session);
            self.sink
                .line(&format!("::group::Session {session}"), &mut self.out)?;
        }
        Ok(())
    }

    fn row(&mut self, event: &Event<'_>, number: u64) -> anyhow::Result<Fate> {
        let at = self.printer.clock.at();
        let rows: Vec<_> = self.rows.rows(event, at, number).collect();
        for row in &rows {
            self.write_row(row)?;
        }
        // A call's row comes with its result.
        let used = !rows.is_empty() || event.kind == Kind::Assistant;
        Ok(if used { Fate::Shown } else { Fate::Dropped })
    }

    fn write_row(&mut self, row: &crate::rows::Row) -> anyhow::Result<()> {
        let mut row = row.clone();
        row.file.clone_from(&self.source.name);
        row.redact(&self.printer.redactor);
        let line = serde_json::to_string(&row).context("write a row")?;
        self.sink.line(&line, &mut self.out)
    }

    /// Passes a line of the stream on, after its text.
    fn pass(&mut self, line: &[u8], newline: &[u8]) -> anyhow::Result<()> {
        self.sink.flush(self.notes)?;
        if self.args.redact_stream {
            // Keys are plain ASCII, so masking them leaves JSON what it was.
            let text = String::from_utf8_lossy(line);
            let masked = self.printer.redactor.redact(&text);
            let same = *masked == *text;
            self.out.part(if same { line } else { masked.as_bytes() })?;
        } else {
            self.out.part(line)?;
        }
        self.out.part(newline)
    }

    fn end(&mut self) -> anyhow::Result<()> {
        let mut events = Vec::new();
        self.documents
            .finish(&mut |event| events.push(event.to_vec()));
        self.events(&events, 0)?;
        if let Some(note) = self.narrator.last_words()
            && self.show(&note)?
        {
            self.stats.shown_late();
        }
        for row in self.rows.unfinished() {
            self.write_row(&row)?;
        }
        if std::mem::take(&mut self.grouped) {
            self.sink.line("::endgroup::", &mut self.out)?;
        }
        self.flush()?;
        if self.args.format == Format::Github {
            self.step
                .write(&self.narrator.session)
                .context("write the step's summary")
                .context(Exit::Io)?;
        }
        Ok(())
    }

    fn flush(&mut self) -> anyhow::Result<()> {
        self.sink.flush(self.notes)?;
        self.out.flush()
    }
}
