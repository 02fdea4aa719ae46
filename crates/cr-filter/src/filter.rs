//! The main loop: reads lines, writes text, and passes the stream on with
//! `--tee`.

mod agent_logs;
mod input_options;
mod show;

use std::io::{self, IsTerminal, Read, Write};
use std::rc::Rc;

use anyhow::{Context, anyhow};
use cr_event::{Documents, Event, Kind, Origin, strip};
use cr_io::{Exit, Line, Lines, MAX_LINE, Out, Redactor, Watched, exit_of, inputs, read_failure};
use cr_progress::{Clock, LineFormatter, ProgressTracker, RowBuilder, grace, wants_colour};

use crate::args::{Args, Format};
use crate::filter::agent_logs::AgentLogs;
pub use crate::filter::input_options::InputOptions;
use crate::github::Step;
use crate::sink::Sink;
use crate::stats::{Fate, Stats};

/// Bytes of a long line that are masked at a time.
const MASKED: usize = 1 << 20;

/// Runs the tool on the process's own streams.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    if args.output_schema {
        return cr_io::print_schema(cr_progress::ROW_SCHEMA, io::stdout());
    }
    args.check()?;
    let inputs = inputs(&args.files)?;
    let many = inputs.len() > 1;
    let agent_logs = Rc::new(AgentLogs::among(&inputs));
    let mut ended = Exit::Ok;
    for (i, input) in inputs.iter().enumerate() {
        let stream = match input.open() {
            // The other files are read all the same.
            Err(err) if many => {
                cr_io::note("cr-filter", io::stderr(), &err);
                ended = Exit::NoInput;
                continue;
            }
            stream => stream?,
        };
        let options = InputOptions {
            name: many.then(|| input.label()),
            live: stream.is_live(),
            follows: i > 0,
            agent_logs: Rc::clone(&agent_logs),
        };
        match one(args, &options, stream) {
            Err(err) if many && exit_of(&err) == Exit::Data => {
                cr_io::note("cr-filter", io::stderr(), &err);
                ended = Exit::Data;
            }
            Ok(Exit::Ok) => {}
            exit => return exit,
        }
    }
    Ok(ended)
}

/// Filters one input; a part of a compressed one is an error.
fn one(args: &Args, options: &InputOptions, mut stream: Watched) -> anyhow::Result<Exit> {
    let (out, notes) = (io::stdout().lock(), &mut io::stderr());
    let place = || options.name.clone().unwrap_or_default();
    let filtered = run_on(args, options, &mut stream, out, notes);
    let filtered = filtered.and_then(|exit| stream.check_whole().map(|()| exit));
    filtered.map_err(|err| match exit_of(&err) {
        Exit::Data => err.context(place()).context(Exit::Data),
        _ => err,
    })
}

/// Filters one stream; with `--tee` the text is written to `notes`.
pub fn run_on(
    args: &Args,
    options: &InputOptions,
    input: impl Read,
    out: impl Write,
    notes: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let mut filter = Filter::new(args, options, Out::new(out), notes)?;
    filter.header()?;
    let mut lines = Lines::new(input);
    // Only the statistics need to know whether a dropped line was whole.
    if args.stats {
        lines = lines.check_objects();
    }
    let read = filter.all(&mut lines);
    let ended = filter.end();
    if args.stats {
        let name = options.name.as_deref().map(cr_io::sanitized);
        let place = name.map_or_else(String::new, |name| format!("{name}: "));
        let line = format!("cr-filter: {place}{}\n", filter.stats);
        let _ = filter.notes.write_all(line.as_bytes());
    }
    read.and(ended)?;
    // The stage behind a tee judges what it gets.
    if !filter.sink.is_tee()
        && let Some(look) = filter.origin.look()
    {
        let text = format!("no line is Claude Code's; it looks like {}", look.name);
        return Err(anyhow!(text).context(Exit::Data));
    }
    Ok(Exit::Ok)
}

struct Filter<'a, W> {
    args: &'a Args,
    options: &'a InputOptions,
    out: Out<W>,
    sink: Sink,
    /// Masks the stream that is passed on, with `--redact-stream`.
    mask: Option<Redactor>,
    notes: &'a mut dyn Write,
    formatter: LineFormatter,
    documents: Documents,
    tracker: ProgressTracker,
    rows: RowBuilder,
    /// The row that is being written.
    json: String,
    stats: Stats,
    origin: Origin,
    step: Step,
    /// Bytes of text written so far.
    written: u64,
    /// Whether `--limit` is reached.
    limited: bool,
    /// Whether a group is open in a workflow's log.
    grouped: bool,
}

impl<'a, W: Write> Filter<'a, W> {
    fn new(
        args: &'a Args,
        options: &'a InputOptions,
        out: Out<W>,
        notes: &'a mut dyn Write,
    ) -> anyhow::Result<Self> {
        let sink = Sink::new(args.tee.as_deref(), options.follows)?;
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
        let formatter = LineFormatter {
            clock: Clock::new(args.time.source(), options.live),
            redactor,
            width: args.width.unwrap_or(usize::MAX),
            colour: wants_colour(terminal),
            github: args.format == Format::Github,
        };
        Ok(Self {
            args,
            options,
            out,
            sink,
            mask: args.redact_stream.then(Redactor::from_env),
            notes,
            formatter,
            documents: Documents::new(MAX_LINE),
            tracker: ProgressTracker::default(),
            rows: RowBuilder::default(),
            json: String::new(),
            stats: Stats::default(),
            origin: Origin::default(),
            step: Step::default(),
            written: 0,
            limited: false,
            grouped: false,
        })
    }

    /// Names the file, where there are several.
    fn header(&mut self) -> anyhow::Result<()> {
        match (&self.options.name, self.args.format) {
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
            if !self.sink.is_tee() && self.origin.is_known() {
                self.stats.skip(lines.skip(br#"{"type":"stream_event""#));
            }
            if self.options.live && lines.is_drained() {
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
        self.pass_long(lines)?;
        if dropped {
            return Ok(Fate::Dropped);
        }
        self.events(number, Documents::oversize)?;
        Ok(Fate::Oversize)
    }

    /// Passes a line on that is too long to be held.
    fn pass_long(&mut self, lines: &mut Lines<impl Read>) -> anyhow::Result<()> {
        let mut passed = Ok(());
        let mut held = Vec::new();
        let tee = self.sink.is_tee();
        let (sink, out, notes) = (&mut self.sink, &mut self.out, &mut self.notes);
        let mask = self.mask.as_ref();
        let ended = lines.pass(|part| {
            if !tee || passed.is_err() {
                return;
            }
            passed = sink.flush(notes).and_then(|()| match mask {
                None => out.part(part),
                Some(mask) => part.chunks(MASKED).try_for_each(|part| {
                    held.extend_from_slice(part);
                    out.part(&mask.redact_some(&mut held))
                }),
            });
        });
        passed?;
        let ended = ended.map_err(read_failure)?;
        if let Some(mask) = mask {
            out.part(&mask.redact_bytes(&held))?;
        }
        if ended && tee {
            out.part(b"\n")?;
        }
        Ok(())
    }

    /// Shows a line. Whether a dropped line is whole is not known yet.
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
        match self.events(number, |documents, each| documents.line(line, each))? {
            // An array of events is no object, and is valid.
            Fate::Dropped if line.first() != Some(&b'{') => Ok(Fate::Part),
            fate => Ok(fate),
        }
    }

    /// Shows the events that `feed` finds in a document, one at a time: a list of
    /// them may take many times the memory of the document.
    fn events(
        &mut self,
        number: u64,
        feed: impl FnOnce(&mut Documents, &mut dyn FnMut(&[u8])),
    ) -> anyhow::Result<Fate> {
        let mut documents = std::mem::replace(&mut self.documents, Documents::new(MAX_LINE));
        let mut fate = Ok(Fate::Part);
        feed(&mut documents, &mut |event| {
            if let Ok(so_far) = fate {
                let next = self.event(event, number);
                let is_better = |next: Fate| so_far == Fate::Part || next == Fate::Shown;
                fate = next.map(|next| if is_better(next) { next } else { so_far });
            }
        });
        self.documents = documents;
        fate
    }

    fn event(&mut self, line: &[u8], number: u64) -> anyhow::Result<Fate> {
        let Ok(event) = Event::parse(line) else {
            // Half an object says nothing of its origin.
            if line.first() != Some(&b'{') {
                self.origin.broken(line);
            }
            return Ok(Fate::BadJson);
        };
        if self.args.stats {
            self.stats.count_unknown(&event);
        }
        if !self.origin.event(&event) {
            return Ok(Fate::Dropped);
        }
        self.formatter.clock.see(event.at);
        if let Some(grace) = grace(&event) {
            cr_io::expect_grace(grace);
        }
        self.show_event(&event, number)
    }

    /// Whether a line with this head, which may be the whole line, is not shown:
    /// then it is not parsed.
    fn is_dropped(&mut self, head: &[u8]) -> bool {
        // The line may be a part of a document over many lines.
        if !self.documents.is_lines() || !self.origin.is_known() {
            return false;
        }
        let text = self.args.format != Format::Json;
        match Kind::of_head(head) {
            Some(Kind::StreamEvent) => true,
            // A subagent's message may be in it.
            Some(Kind::Other) if head.starts_with(br#"{"type":"progress""#) => false,
            Some(Kind::Other) => !self.args.stats,
            Some(Kind::User) if text && !self.args.verbose => self.tracker.is_silent_result(head),
            _ => false,
        }
    }

    /// Passes a line of the stream on, after its text.
    fn pass(&mut self, line: &[u8], newline: &[u8]) -> anyhow::Result<()> {
        self.sink.flush(self.notes)?;
        match &self.mask {
            // The mask is plain ASCII, so the line stays valid JSON.
            Some(mask) => self.out.part(&mask.redact_bytes(line))?,
            None => self.out.part(line)?,
        }
        self.out.part(newline)
    }

    fn end(&mut self) -> anyhow::Result<()> {
        self.events(0, Documents::finish)?;
        if let Some(line) = self.tracker.last_text()
            && self.show(&line)?
        {
            self.stats.shown_late();
        }
        for row in self.rows.unfinished() {
            self.write_row(row)?;
        }
        if std::mem::take(&mut self.grouped) {
            self.sink.line("::endgroup::", &mut self.out)?;
        }
        self.flush()?;
        if self.args.format == Format::Github {
            self.step
                .write(&self.tracker.session)
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
