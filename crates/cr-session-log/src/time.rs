//! Times of lines, in milliseconds since 1970.

use cr_event::Text;

/// The time that `text` says; `None` where it says none.
pub(crate) fn milliseconds(text: Text<'_>) -> Option<i64> {
    usual(text.bytes()).or_else(|| {
        let time: jiff::Timestamp = text.decode().parse().ok()?;
        Some(time.as_millisecond())
    })
}

/// The spelling that the CLI uses: `2026-11-18T00:23:41.055Z`.
fn usual(text: &[u8]) -> Option<i64> {
    let text: &[u8; 24] = text.try_into().ok()?;
    let marks = [text[4], text[7], text[10], text[13], text[16], text[19]];
    if marks != *b"--T::." || text[23] != b'Z' {
        return None;
    }
    let number = |from: usize, to: usize| {
        text[from..to].iter().try_fold(0_i64, |number, &digit| {
            digit
                .is_ascii_digit()
                .then(|| number * 10 + i64::from(digit - b'0'))
        })
    };
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let is_time = hour < 24 && minute < 60 && second < 60;
    // The days that every month has; others are left to the calendar of jiff.
    if !is_time || !(1..=12).contains(&month) || !(1..=28).contains(&day) {
        return None;
    }
    let seconds = ((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
    Some(seconds * 1000 + number(20, 23)?)
}

/// The days from 1970 to a date of the Gregorian calendar, by the count of leap
/// days before the March that the year of the month begins with.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + (153 * month + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use cr_event::Raw;

    use super::*;

    fn at(text: &str) -> Option<i64> {
        let quoted = format!("\"{text}\"");
        Raw::of(quoted.as_bytes())
            .and_then(Raw::text)
            .and_then(milliseconds)
    }

    #[test]
    fn the_short_way_agrees_with_the_calendar_on_every_day_of_800_years() {
        let mut date = jiff::civil::date(1600, 1, 1);
        while date.year() < 2400 {
            let text = format!("{date}T23:59:58.123Z");
            let expected: jiff::Timestamp = text.parse().expect("a time");
            assert_eq!(at(&text), Some(expected.as_millisecond()), "{text}");
            date = date.tomorrow().expect("a day");
        }
    }

    #[test]
    fn other_spellings_are_read_and_what_is_no_time_is_none() {
        let expected = at("2026-11-18T00:23:41.055Z");
        assert_eq!(expected, Some(1_794_961_421_055));
        assert_eq!(at("2026-11-18T02:23:41.055+02:00"), expected);
        assert_eq!(at("2026-11-18T00:23:41.0550Z"), expected);
        assert_eq!(at("2026-11-18T00:23:41.05\\u0035Z"), expected);
        let none = [
            "",
            "now",
            "2026-02-30T00:00:00.000Z",
            "2026-13-01T00:00:00.000Z",
        ];
        for text in none {
            assert_eq!(at(text), None, "{text}");
        }
        assert_eq!(at("2026-11-18T00:23:4x.055Z"), None);
    }
}
