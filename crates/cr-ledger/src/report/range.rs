//! The time of a report.

use std::time::Duration;

use anyhow::{Context, anyhow};
use cr_io::{Exit, parse_duration};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

/// The sums are those of quarters of an hour.
pub(super) const QUARTER_MS: i64 = 900_000;

/// A point in time as people write it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum When {
    Day(Date),
    Time(Timestamp),
    Ago(Duration),
}

/// Reads a date, a time or a duration before now.
pub(crate) fn parse_when(text: &str) -> Result<When, String> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(When::Time(time));
    }
    if let Ok(day) = text.parse::<Date>()
        && !text.contains(['T', 't', ' ', '['])
    {
        return Ok(When::Day(day));
    }
    let has_unit = text.ends_with(|c: char| c.is_ascii_alphabetic());
    match parse_duration(text) {
        Ok(duration) if has_unit => Ok(When::Ago(duration)),
        _ => Err(format!(
            "`{text}` is no date, no time such as 2026-11-18T14:00:00Z and no duration such as 7d"
        )),
    }
}

impl When {
    /// The time in milliseconds; of a day its beginning, or its end.
    fn ms(self, now: Timestamp, zone: &TimeZone, is_end: bool) -> anyhow::Result<i64> {
        let time = match self {
            Self::Time(time) => time,
            Self::Ago(duration) => now.checked_sub(duration)?,
            Self::Day(day) => {
                let day = if is_end {
                    day.checked_add(1.day())?
                } else {
                    day
                };
                day.to_zoned(zone.clone())?.timestamp()
            }
        };
        Ok(time.as_millisecond())
    }
}

/// Quarters of an hour from the first to before the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) from: i64,
    pub(super) to: i64,
}

impl Range {
    pub(super) fn new(
        since: Option<When>,
        until: Option<When>,
        now: Timestamp,
        zone: &TimeZone,
    ) -> anyhow::Result<Self> {
        let ms = |when: Option<When>, name: &'static str, is_end| {
            let ms = when.map(|when| when.ms(now, zone, is_end));
            ms.transpose().context(name).context(Exit::Usage)
        };
        let from = ms(since, "--since", false)?;
        let to = ms(until, "--until", true)?;
        if from.zip(to).is_some_and(|(from, to)| from > to) {
            return Err(anyhow!("--since is after --until").context(Exit::Usage));
        }
        Ok(Self {
            from: from.map_or(i64::MIN, |ms| ms.div_euclid(QUARTER_MS)),
            to: to.map_or(i64::MAX, |ms| -(-ms).div_euclid(QUARTER_MS)),
        })
    }

    /// The same in milliseconds.
    pub(super) fn ms(self) -> (i64, i64) {
        (
            self.from.saturating_mul(QUARTER_MS),
            self.to.saturating_mul(QUARTER_MS),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_date_or_a_time_or_a_duration() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let now: Timestamp = "2026-11-18T12:00:00Z".parse().expect("a time");
        let cases = [
            ("2026-11-18", false, "2026-11-17T22:00:00Z"),
            ("2026-11-18", true, "2026-11-18T22:00:00Z"),
            ("2026-11-18T14:00:00Z", true, "2026-11-18T14:00:00Z"),
            ("2026-11-18T14:00:00+02:00", false, "2026-11-18T12:00:00Z"),
            ("7d", false, "2026-11-11T12:00:00Z"),
            ("1h30m", false, "2026-11-18T10:30:00Z"),
        ];
        for (text, is_end, expected) in cases {
            let when = parse_when(text).expect(text);
            let expected: Timestamp = expected.parse().expect("a time");
            let ms = when.ms(now, &zone, is_end).expect(text);
            assert_eq!(ms, expected.as_millisecond(), "{text}");
        }
        for text in [
            "",
            "7",
            "yesterday",
            "2026-13-01",
            "-7d",
            "2026-11-18T14:00:00",
        ] {
            parse_when(text).expect_err(text);
        }
    }

    #[test]
    fn a_range_has_whole_quarters_and_an_order() {
        let zone = TimeZone::UTC;
        let when = |text: &str| Some(parse_when(text).expect(text));
        let range = |since, until| Range::new(since, until, Timestamp::UNIX_EPOCH, &zone);
        let got = range(when("1970-01-01T00:20:00Z"), when("1970-01-01T00:31:00Z"));
        assert_eq!(got.expect("a range"), Range { from: 1, to: 3 });
        range(when("1970-01-02"), when("1969-12-30")).expect_err("the wrong order");
        range(when("1970-01-02"), when("1970-01-02")).expect("a day");
    }
}
