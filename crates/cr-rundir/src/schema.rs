//! The version of the files in a run directory.

use std::fs;

use anyhow::Context;
use cr_io::NewerSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::file;
use crate::reader::Run;

/// The schema of the state files that this version writes, and the newest that
/// it reads. A new field does not raise it.
pub const SCHEMA: u32 = 1;

/// The state files of a run. Those of an attempt are checked when they are read.
const VERSIONED: [&str; 4] = [file::STARTED, file::SETTINGS, file::RUN, file::SUMMARY];

#[derive(Deserialize)]
struct Versioned {
    /// A file without one is of the first version.
    #[serde(default)]
    schema: u32,
}

/// Reads the state file `text`. A newer one is refused (78) before its other
/// fields are read, because these may differ.
pub fn parse_state<T: DeserializeOwned>(text: &[u8]) -> anyhow::Result<T> {
    let Versioned { schema } = serde_json::from_slice(text)?;
    NewerSchema::refuse(schema, SCHEMA)?;
    Ok(serde_json::from_slice(text)?)
}

/// The text of a state file: `body`, an object, with its schema.
pub fn state_text(body: &impl Serialize) -> anyhow::Result<Vec<u8>> {
    #[derive(Serialize)]
    struct StateFile<'a, T> {
        schema: u32,
        #[serde(flatten)]
        body: &'a T,
    }
    let schema = SCHEMA;
    Ok(serde_json::to_vec(&StateFile { schema, body })?)
}

impl Run {
    /// Refuses a run of a newer version (78). A file that is missing or damaged
    /// does not make a run newer.
    pub fn refuse_newer(&self) -> anyhow::Result<()> {
        for name in VERSIONED {
            let text = fs::read(self.file(name)).unwrap_or_default();
            let schema = serde_json::from_slice(&text).map_or(0, |file: Versioned| file.schema);
            NewerSchema::refuse(schema, SCHEMA)
                .with_context(|| self.file(name).display().to_string())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use cr_io::Exit;

    use super::*;

    #[test]
    fn a_newer_file_is_refused_and_left_as_it_is() {
        for name in VERSIONED {
            let dir = tempfile::tempdir().expect("a directory");
            let run = Run::new(dir.path());
            for text in ["", "{", "{}", "{\"schema\":1,\"later\":{\"x\":1}}\n"] {
                fs::write(run.file(name), text).expect("written");
                assert!(run.refuse_newer().is_ok(), "{name} {text}");
            }
            let newer = "{\"schema\":2}\n";
            fs::write(run.file(name), newer).expect("written");
            let err = run.refuse_newer().expect_err("refused");
            assert_eq!(cr_io::exit_of(&err), Exit::Config, "{name}");
            assert!(err.to_string().is_empty() || cr_io::message(&err).contains(name));
            assert_eq!(fs::read_to_string(run.file(name)).expect("read"), newer);
        }
    }
}
