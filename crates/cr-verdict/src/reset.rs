//! When a limit is lifted, read from the agent's text.

use jiff::civil::{Date, Time, Weekday};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp, ToSpan, Zoned};

mod cursor;

use cursor::{Cursor, Zone};

/// Finds the moment at which a limit is lifted: "resets 3pm", "resets Dec 5,
/// 3pm (Europe/Paris)", "reset at 7pm", "resets in 2h 30m", "usage limit
/// reached|1700000000".
///
/// A clock time or a date without a year is the next such moment after `now`, in
/// the zone that the text names, or else in the local one. A complete moment is
/// given as it is, also when it has passed.
pub fn reset_time(text: &str, now: Timestamp) -> Option<Timestamp> {
    find(text, Some(now), TimeZone::system)
}

/// A limit is announced in a line or two.
const LONGEST_TEXT: usize = 16 * 1024;

/// The same; without `now`, only a complete moment is understood.
pub(crate) fn find(
    text: &str,
    now: Option<Timestamp>,
    local: fn() -> TimeZone,
) -> Option<Timestamp> {
    let text = text[..text.floor_char_boundary(LONGEST_TEXT)].to_ascii_lowercase();
    let after_bar = text
        .split('|')
        .skip(1)
        .find_map(|part| epoch(&mut Cursor::new(part)));
    after_bar.or_else(|| {
        anchors(&text).find_map(|rest| {
            let mut cursor = Cursor::new(rest);
            moment(&mut cursor)?.resolve(&mut cursor, now, local)
        })
    })
}

/// What follows each word that announces a time.
fn anchors(text: &str) -> impl Iterator<Item = &str> {
    const WORDS: [&str; 5] = ["reset", "resets", "try again", "retry", "automatically"];
    text.char_indices().filter_map(move |(at, _)| {
        let is_start = !text[..at].ends_with(|c: char| c.is_alphanumeric());
        let after = |word| text[at..].strip_prefix(word);
        let ended = |rest: &&str| !rest.starts_with(|c: char| c.is_alphanumeric());
        is_start.then(|| {
            WORDS
                .iter()
                .rev()
                .filter_map(|word| after(*word))
                .find(ended)
        })?
    })
}

/// A moment as it is written, not yet placed in time.
enum Moment {
    At(Timestamp),
    In(SignedDuration),
    On(Day, Option<Time>),
}

#[derive(Clone, Copy)]
enum Day {
    Next,
    Today(i64),
    Week(Weekday),
    Month {
        month: i8,
        day: i8,
        year: Option<i16>,
    },
}

/// No limit lasts longer. A date without a year that is further away has just
/// passed: it is taken as unknown, not as next year's.
const LONGEST_WAIT: SignedDuration = SignedDuration::from_hours(60 * 24);

impl Moment {
    fn resolve(
        self,
        cursor: &mut Cursor<'_>,
        now: Option<Timestamp>,
        local: fn() -> TimeZone,
    ) -> Option<Timestamp> {
        let (day, time) = match self {
            Self::At(at) => return Some(at),
            Self::In(wait) => return now?.checked_add(wait).ok(),
            Self::On(day, time) => (day, time.unwrap_or(Time::midnight())),
        };
        let zone = match cursor.zone() {
            Zone::Named(zone) => zone,
            Zone::Unknown => return None,
            Zone::Unnamed => local(),
        };
        if let Day::Month {
            month,
            day,
            year: Some(year),
        } = day
        {
            return place(Date::new(year, month, day).ok()?, time, &zone);
        }
        let now = now?;
        let today = now.to_zoned(zone.clone()).date();
        let next = |days: &mut dyn Iterator<Item = Date>| {
            days.filter_map(|day| place(day, time, &zone))
                .find(|at| *at > now)
        };
        let from_today = |span: Span| today.checked_add(span).ok();
        let at = match day {
            Day::Next => next(&mut (0..3).filter_map(|n| from_today(n.days()))),
            Day::Today(n) => place(from_today(n.days())?, time, &zone),
            Day::Week(weekday) => {
                let days = (0..8).filter_map(|n| from_today(n.days()));
                next(&mut days.filter(|day| day.weekday() == weekday))
            }
            Day::Month { month, day, .. } => {
                let years = today.year()..=today.year().saturating_add(1);
                next(&mut years.filter_map(|year| Date::new(year, month, day).ok()))
            }
        }?;
        (at.duration_since(now) <= LONGEST_WAIT).then_some(at)
    }
}

/// A time that the clocks skip is moved on by the gap; of one that comes twice
/// the first counts.
fn place(day: Date, time: Time, zone: &TimeZone) -> Option<Timestamp> {
    let at: Zoned = day.to_datetime(time).to_zoned(zone.clone()).ok()?;
    Some(at.timestamp())
}

fn moment(cursor: &mut Cursor<'_>) -> Option<Moment> {
    cursor.skip_words(&[
        "at",
        "on",
        "in",
        "after",
        "by",
        "around",
        "again",
        "automatically",
    ]);
    if let Some(at) = iso(cursor).or_else(|| epoch(cursor)) {
        return Some(Moment::At(at));
    }
    if let Some(wait) = wait(cursor) {
        return Some(Moment::In(wait));
    }
    if let Some(time) = time(cursor) {
        let day = cursor.attempt(day);
        return Some(Moment::On(day.unwrap_or(Day::Next), Some(time)));
    }
    let day = day(cursor)?;
    let time = cursor.attempt(|cursor| {
        cursor.skip_words(&["at"]);
        time(cursor)
    });
    Some(Moment::On(day, time))
}

/// `2026-12-05T15:00:00Z`, with an offset or as UTC.
fn iso(cursor: &mut Cursor<'_>) -> Option<Timestamp> {
    cursor.attempt(|cursor| {
        cursor.skip_blanks();
        let word = cursor.rest.split([' ', ')', ']', '"', '\'', ',']).next()?;
        let word = word.trim_end_matches('.');
        let at = word.to_ascii_uppercase().parse().ok()?;
        cursor.rest = &cursor.rest[word.len()..];
        Some(at)
    })
}

/// Seconds or milliseconds since 1970.
fn epoch(cursor: &mut Cursor<'_>) -> Option<Timestamp> {
    cursor.attempt(|cursor| match cursor.digits()? {
        digits if digits.len() == 10 => Timestamp::from_second(digits.parse().ok()?).ok(),
        digits if digits.len() == 13 => Timestamp::from_millisecond(digits.parse().ok()?).ok(),
        _ => None,
    })
}

/// `2h 30m`, `45 minutes`, `1 day and 2 hours`.
fn wait(cursor: &mut Cursor<'_>) -> Option<SignedDuration> {
    let part = |cursor: &mut Cursor<'_>| {
        cursor.skip_words(&["and"]);
        let number: i64 = cursor.digits()?.parse().ok()?;
        let unit = match cursor.word()? {
            "s" | "sec" | "secs" | "second" | "seconds" => 1,
            "m" | "min" | "mins" | "minute" | "minutes" => 60,
            "h" | "hr" | "hrs" | "hour" | "hours" => 3600,
            "d" | "day" | "days" => 86_400,
            _ => return None,
        };
        number.checked_mul(unit)
    };
    let mut seconds: i64 = cursor.attempt(part)?;
    while let Some(more) = cursor.attempt(part) {
        seconds = seconds.checked_add(more)?;
    }
    Some(SignedDuration::from_secs(seconds))
}

/// `3pm`, `3:30 PM`, `11 p.m.`, `15:00`, `noon`, `midnight`.
fn time(cursor: &mut Cursor<'_>) -> Option<Time> {
    cursor.attempt(|cursor| {
        match cursor.attempt(Cursor::word) {
            Some("noon") => return Some(Time::constant(12, 0, 0, 0)),
            Some("midnight") => return Some(Time::midnight()),
            Some(_) => return None,
            None => {}
        }
        let hour: i8 = cursor.digits()?.parse().ok()?;
        let minute: Option<i8> = cursor.attempt(Cursor::sixtieth);
        let second: Option<i8> = minute.and_then(|_| cursor.attempt(Cursor::sixtieth));
        let hour = match (cursor.attempt(Cursor::half), hour, minute) {
            (Some(half), 1..=12, _) => hour % 12 + half,
            (None, 0..=23, Some(_)) => hour,
            _ => return None,
        };
        Time::new(hour, minute.unwrap_or(0), second.unwrap_or(0), 0).ok()
    })
}

/// `Mon`, `Mon, Oct 28`, `Dec 5`, `December 5th, 2026`, `5 Dec`, `today`.
fn day(cursor: &mut Cursor<'_>) -> Option<Day> {
    cursor.skip_words(&["on"]);
    if let Some(date) = cursor.attempt(Cursor::date) {
        let (year, month, day) = (Some(date.year()), date.month(), date.day());
        return Some(Day::Month { month, day, year });
    }
    if let Some((day, month)) = cursor.attempt(|cursor| {
        let day = cursor.day_of_month()?;
        Some((day, month(cursor.word()?)?))
    }) {
        return Some(with_year(cursor, month, day));
    }
    let word = cursor.word()?;
    if let Some(month) = month(word) {
        let day = cursor.day_of_month()?;
        return Some(with_year(cursor, month, day));
    }
    match word {
        "today" => Some(Day::Today(0)),
        "tomorrow" => Some(Day::Today(1)),
        _ => {
            let weekday = weekday(word)?;
            let date = cursor.attempt(day_with_month);
            Some(date.unwrap_or(Day::Week(weekday)))
        }
    }
}

/// A date after a weekday; not another weekday.
fn day_with_month(cursor: &mut Cursor<'_>) -> Option<Day> {
    match day(cursor)? {
        date @ Day::Month { .. } => Some(date),
        _ => None,
    }
}

fn with_year(cursor: &mut Cursor<'_>, month: i8, day: i8) -> Day {
    let year = cursor.attempt(|cursor| {
        let digits = cursor.digits()?;
        // 4 digits are a year, unless they go on as a time.
        let goes_on = cursor
            .rest
            .starts_with(|c: char| c == ':' || c.is_alphanumeric());
        (digits.len() == 4 && !goes_on).then(|| digits.parse().ok())?
    });
    Day::Month { month, day, year }
}

/// By its first three letters, if the rest spells it out.
fn named<'n>(word: &str, names: &'n [&'n str]) -> Option<usize> {
    names.iter().position(|name| {
        word == *name
            || word == &name[..3]
            || (word == "sept" && *name == "september")
            || (word.len() > 3 && name.starts_with(word) && name.ends_with("day"))
    })
}

fn month(word: &str) -> Option<i8> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    i8::try_from(named(word, &MONTHS)? + 1).ok()
}

fn weekday(word: &str) -> Option<Weekday> {
    const DAYS: [&str; 7] = [
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
    ];
    let days = i8::try_from(named(word, &DAYS)? + 1).ok()?;
    Weekday::from_monday_one_offset(days).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokyo() -> TimeZone {
        TimeZone::get("Asia/Tokyo").expect("a zone")
    }

    #[test]
    fn without_a_zone_in_the_text_the_local_one_counts() {
        // 19:00 in Tokyo.
        let now = "2026-11-18T10:00:00Z".parse().ok();
        let cases = [
            ("resets 8pm", "2026-11-18T11:00:00Z"),
            ("reset at 7pm", "2026-11-19T10:00:00Z"),
            ("You've hit your limit · resets 3pm", "2026-11-19T06:00:00Z"),
            ("resets 3pm (unless you upgrade)", "2026-11-19T06:00:00Z"),
            (
                "Weekly limit reached ∙ resets Mon 12:00am",
                "2026-11-22T15:00:00Z",
            ),
            ("resets 8pm (UTC)", "2026-11-18T20:00:00Z"),
        ];
        for (text, expected) in cases {
            assert_eq!(find(text, now, tokyo), expected.parse().ok(), "{text}");
        }
    }

    #[test]
    fn without_a_clock_only_a_complete_moment_counts() {
        let complete = [
            ("reached|1700000000", "2023-11-14T22:13:20Z"),
            ("resets Dec 5, 2026, 3pm", "2026-12-05T06:00:00Z"),
        ];
        for (text, expected) in complete {
            assert_eq!(find(text, None, tokyo), expected.parse().ok(), "{text}");
        }
        for text in [
            "resets 3pm",
            "resets Dec 5, 3pm",
            "resets Mon",
            "resets in 3h",
        ] {
            assert_eq!(find(text, None, tokyo), None, "{text}");
        }
    }
}
