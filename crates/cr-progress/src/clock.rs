//! The time of a line: the event's own, else the last one known.

use std::cell::OnceCell;

use cr_event::Text;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Where the time of a line comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeSource {
    /// The event's own, else the last one seen, else its arrival
    #[default]
    Event,
    /// The time at which the line is written
    Now,
    /// No time at all
    None,
}

/// Gives each line its time of day, in the local zone.
#[derive(Debug)]
pub struct Clock {
    source: TimeSource,
    zone: OnceCell<TimeZone>,
    /// Whether lines arrive as they happen.
    live: bool,
    /// The last event's own time.
    own: Option<Timestamp>,
    last: Option<Timestamp>,
    /// The text of the last second: to format it for each event would take longer
    /// than to read the event.
    shown: (i64, String),
}

impl Clock {
    /// A clock without a time; `live` says whether lines arrive as they happen.
    pub fn new(source: TimeSource, live: bool) -> Self {
        let shown = (i64::MIN, String::new());
        Self {
            source,
            zone: OnceCell::new(),
            live,
            own: None,
            last: None,
            shown,
        }
    }

    /// The local zone, found when it is first asked for.
    fn zone(&self) -> TimeZone {
        self.zone.get_or_init(local_zone).clone()
    }

    /// Takes an event's own time.
    pub fn see(&mut self, at: Option<Text<'_>>) {
        self.own = at.and_then(|at| at.decode().parse().ok());
        self.last = self.own.or(self.last);
    }

    /// The time that the last event had itself.
    pub fn own(&self) -> Option<Timestamp> {
        self.own
    }

    /// The last time that an event had.
    pub fn seen(&self) -> Option<Timestamp> {
        self.last
    }

    /// The time of the event last seen, or of its arrival.
    pub fn event(&self) -> Option<Timestamp> {
        self.last.or_else(|| self.live.then(Timestamp::now))
    }

    /// The time of the event last seen, if anything is known of it.
    pub fn at(&self) -> Option<Timestamp> {
        match self.source {
            TimeSource::Now => Some(Timestamp::now()),
            TimeSource::None => None,
            TimeSource::Event => self.event(),
        }
    }

    /// `[HH:MM:SS] `, or nothing where no time is wanted.
    pub fn stamp(&mut self, out: &mut String) {
        if self.source == TimeSource::None {
            return;
        }
        let Some(at) = self.at() else {
            out.push_str("[--:--:--] ");
            return;
        };
        let second = at.as_second();
        if self.shown.0 != second {
            let text = at.to_zoned(self.zone()).strftime("[%H:%M:%S] ").to_string();
            self.shown = (second, text);
        }
        out.push_str(&self.shown.1);
    }

    /// A moment in the local zone, short: the time of day, with the date where
    /// it is another day.
    pub fn local(&self, at: Timestamp) -> String {
        let moment = at.to_zoned(self.zone());
        let today = self.last.map(|last| last.to_zoned(self.zone()).date());
        let format = if today == Some(moment.date()) {
            "%H:%M"
        } else {
            "%Y-%m-%d %H:%M"
        };
        moment.strftime(format).to_string()
    }
}

/// The zone of this machine. Without TZ it is read from its own file: a search of
/// the database for its name would take longer than a run.
fn local_zone() -> TimeZone {
    if std::env::var_os("TZ").is_some() {
        return TimeZone::system();
    }
    let file = std::fs::read("/etc/localtime").ok();
    let zone = file.and_then(|data| TimeZone::tzif("local", &data).ok());
    zone.unwrap_or_else(TimeZone::system)
}
