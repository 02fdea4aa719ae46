//! From an input to its answer: a pipe line by line, a file from its end.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::ops::Range;
use std::os::unix::fs::FileExt;

use cr_event::{Documents, strip};
use cr_io::{Line, Lines};

use crate::Form;
use crate::answer::{Answer, Missing, Origin, Verdict};
use crate::backwards::{Backwards, Found};
use crate::foreign::{BEGINNING, begins_as_claudes, foreign, of_another};
use crate::line::{Class, class, is_cut, is_passed};
use crate::stream::{Reversed, Stream};

/// Bytes at the start of a long line from which its class is known.
const HEAD: usize = 64;

/// How an input is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadOptions {
    pub(crate) form: Form,
    /// The longest line, or text, that is held.
    pub(crate) limit: usize,
}

/// The answer in the rest of `file`, which is read from its end; `None` if
/// it has no size, as the files of /proc.
pub(crate) fn in_file(mut file: &File, options: ReadOptions) -> io::Result<Option<Answer>> {
    let range = file.stream_position()?..file.metadata()?.len();
    if range.is_empty() {
        return Ok(None);
    }
    if options.form == Form::Text {
        return whole(file, range, options).map(Some);
    }
    match of_another(&beginning(file, &range)?, options) {
        Some(answer) => Ok(Some(answer)),
        None => from_end(file, range, options),
    }
}

/// The answer in a file with lines of a stream; `None` if only its beginning
/// tells.
fn from_end(file: &File, range: Range<u64>, options: ReadOptions) -> io::Result<Option<Answer>> {
    let mut lines = Backwards::new(file, range.clone());
    let mut stream = None;
    while let Some(found) = lines.next()? {
        let held;
        let (place, line) = match found {
            Found::Line(start, line) => (start..start + line.len() as u64, line),
            Found::Long(place) => {
                held = long(file, &place, options)?;
                (place, &*held)
            }
        };
        match class(head_if_long(line, options), options.form) {
            Class::Text => {}
            Class::Passed => drop(stream.get_or_insert_with(Reversed::default)),
            Class::Attempt => {
                stream.get_or_insert_with(Reversed::default);
                break;
            }
            Class::Event(event) => {
                let is_enough = stream.get_or_insert_with(Reversed::default).take(&event);
                if is_enough {
                    break;
                }
            }
            // After a later event the input is a stream.
            Class::Summary(_) | Class::Delimiter if stream.is_some() => {}
            Class::Summary(summary) => return Ok(Some(Answer::of_summary(&summary))),
            Class::Delimiter => {
                let behind = (place.end + 1).min(range.end);
                return whole(file, behind..range.end, options).map(Some);
            }
        }
    }
    match stream {
        Some(stream) if stream.needs_beginning() => Ok(None),
        Some(stream) => Ok(Some(
            stream.answer().cut_if(ends_cut(file, range, options)?),
        )),
        None if options.form == Form::Report => Ok(Some(Answer::none(None))),
        None => whole(file, range, options).map(Some),
    }
}

/// The first bytes of the input.
fn beginning(file: &File, range: &Range<u64>) -> io::Result<Vec<u8>> {
    // One more shows that the first line is longer.
    let mut bytes = vec![0; BEGINNING + 1];
    let length = file.read_at(&mut bytes, range.start)?;
    bytes.truncate(length);
    Ok(bytes)
}

/// Whether the last line has no newline and is cut off. A long one is not read
/// for that: its last byte tells.
fn ends_cut(file: &File, range: Range<u64>, options: ReadOptions) -> io::Result<bool> {
    Ok(match Backwards::new(file, range).next()? {
        Some(Found::Line(_, line)) if line.len() <= options.limit => is_cut(line),
        Some(Found::Line(_, line)) => line.last() != Some(&b'}'),
        Some(Found::Long(place)) => {
            let mut last = [0];
            file.read_exact_at(&mut last, place.end - 1)?;
            last != *b"}"
        }
        None => false,
    })
}

/// The first bytes of a line that is over the limit; other lines as they are.
fn head_if_long(line: &[u8], options: ReadOptions) -> &[u8] {
    if line.len() > options.limit {
        &line[..line.len().min(HEAD)]
    } else {
        line
    }
}

/// The long line at `place`; only its start if it is not needed.
fn long(file: &File, place: &Range<u64>, options: ReadOptions) -> io::Result<Vec<u8>> {
    let mut head = vec![0; HEAD];
    file.read_exact_at(&mut head, place.start)?;
    let length = usize::try_from(place.end - place.start).unwrap_or(usize::MAX);
    if is_passed(&head) || length > options.limit {
        return Ok(head);
    }
    head.resize(length, 0);
    file.read_exact_at(&mut head[HEAD..], place.start + HEAD as u64)?;
    Ok(head)
}

/// The answer in a part of a file that has only lines of text.
fn whole(file: &File, range: Range<u64>, options: ReadOptions) -> io::Result<Answer> {
    let length = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
    if length > options.limit {
        return Ok(Answer::none(Some(Missing::TooLong)));
    }
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, range.start)?;
    Ok(judged(&bytes, options))
}

/// The answer in `input`, which is read from its beginning.
pub(crate) fn in_stream(input: impl Read, options: ReadOptions) -> io::Result<Answer> {
    Ok(read(input, options)?.answer())
}

/// The verdict of the summary that `input` ends with, if it does, and the
/// answer: that of the stream before it, which holds it as it was written, or
/// else the summary's own.
pub(crate) fn with_verdict(
    input: impl Read,
    options: ReadOptions,
) -> io::Result<(Option<Verdict>, Answer)> {
    let mut finder = read(input, options)?;
    let verdict = finder.verdict.take();
    if finder.has_events {
        finder.last = Last::Event;
    }
    Ok((verdict, finder.answer()))
}

fn read(input: impl Read, options: ReadOptions) -> io::Result<Finder> {
    let mut lines = Lines::new(input).limit(options.limit);
    let mut finder = Finder::new(options);
    while let Some(line) = lines.next()? {
        match line {
            Line::Whole(line) => finder.line(line, true),
            Line::Torn(line) => finder.torn(line),
            Line::Long(head) if matches!(class(&head[..HEAD], options.form), Class::Passed) => {
                finder.oversize(&head[..HEAD]);
                finder.is_cut = pass(&mut lines)?;
            }
            Line::Long(head) => {
                let head = head[..HEAD].to_vec();
                match lines.whole()? {
                    Some(Line::Whole(line)) => finder.line(line, true),
                    Some(Line::Torn(line)) => finder.torn(line),
                    Some(Line::Long(_)) | None => {
                        finder.oversize(&head);
                        finder.is_cut = pass(&mut lines)?;
                    }
                }
            }
        }
    }
    Ok(finder)
}

/// Passes over a long line; returns whether it is the last one and cut off.
fn pass(lines: &mut Lines<impl Read>) -> io::Result<bool> {
    let mut last = None;
    let has_newline = lines.pass(|part| last = part.last().copied().or(last))?;
    Ok(!has_newline && last != Some(b'}'))
}

/// Takes lines in their order; the last one that is no text decides.
struct Finder {
    options: ReadOptions,
    stream: Stream,
    has_events: bool,
    /// The first line was taken.
    has_begun: bool,
    /// Another program wrote the stream.
    of_another: Option<Answer>,
    last: Last,
    /// The last line is cut off.
    is_cut: bool,
    /// Of the summary that is the last line so far.
    verdict: Option<Verdict>,
    /// The text since the beginning, or since the delimiter, while that may be
    /// the answer; `None` when it is too long.
    held: Option<Vec<u8>>,
}

enum Last {
    Nothing,
    Delimiter,
    Event,
    Summary(Box<Answer>),
}

impl Finder {
    fn new(options: ReadOptions) -> Self {
        Self {
            options,
            stream: Stream::default(),
            has_events: false,
            has_begun: false,
            of_another: None,
            last: Last::Nothing,
            is_cut: false,
            verdict: None,
            held: (options.form != Form::Report).then(Vec::new),
        }
    }

    fn line(&mut self, line: &[u8], has_newline: bool) {
        if line.len() > self.options.limit {
            return self.oversize(head_if_long(line, self.options));
        }
        if self.take(line) {
            return;
        }
        if let (Last::Nothing | Last::Delimiter, Some(held)) = (&self.last, &mut self.held) {
            held.extend_from_slice(line);
            held.extend(has_newline.then_some(b'\n'));
            if held.len() > self.options.limit {
                self.held = None;
            }
        }
    }

    /// Takes the last line, which has no newline.
    fn torn(&mut self, line: &[u8]) {
        self.is_cut = if line.len() <= self.options.limit {
            is_cut(line)
        } else {
            line.last() != Some(&b'}')
        };
        self.line(line, false);
    }

    /// Takes a line that is too long to hold.
    fn oversize(&mut self, head: &[u8]) {
        if !self.take(head) {
            self.held = None;
        }
    }

    /// Takes the line, unless it is text; returns whether it did.
    fn take(&mut self, line: &[u8]) -> bool {
        if self.options.form == Form::Text {
            return false;
        }
        if !self.has_begun {
            self.has_begun = !strip(line).is_empty();
            self.of_another = of_another(line, self.options);
        }
        let class = class(line, self.options.form);
        self.has_events |= matches!(class, Class::Passed | Class::Attempt | Class::Event(_));
        if !matches!(class, Class::Text) {
            self.verdict = None;
        }
        self.held = match class {
            Class::Text => return false,
            Class::Delimiter => {
                self.last = Last::Delimiter;
                Some(Vec::new())
            }
            Class::Summary(summary) => {
                self.verdict = Verdict::of(&summary);
                self.last = Last::Summary(Box::new(Answer::of_summary(&summary)));
                None
            }
            Class::Passed => {
                self.last = Last::Event;
                None
            }
            Class::Attempt => {
                self.stream = Stream::default();
                self.last = Last::Event;
                None
            }
            Class::Event(event) => {
                self.stream.take(&event);
                self.last = Last::Event;
                None
            }
        };
        true
    }

    fn answer(self) -> Answer {
        if let Some(answer) = self.of_another {
            return answer;
        }
        match (self.last, self.held) {
            (Last::Event, _) => self.stream.answer().cut_if(self.is_cut),
            (Last::Summary(answer), _) => *answer,
            (Last::Nothing, _) if self.options.form == Form::Report => Answer::none(None),
            (Last::Nothing | Last::Delimiter, Some(held)) => judged(&held, self.options),
            (Last::Nothing | Last::Delimiter, None) => Answer::none(Some(Missing::TooLong)),
        }
    }
}

/// The answer in lines of text: a document spread over lines, or else a text.
fn judged(bytes: &[u8], options: ReadOptions) -> Answer {
    if options.form != Form::Text {
        // One object over many lines, or else what `Documents` finds.
        let mut parts = vec![bytes.to_vec()];
        let mut documents = Documents::new(options.limit);
        let mut keep = |part: &[u8]| parts.push(part.to_vec());
        for line in bytes.split(|&b| b == b'\n') {
            documents.line(line, &mut keep);
        }
        let is_cut = documents.is_open();
        documents.finish(&mut keep);
        if is_cut && begins_as_claudes(bytes) {
            return Answer::none(Some(Missing::Torn));
        }
        if let Some(answer) = of_documents(&parts, options.form) {
            return answer;
        }
    }
    if matches!(options.form, Form::Stream | Form::Summary) {
        return Answer::none(None);
    }
    if let (Some(name), Form::Auto) = (foreign(bytes), options.form) {
        return Answer::none(Some(Missing::Foreign(name)));
    }
    let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    Answer::text(String::from_utf8_lossy(text).into_owned(), Origin::Text)
}

fn of_documents(parts: &[Vec<u8>], form: Form) -> Option<Answer> {
    // A report may hold any form after its delimiter.
    let form = if form == Form::Report {
        Form::Auto
    } else {
        form
    };
    let mut stream = None;
    let mut summary = None;
    for part in parts {
        match class(part, form) {
            Class::Text | Class::Delimiter => {}
            Class::Summary(found) => summary = Some(Answer::of_summary(&found)),
            Class::Passed => drop(stream.get_or_insert_with(Stream::default)),
            Class::Attempt => stream = Some(Stream::default()),
            Class::Event(event) => stream.get_or_insert_with(Stream::default).take(&event),
        }
    }
    stream.map(Stream::answer).or(summary)
}

#[cfg(test)]
#[path = "find_tests.rs"]
mod tests;
