//! Durations as people write them: seconds, or `2h30m`.

use std::fmt::Write;
use std::time::Duration;

const UNITS: [(&str, f64); 5] = [
    ("ms", 0.001),
    ("d", 86400.0),
    ("h", 3600.0),
    ("m", 60.0),
    ("s", 1.0),
];

/// Longer than anything runs, and far from any overflow: ten years.
const LONGEST: f64 = 3650.0 * 86400.0;

/// Reads seconds (`90`, `1.5`) or a sum of units (`2h30m`, `500ms`, `1d`).
///
/// ```
/// use std::time::Duration;
///
/// assert_eq!(cr_io::parse_duration("2h30m"), Ok(Duration::from_secs(9000)));
/// assert_eq!(cr_io::parse_duration("1.5"), Ok(Duration::from_millis(1500)));
/// assert!(cr_io::parse_duration("soon").is_err());
/// ```
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is neither seconds nor a duration such as 2h30m");
    let mut rest = text.trim();
    let mut seconds = 0.0;
    if rest.is_empty() {
        return Err(wrong());
    }
    while !rest.is_empty() {
        let digits = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let number = &rest[..rest.len() - digits.len()];
        let number: f64 = number.parse().map_err(|_| wrong())?;
        let unit = UNITS.iter().find(|(unit, _)| digits.starts_with(unit));
        let (length, factor) = match unit {
            Some((unit, factor)) => (unit.len(), *factor),
            None if digits.is_empty() && number_is_all(rest, text) => (0, 1.0),
            None => return Err(wrong()),
        };
        seconds += number * factor;
        rest = &digits[length..];
    }
    if seconds > LONGEST {
        return Err(format!("`{text}` is longer than ten years"));
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// A number without a unit must be alone: `2h30` is no duration.
fn number_is_all(rest: &str, text: &str) -> bool {
    rest == text.trim()
}

/// A duration in the units that [`parse_duration`] reads.
pub fn show_duration(duration: Duration) -> String {
    let ms = duration.as_millis();
    if ms < 1000 || (ms < 60_000 && !ms.is_multiple_of(1000)) {
        return format!("{}s", duration.as_secs_f64());
    }
    let mut left = duration.as_secs();
    let mut text = String::new();
    for (unit, size) in [("d", 86400), ("h", 3600), ("m", 60), ("s", 1)] {
        if left >= size {
            let _ = write!(text, "{}{unit}", left / size);
            left %= size;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_and_shown() {
        #[rustfmt::skip]
        let cases = [
            ("0", 0, "0s"), ("90", 90_000, "1m30s"), ("2h30m", 9_000_000, "2h30m"), ("500ms", 500, "0.5s"),
            ("1.5", 1_500, "1.5s"), ("1d1s", 86_401_000, "1d1s"), ("1m30s", 90_000, "1m30s"), (" 7 ", 7_000, "7s"),
        ];
        for (text, ms, shown) in cases {
            let duration = Duration::from_millis(ms);
            assert_eq!(parse_duration(text), Ok(duration), "{text}");
            assert_eq!(show_duration(duration), shown, "{text}");
        }
        for text in [
            "",
            " ",
            "m",
            "2h30",
            "-1",
            "1e3",
            "..",
            "1 2",
            "inf",
            "NaN",
            "9999999999999",
            "2x",
        ] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }
}
