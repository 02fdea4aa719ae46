//! Shows an event: progress lines by their levels, rows, groups.

use std::io::Write;

use cr_event::{Event, Kind};
use cr_progress::{Level, ProgressLine, Row};

use super::Filter;
use crate::args::Format;
use crate::stats::Fate;

impl<W: Write> Filter<'_, W> {
    /// Shows an event, or the subagent's message that it carries.
    pub(super) fn show_event(&mut self, event: &Event<'_>, number: u64) -> anyhow::Result<Fate> {
        let carried = event.carried();
        if carried.is_some() && self.options.agent_logs.has(event.carried_agent()) {
            return Ok(Fate::Dropped);
        }
        if let Some(carried) = &carried {
            self.formatter.clock.see(carried.at);
        }
        let event = carried.as_ref().unwrap_or(event);
        match self.args.format {
            Format::Json => self.row(event, number),
            Format::Text | Format::Github => self.lines_of(event),
        }
    }

    fn lines_of(&mut self, event: &Event<'_>) -> anyhow::Result<Fate> {
        let lines = self.tracker.lines(event, &self.formatter.clock);
        let lines: Vec<ProgressLine> = lines.collect();
        let mut fate = Fate::Dropped;
        for line in lines {
            if self.show(&line)? {
                fate = Fate::Shown;
            }
        }
        Ok(fate)
    }

    /// Writes a line if its level is shown; returns whether it did.
    pub(super) fn show(&mut self, shown: &ProgressLine) -> anyhow::Result<bool> {
        let least = match (self.args.verbose, self.args.quiet || self.limited) {
            (_, true) => Level::Key,
            (true, _) => Level::Detail,
            _ => Level::Normal,
        };
        if shown.level < least {
            return Ok(false);
        }
        let line = self.formatter.line(shown);
        self.step.take(shown, &line);
        let line = self.formatter.annotated(line, shown.tone);
        self.written += line.len() as u64 + 1;
        if self.args.format == Format::Github {
            self.group(shown)?;
        }
        self.sink.line(&line, &mut self.out)?;
        if !self.limited && self.args.limit.is_some_and(|limit| self.written > limit) {
            self.limited = true;
            let text = "more was written than --limit allows; from here on only commits, errors, limits and the end";
            let line = self.formatter.line(&ProgressLine::new("Limit", text));
            self.sink.line(&line, &mut self.out)?;
        }
        Ok(true)
    }

    /// A session's lines are a group, which a workflow's log shows folded; the
    /// line of its end is outside.
    fn group(&mut self, shown: &ProgressLine) -> anyhow::Result<()> {
        let begins = shown.label == "Session" && shown.level > Level::Detail;
        let ends = matches!(&*shown.label, "Done" | "Failed") && shown.level == Level::Key;
        if self.grouped && (begins || ends) {
            self.grouped = false;
            self.sink.line("::endgroup::", &mut self.out)?;
        }
        if begins {
            self.grouped = true;
            let session = cr_io::sanitized(&self.tracker.session);
            self.sink
                .line(&format!("::group::Session {session}"), &mut self.out)?;
        }
        Ok(())
    }

    fn row(&mut self, event: &Event<'_>, number: u64) -> anyhow::Result<Fate> {
        let rows = self.rows.rows(event, &self.formatter.clock, number);
        let rows: Vec<_> = rows.collect();
        // A call's row comes with its result.
        let used = !rows.is_empty() || event.kind == Kind::Assistant;
        for row in rows {
            self.write_row(row)?;
        }
        Ok(if used { Fate::Shown } else { Fate::Dropped })
    }

    pub(super) fn write_row(&mut self, mut row: Row) -> anyhow::Result<()> {
        row.file.clone_from(&self.options.name);
        row.redact(&self.formatter.redactor);
        self.json.clear();
        row.write_json(&mut self.json);
        self.sink.line(&self.json, &mut self.out)
    }
}
