//! What is said of an event: notes with their weights, rows, groups.

use std::io::Write;

use anyhow::Context;
use cr_event::{Event, Kind};
use cr_progress::{Note, Row, Weight};

use super::Filter;
use crate::args::Format;
use crate::stats::Fate;

impl<W: Write> Filter<'_, W> {
    pub(super) fn note(&mut self, event: &Event<'_>) -> anyhow::Result<Fate> {
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
    pub(super) fn show(&mut self, note: &Note) -> anyhow::Result<bool> {
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
        let line = self.printer.annotated(line, note.tone);
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

    pub(super) fn row(&mut self, event: &Event<'_>, number: u64) -> anyhow::Result<Fate> {
        let at = self.printer.clock.event();
        let rows: Vec<_> = self.rows.rows(event, at, number).collect();
        for row in &rows {
            self.write_row(row)?;
        }
        // A call's row comes with its result.
        let used = !rows.is_empty() || event.kind == Kind::Assistant;
        Ok(if used { Fate::Shown } else { Fate::Dropped })
    }

    pub(super) fn write_row(&mut self, row: &Row) -> anyhow::Result<()> {
        let mut row = row.clone();
        row.file.clone_from(&self.source.name);
        row.redact(&self.printer.redactor);
        let line = serde_json::to_string(&row).context("write a row")?;
        self.sink.line(&line, &mut self.out)
    }
}
