//! A JSON Schema, and what an answer lacks to satisfy it.

use std::fmt;
use std::fs::File;
use std::path::Path;

use anyhow::{Context, anyhow};
use boon::{CompileError, Compiler, SchemaIndex, Schemas, ValidationError};
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
    /// Reads the schema in `path`. What it refers to may be in other files, but
    /// is never fetched.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let name = || path.display().to_string();
        let file = File::open(path).with_context(name).context(Exit::NoInput)?;
        let text = std::io::read_to_string(file)
            .with_context(name)
            .context(Exit::Io)?;
        let schema: Value = serde_json::from_str(&text)
            .with_context(name)
            .context(Exit::Config)?;
        let mut schemas = Schemas::new();
        let mut compiler = Compiler::new();
        let place = std::path::absolute(path)
            .with_context(name)
            .context(Exit::NoInput)?;
        let place = url(&place);
        let failed = |err| refused(&err).context(name()).context(Exit::Config);
        compiler.add_resource(&place, schema).map_err(failed)?;
        let index = compiler.compile(&place, &mut schemas).map_err(failed)?;
        Ok(Self { schemas, index })
    }

    /// Checks `json`; an error says what is wrong first.
    pub(crate) fn check(&self, json: &str) -> Result<(), String> {
        let value: Value = serde_json::from_str(json).map_err(|err| err.to_string())?;
        let checked = self.schemas.validate(&value, self.index);
        checked.map_err(|err| first(&err))
    }
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

/// Why a schema is none. The alternate form gives the cause.
fn refused(err: &CompileError) -> anyhow::Error {
    anyhow!("{}", one_line(&format!("{err:#}")))
}

fn one_line(text: &str) -> String {
    cr_io::sanitized(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}
