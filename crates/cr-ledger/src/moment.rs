//! The time that a command asks about.

use clap::Args;
use cr_ledger_db::to_ms;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// A time in place of now.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// As of this time, such as 2026-11-18T03:15:00Z, and not as of now; what was
    /// recorded later does not count
    #[arg(long, value_name = "TIME")]
    at: Option<Timestamp>,
}

impl Moment {
    /// The time in milliseconds.
    pub(crate) fn ms(self) -> i64 {
        to_ms(self.at.unwrap_or_else(Timestamp::now))
    }
}

/// The time for people: local.
pub(crate) fn local(time: Timestamp) -> String {
    let time = time.to_zoned(TimeZone::system());
    time.strftime("%Y-%m-%d %H:%M").to_string()
}

/// When the local day of `ms` began.
pub(crate) fn start_of_day(ms: i64) -> i64 {
    let time = cr_ledger_db::from_ms(ms).unwrap_or_default();
    let start = time.to_zoned(TimeZone::system()).start_of_day();
    start.map_or(ms, |start| to_ms(start.timestamp()))
}
