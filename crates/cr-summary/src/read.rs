//! Reading a summary that some version of `cr-summarize` wrote.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::Context;
use cr_io::{Exit, NewerSchema};
use serde::Deserialize;

use crate::{SCHEMA, Summary};

/// Reads the summary at `path`; `None` if there is no file.
///
/// A newer schema is [`Exit::Config`] with [`NewerSchema`] as its cause.
pub fn read(path: &Path) -> anyhow::Result<Option<Summary>> {
    let place = || path.display().to_string();
    match fs::read(path) {
        Ok(bytes) => Summary::parse(&bytes).with_context(place).map(Some),
        Err(err) if err.kind() == ErrorKind::NotFound => Ok(None),
        Err(err) => Err(err).with_context(place),
    }
}

impl Summary {
    /// Reads a summary from its JSON.
    pub fn parse(json: &[u8]) -> anyhow::Result<Self> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Version {
            schema: u32,
        }
        // Looked at alone: the other fields of a newer format may have other
        // types.
        let Version { schema } = serde_json::from_slice(json).context(Exit::Data)?;
        NewerSchema::refuse(schema, SCHEMA)?;
        serde_json::from_slice(json).context(Exit::Data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_fields_are_ignored_and_missing_ones_are_null() {
        let json = br#"{"schema":1,"outcome":"success","new":{"a":[1]},"tools":{"Bash":2,"Ab":1}}"#;
        let summary = Summary::parse(json).expect("a summary");
        assert_eq!(summary.outcome.as_deref(), Some("success"));
        assert_eq!(
            summary.tools.0,
            [("Bash".to_owned(), 2), ("Ab".to_owned(), 1)]
        );
        assert_eq!((summary.code, summary.cost_usd), (None, None));
    }

    #[test]
    fn a_newer_schema_is_refused_whatever_else_changed() {
        let json = br#"{"schema":2,"outcome":{"word":"success"},"code":"none"}"#;
        let err = Summary::parse(json).expect_err("refused");
        assert_eq!(cr_io::exit_of(&err), Exit::Config);
        assert!(err.downcast_ref::<NewerSchema>().is_some());
    }

    #[test]
    fn a_summary_is_written_as_it_was_read() {
        let summary = Summary {
            schema: SCHEMA,
            outcome: Some("failed".into()),
            code: Some(1),
            started_at: "2026-01-02T03:04:05.6Z".parse().ok(),
            errors: vec!["a\u{202e}b".to_owned()],
            json: serde_json::value::RawValue::from_string("{\"a\":[1]}".to_owned()).ok(),
            truncated: vec!["result".into()],
            ..Summary::default()
        };
        let line = summary.line();
        assert!(line.contains(r#""started_at":"2026-01-02T03:04:05.600Z""#));
        let again = Summary::parse(line.as_bytes()).expect("a summary");
        assert_eq!(again.line(), line);
    }
}
