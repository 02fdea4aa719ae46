//! One value of the file: what is allowed, and how it is shown.

use std::env;
use std::time::Duration;

use cr_estimate::{HIGHEST, LOWEST};
use cr_io::parse_duration;
use toml::Value;

use crate::settings::Kind;

/// The shortest time of a task.
const SHORTEST_TASK: Duration = Duration::from_mins(1);

/// The value as an argument, or why it is none.
pub(crate) fn plain(kind: Kind, value: &Value) -> Result<String, String> {
    match (kind, value) {
        (Kind::Count | Kind::Money | Kind::Time | Kind::TaskTime, Value::Integer(number))
            if *number >= 0 =>
        {
            in_range(kind, number.to_string())
        }
        (Kind::Count, _) => Err("expected a whole number, at least 0".to_owned()),
        (Kind::Money, Value::Float(number)) if *number >= 0.0 && number.is_finite() => {
            Ok(number.to_string())
        }
        (Kind::Money, _) => Err("expected dollars, at least 0".to_owned()),
        (Kind::Time | Kind::TaskTime, Value::String(text)) => {
            parse_duration(text)?;
            in_range(kind, text.clone())
        }
        (Kind::Time | Kind::TaskTime, _) => {
            Err("expected seconds, or a time such as \"2h30m\"".to_owned())
        }
        (Kind::List, Value::Array(items)) => {
            let items: Result<Vec<String>, String> = items.iter().map(text).collect();
            items.map(|items| items.join(","))
        }
        (Kind::Text | Kind::List, _) => text(value),
        (Kind::Path | Kind::Program, _) => text(value).and_then(|text| absolute_path(kind, &text)),
        (Kind::Output, Value::String(text))
            if ["report", "summary", "answer", "stream"].contains(&text.as_str()) =>
        {
            Ok(text.clone())
        }
        (Kind::Output, _) => Err("expected report, summary, answer or stream".to_owned()),
        (Kind::Turns, _) => turns(value, LOWEST, HIGHEST).map(|turns| turns.to_string()),
        (Kind::Part, _) => part(value),
    }
}

/// A number of turns from `least` to `most`.
pub(crate) fn turns(value: &Value, least: u64, most: u64) -> Result<u64, String> {
    let number = value.as_integer().and_then(|number| number.try_into().ok());
    number
        .filter(|turns| (least..=most).contains(turns))
        .ok_or_else(|| format!("expected a whole number from {least} to {most}"))
}

fn part(value: &Value) -> Result<String, String> {
    match value {
        Value::Float(number) if (0.0..=1.0).contains(number) => Ok(number.to_string()),
        Value::Integer(number @ 0..=1) => Ok(number.to_string()),
        _ => Err("expected a number from 0 to 1".to_owned()),
    }
}

/// The time, unless it is too short for its kind.
fn in_range(kind: Kind, time: String) -> Result<String, String> {
    let is_short = || parse_duration(&time).is_ok_and(|time| time < SHORTEST_TASK);
    if kind == Kind::TaskTime && is_short() {
        return Err("expected a time of at least 60 seconds".to_owned());
    }
    Ok(time)
}

fn text(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) if !text.is_empty() && !text.chars().any(char::is_control) => {
            Ok(text.clone())
        }
        _ => Err("expected text, of one line and not empty".to_owned()),
    }
}

/// A path that means the same wherever one is.
fn absolute_path(kind: Kind, text: &str) -> Result<String, String> {
    if let Some(rest) = text.strip_prefix("~/") {
        let home = env::var("HOME").map_err(|_| "HOME is not set".to_owned())?;
        return Ok(format!("{home}/{rest}"));
    }
    if text.starts_with('/') || (kind == Kind::Program && !text.contains('/')) {
        return Ok(text.to_owned());
    }
    Err("expected a path that begins with / or ~/".to_owned())
}

/// The value as the file would have it.
pub(crate) fn shown(kind: Kind, value: &str) -> String {
    let is_number = value.parse::<f64>().is_ok();
    match kind {
        Kind::Count | Kind::Money | Kind::Time | Kind::TaskTime | Kind::Part | Kind::Turns
            if is_number =>
        {
            value.to_owned()
        }
        // A string of JSON is one of TOML.
        _ => quoted(value),
    }
}

/// A text in quotes.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}
