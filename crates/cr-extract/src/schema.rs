//! A JSON Schema, and the first violation of it.
//!
//! A schema may refer to other files; nothing is fetched from the network.

use std::fmt;
use std::fs::File;
use std::path::Path;

use anyhow::{Context, anyhow};
use boon::{CompileError, Compiler, ErrorKind, SchemaIndex, Schemas, ValidationError};
use cr_io::Exit;
use serde_json::Value;

/// A schema, ready to use.
pub(crate) struct Schema {
    schemas: Schemas,
    index: SchemaIndex,
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema").finish_non_exhaustive()
    }
}

impl Schema {
    /// Reads the schema in `path`.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let schema = parsed(&text_of(path)?, path)?;
        compiled(path, schema)?.map_err(|err| refused(&err, path))
    }

    /// Checks `json`; the error is the first violation.
    pub(crate) fn check(&self, json: &str) -> Result<(), String> {
        let value: Value = serde_json::from_str(json).map_err(|err| err.to_string())?;
        let checked = self.schemas.validate(&value, self.index);
        checked.map_err(|err| first(&err))
    }
}

/// Refuses the schema in `path` if every reader would: another one may know more
/// kinds of references, or of patterns.
pub(crate) fn check(path: &Path) -> anyhow::Result<()> {
    check_text(&text_of(path)?, path)
}

fn check_text(text: &str, name: &Path) -> anyhow::Result<()> {
    let schema = parsed(text, name)?;
    if !schema.is_object() {
        return Err(anyhow!("not a schema: expected an object"))
            .with_context(|| shown(name))
            .context(Exit::Config);
    }
    match compiled(name, schema)? {
        Err(err) if is_certain(&err) => Err(refused(&err, name)),
        _ => Ok(()),
    }
}

/// Whether every reader would refuse the schema.
fn is_certain(err: &CompileError) -> bool {
    use CompileError as E;
    !matches!(
        err,
        E::ValidationError { src, .. } if is_pattern(src)
    ) && !matches!(
        err,
        E::LoadUrlError { .. }
            | E::UnsupportedUrlScheme { .. }
            | E::UnsupportedDraft { .. }
            | E::UnsupportedVocabulary { .. }
            | E::InvalidRegex { .. }
            | E::Bug(_)
    )
}

/// Whether only a pattern is wrong: other readers know more kinds of them.
fn is_pattern(err: &ValidationError<'_, '_>) -> bool {
    if err.causes.is_empty() {
        return matches!(err.kind, ErrorKind::Format { .. });
    }
    err.causes.iter().all(is_pattern)
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn text_of(path: &Path) -> anyhow::Result<String> {
    let name = || shown(path);
    let file = File::open(path).with_context(name).context(Exit::NoInput)?;
    std::io::read_to_string(file)
        .with_context(name)
        .context(Exit::Io)
}

fn parsed(text: &str, path: &Path) -> anyhow::Result<Value> {
    serde_json::from_str(text)
        .with_context(|| shown(path))
        .context(Exit::Config)
}

/// The schema, or why there is none.
fn compiled(path: &Path, schema: Value) -> anyhow::Result<Result<Schema, Box<CompileError>>> {
    let place = std::path::absolute(path)
        .with_context(|| shown(path))
        .context(Exit::NoInput)?;
    let place = url(&place);
    let mut schemas = Schemas::new();
    let mut compiler = Compiler::new();
    if let Err(err) = compiler.add_resource(&place, schema) {
        return Ok(Err(Box::new(err)));
    }
    Ok(match compiler.compile(&place, &mut schemas) {
        Ok(index) => Ok(Schema { schemas, index }),
        Err(err) => Err(Box::new(err)),
    })
}

/// The first violation that has no cause of its own, with its place.
fn first(err: &ValidationError<'_, '_>) -> String {
    if let Some(cause) = err.causes.first() {
        return first(cause);
    }
    let place = err.instance_location.to_string();
    let place = if place.is_empty() { "/" } else { &place };
    one_line(&format!("{place}: {}", err.kind))
}

/// The address of a file: a `#` or `%` in its name means nothing.
fn url(path: &Path) -> String {
    let mut url = "file://".to_owned();
    for &byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte) {
            url.push(char::from(byte));
        } else {
            url += &format!("%{byte:02X}");
        }
    }
    url
}

/// The error for a schema that is refused. The alternate form gives the cause.
fn refused(err: &CompileError, path: &Path) -> anyhow::Error {
    let text = match err {
        CompileError::ValidationError { src, .. } => format!("not a schema: {}", first(src)),
        _ => one_line(&format!("{err:#}")),
    };
    anyhow!(text).context(shown(path)).context(Exit::Config)
}

fn one_line(text: &str) -> String {
    cr_io::sanitized(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_reader_would_take_is_refused_and_what_another_might_is_not() {
        let name = Path::new("s.json");
        for wrong in [
            "",
            "{",
            "[]",
            "true",
            r#"{"type":"strng"}"#,
            r#"{"required":"a"}"#,
            r#"{"properties":{"a":{"minimum":"1"}}}"#,
            r##"{"$ref":"#/none"}"##,
        ] {
            let err = check_text(wrong, name).expect_err(wrong);
            assert_eq!(cr_io::exit_of(&err), Exit::Config, "{wrong}");
            let said = cr_io::message(&err);
            assert!(said.starts_with("s.json: "), "{said}");
            assert_eq!(said.lines().count(), 1, "{said}");
        }
        for fine in [
            "{}",
            r#"{"type":"object","required":["a"]}"#,
            r#"{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}"#,
            // Patterns and references are of many kinds.
            r#"{"properties":{"a":{"pattern":"(?=x)"}}}"#,
            r#"{"$ref":"https://example.org/schema.json"}"#,
        ] {
            assert!(check_text(fine, name).is_ok(), "{fine}");
        }
    }
}
