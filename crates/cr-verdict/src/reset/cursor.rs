//! Reads words, numbers and zones from a text.

use jiff::civil::Date;
use jiff::tz::{Offset, TimeZone};

/// The zone that a time is given in.
pub(super) enum Zone {
    Named(TimeZone),
    Unnamed,
    Unknown,
}

/// Reads a text in lower case from left to right.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    pub(super) rest: &'a str,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(rest: &'a str) -> Self {
        Self { rest }
    }

    /// Runs `read`, and steps back if it finds nothing.
    pub(super) fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let before = *self;
        let found = read(self);
        if found.is_none() {
            *self = before;
        }
        found
    }

    pub(super) fn skip_blanks(&mut self) {
        self.rest = self
            .rest
            .trim_start_matches([' ', '\t', ',', ':', '\u{a0}', '\u{202f}']);
    }

    fn take_while(&mut self, is_part: impl Fn(char) -> bool) -> Option<&'a str> {
        self.skip_blanks();
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!taken.is_empty()).then_some(taken)
    }

    pub(super) fn digits(&mut self) -> Option<&'a str> {
        self.take_while(|c| c.is_ascii_digit())
    }

    pub(super) fn word(&mut self) -> Option<&'a str> {
        self.take_while(char::is_alphabetic)
    }

    pub(super) fn skip_words(&mut self, words: &[&str]) {
        while self
            .attempt(|cursor| cursor.word().filter(|word| words.contains(word)))
            .is_some()
        {}
    }

    /// `:30`
    pub(super) fn sixtieth(&mut self) -> Option<i8> {
        self.rest = self.rest.strip_prefix(':')?;
        let digits = self
            .rest
            .get(..2)
            .filter(|two| two.bytes().all(|b| b.is_ascii_digit()))?;
        self.rest = &self.rest[2..];
        digits.parse().ok()
    }

    /// `am`, `p.m.`: the hours to add.
    pub(super) fn half(&mut self) -> Option<i8> {
        self.skip_blanks();
        let halves = [("am", 0), ("a.m", 0), ("pm", 12), ("p.m", 12)];
        let (name, hours) = halves
            .into_iter()
            .find(|(name, _)| self.rest.starts_with(name))?;
        let rest = &self.rest[name.len()..];
        self.rest = rest
            .strip_prefix('.')
            .filter(|_| name.contains('.'))
            .unwrap_or(rest);
        (!self.rest.starts_with(char::is_alphanumeric)).then_some(hours)
    }

    /// `5`, `5th`; not the hour of `5pm` or `5:30`.
    pub(super) fn day_of_month(&mut self) -> Option<i8> {
        let day = self.digits()?.parse().ok()?;
        let ordinals = ["st", "nd", "rd", "th"];
        if let Some(rest) = ordinals.iter().find_map(|end| self.rest.strip_prefix(end)) {
            self.rest = rest;
        }
        let ended = !self
            .rest
            .starts_with(|c: char| c == ':' || c.is_alphanumeric());
        ended.then_some(day)
    }

    /// `2026-12-05`
    pub(super) fn date(&mut self) -> Option<Date> {
        self.skip_blanks();
        let date = self.rest.get(..10)?.parse().ok()?;
        self.rest = &self.rest[10..];
        Some(date)
    }

    /// `(Europe/Paris)`, `UTC`, `(UTC+2)`.
    pub(super) fn zone(&mut self) -> Zone {
        self.skip_blanks();
        let opened = self.rest.strip_prefix(['(', '[']);
        let bare = opened.unwrap_or(self.rest);
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '/' | '_' | '-' | '+' | ':');
        let end = bare.find(|c| !is_part(c)).unwrap_or(bare.len());
        let (name, rest) = bare.split_at(end);
        match zone_named(name) {
            Some(zone) => Zone::Named(zone),
            // A remark in parentheses has more than one word.
            None if opened.is_some() && rest.starts_with([')', ']']) => Zone::Unknown,
            None => Zone::Unnamed,
        }
    }
}

fn zone_named(name: &str) -> Option<TimeZone> {
    let offset = name
        .strip_prefix("utc")
        .or_else(|| name.strip_prefix("gmt"));
    match offset {
        Some("") => Some(TimeZone::UTC),
        Some(offset) => fixed(offset),
        None if name == "z" => Some(TimeZone::UTC),
        None if name.is_empty() || name.len() > 64 => None,
        None => TimeZone::get(name).ok(),
    }
}

/// `+2`, `-05:30`, `+0530`
fn fixed(offset: &str) -> Option<TimeZone> {
    let (sign, digits) = match offset.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = match (digits.split_once(':'), digits.len()) {
        (Some(parts), _) => parts,
        (None, 4) => digits.split_at_checked(2)?,
        (None, _) => (digits, "0"),
    };
    let number = |digits: &str| digits.parse::<u8>().ok().map(i32::from);
    let seconds = number(hours)? * 3600 + number(minutes)? * 60;
    Offset::from_seconds(sign * seconds)
        .ok()
        .map(TimeZone::fixed)
}
