//! What a session left: its log, or the streams of its runs.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use cr_io::{Exit, sanitized};
use cr_ledger_db::Ledger;
use cr_ledger_db::rusqlite;
use cr_rundir::file;
use serde_json::json;

/// The records of a session, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Transcript {
    parts: Vec<Part>,
}

/// A log, or the stream of a run and the prompt that it does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    lines: PathBuf,
    prompt: Option<PathBuf>,
}

impl Transcript {
    /// A file that the user named.
    pub(crate) fn file(path: &Path) -> Self {
        let lines = path.to_owned();
        let parts = vec![Part {
            lines,
            prompt: None,
        }];
        Self { parts }
    }

    /// The log that the agent keeps of a session.
    pub(crate) fn log(session: &str) -> Option<Self> {
        let path = cr_agent::find_session_log(session)?;
        Some(Self::file(&path))
    }

    /// The streams of the session's runs whose directories are still there.
    pub(crate) fn runs(ledger: &Ledger, session: &str) -> anyhow::Result<Option<Self>> {
        let parts: Vec<Part> = run_dirs(ledger, session)?
            .into_iter()
            .map(|dir| Part {
                lines: dir.join(file::STREAM),
                prompt: Some(dir.join(file::PROMPT)),
            })
            .filter(|part| part.lines.is_file())
            .collect();
        Ok((!parts.is_empty()).then_some(Self { parts }))
    }

    /// What is there of a session: the log, else the runs.
    pub(crate) fn find(ledger: &Ledger, session: &str) -> anyhow::Result<Option<Self>> {
        match Self::log(session) {
            Some(log) => Ok(Some(log)),
            None => Self::runs(ledger, session),
        }
    }

    /// The deterministic handoff in at most `limit` bytes.
    pub(crate) fn handoff(&self, limit: usize) -> anyhow::Result<String> {
        let place = || {
            let paths = self.parts.iter().map(|part| part.lines.display());
            let paths: Vec<String> = paths.map(|path| path.to_string()).collect();
            sanitized(&paths.join(", "))
        };
        let reader = self.reader().with_context(place).context(Exit::NoInput)?;
        let read = cr_handoff::read(reader, None);
        let handoff = read.with_context(place).context(Exit::Io)?;
        Ok(handoff.text(limit))
    }

    /// All records as one input. The prompt of a run is the line that the log has
    /// of it.
    fn reader(&self) -> io::Result<Box<dyn Read>> {
        let mut all: Box<dyn Read> = Box::new(io::empty());
        for part in &self.parts {
            if let Some(prompt) = part
                .prompt
                .as_ref()
                .and_then(|path| std::fs::read(path).ok())
            {
                let text = String::from_utf8_lossy(&prompt);
                let line = json!({"type": "user", "message": {"role": "user", "content": text}});
                all = Box::new(all.chain(Cursor::new(format!("{line}\n"))));
            }
            let lines = File::open(&part.lines)?;
            // A stream that was cut off has no end of its last line.
            all = Box::new(all.chain(lines).chain(Cursor::new("\n")));
        }
        Ok(all)
    }
}

fn run_dirs(ledger: &Ledger, session: &str) -> rusqlite::Result<Vec<PathBuf>> {
    let sql = "SELECT run_dir FROM run JOIN run_session USING (run_key)
        WHERE run_session.session = (SELECT id FROM text_value WHERE value = ?1)
            AND run_dir <> ''
        ORDER BY coalesce(started_at, 0), run_key";
    let mut statement = ledger.db().prepare_cached(sql)?;
    let dirs = statement.query_map([session], |row| row.get::<_, String>(0))?;
    dirs.map(|dir| dir.map(PathBuf::from)).collect()
}

/// Refuses what is no id of a session: it becomes the name of a file.
pub(crate) fn check_session(id: &str) -> anyhow::Result<()> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if id.is_empty() || id.len() > 128 || !id.bytes().all(is_plain) {
        let text = format!("`{}` is no id of a session", sanitized(id));
        return Err(anyhow!(text).context(Exit::Usage));
    }
    Ok(())
}
