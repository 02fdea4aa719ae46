//! The version of the files in a run directory.

use std::fs;

use anyhow::anyhow;
use cr_io::Exit;
use serde::Deserialize;

use crate::file;
use crate::reader::Run;

/// The newest schema that this version reads. What is added to a file does not
/// raise it.
pub const SCHEMA: u32 = 1;

/// The files that have a schema.
const VERSIONED: [&str; 4] = [file::STARTED, file::SETTINGS, file::RUN, file::SUMMARY];

#[derive(Deserialize)]
struct Versioned {
    /// A file without one is of the first version.
    #[serde(default)]
    schema: u32,
}

impl Run {
    /// Refuses a run of a later version (78): what its files mean is not known
    /// here. A file that is missing or damaged is not of a later version.
    pub fn refuse_newer(&self) -> anyhow::Result<()> {
        for name in VERSIONED {
            let text = fs::read(self.file(name)).unwrap_or_default();
            let schema = serde_json::from_slice(&text).map_or(0, |file: Versioned| file.schema);
            if schema > SCHEMA {
                let shown = self.file(name);
                let text = format!(
                    "{}: schema {schema} is newer than this version knows ({SCHEMA}); \
                     update claude-runner",
                    shown.display()
                );
                return Err(anyhow!(text).context(Exit::Config));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
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
