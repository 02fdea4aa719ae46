//! Runs git, without the programs that a repository can name.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, anyhow};
use cr_io::Exit;
use sha2::{Digest as _, Sha256};

use crate::message::Digest;

/// Settings for every call: no hook, no monitor, no housekeeping that stays
/// behind.
const SETTINGS: [&str; 5] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
];

/// Variables by which a caller's git would mean another repository.
const FOREIGN: [&str; 6] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
];

/// git in one directory.
#[derive(Clone, Debug)]
pub(crate) struct Git {
    dir: PathBuf,
}

impl Git {
    pub(crate) fn at(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    fn command<A: AsRef<OsStr>>(&self, args: &[A]) -> Command {
        let mut command = Command::new("git");
        command.arg("--no-optional-locks").arg("-C").arg(&self.dir);
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        for name in FOREIGN {
            command.env_remove(name);
        }
        command.env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
        command.args(args).stdin(Stdio::null());
        command
    }

    /// Its standard output.
    pub(crate) fn bytes<A: AsRef<OsStr>>(&self, args: &[A]) -> anyhow::Result<Vec<u8>> {
        let output = self.command(args).output();
        let output = output.context("git").context(Exit::NotFound)?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let text = String::from_utf8_lossy(&output.stderr);
        let last = text.lines().rfind(|line| !line.trim().is_empty());
        let what = args.first().map(|word| word.as_ref().to_string_lossy());
        let what = what.unwrap_or_default();
        Err(anyhow!("git {what}: {}", last.unwrap_or("failed")))
    }

    /// Its standard output as one line.
    pub(crate) fn text<A: AsRef<OsStr>>(&self, args: &[A]) -> anyhow::Result<String> {
        let bytes = self.bytes(args)?;
        let text = String::from_utf8(bytes).context("git: a name that is not UTF-8")?;
        Ok(text.trim_end_matches('\n').to_owned())
    }

    /// Whether it succeeds.
    pub(crate) fn succeeds(&self, args: &[&str]) -> bool {
        let mut command = self.command(args);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }

    /// Whether it has the commit `id`.
    pub(crate) fn has_commit(&self, id: &str) -> bool {
        is_object_id(id) && self.succeeds(&["cat-file", "-e", &format!("{id}^{{commit}}")])
    }

    /// Writes a bundle of what `wanted` names and `known` commits lack; `None` if
    /// that is nothing.
    pub(crate) fn bundle(
        &self,
        file: &Path,
        wanted: &[&str],
        known: &[String],
    ) -> anyhow::Result<Option<Digest>> {
        let known = known.iter().map(|id| format!("^{id}"));
        let range: Vec<String> = wanted
            .iter()
            .map(ToString::to_string)
            .chain(known)
            .collect();
        let mut count = vec!["rev-list".to_owned(), "--count".to_owned()];
        count.extend(range.iter().cloned());
        if self.text(&count)? == "0" {
            return Ok(None);
        }
        let mut create: Vec<&OsStr> = ["bundle", "create", "--quiet"].map(OsStr::new).to_vec();
        create.push(file.as_os_str());
        create.extend(range.iter().map(OsStr::new));
        self.bytes(&create)?;
        digest(file).map(Some)
    }
}

/// Whether `text` can be the id of an object, and nothing else.
pub(crate) fn is_object_id(text: &str) -> bool {
    [40, 64].contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The length and the SHA-256 of `file`.
pub(crate) fn digest(file: &Path) -> anyhow::Result<Digest> {
    let shown = || file.display().to_string();
    let mut from = File::open(file).with_context(shown)?;
    let mut hash = Hash::default();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match from.read(&mut buffer).with_context(shown)? {
            0 => return Ok(hash.end()),
            count => hash.add(&buffer[..count]),
        }
    }
}

/// A SHA-256 of bytes that come in parts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hash {
    bytes: u64,
    sha256: Sha256,
}

impl Hash {
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.sha256.update(bytes);
    }

    pub(crate) fn end(self) -> Digest {
        let sum = self.sha256.finalize();
        let sha256 = sum.iter().fold(String::new(), |mut text, byte| {
            text.push_str(&format!("{byte:02x}"));
            text
        });
        Digest {
            bytes: self.bytes,
            sha256,
        }
    }
}
