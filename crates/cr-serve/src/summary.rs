//! Summaries: the file of a run that has ended, or what `cr-summarize` says of a
//! transcript so far.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use cr_io::{Redactor, find_tool};
use cr_rundir::file;
use tokio::process::Command;
use tokio::sync::{Mutex, Semaphore};
use tokio::time::timeout;

use crate::encode;
use crate::source::Source;

/// The time for a summary; a gigabyte takes less than a second.
const LIMIT: Duration = Duration::from_secs(30);
/// The longest summary that is sent.
const LONGEST: u64 = 8 << 20;

/// Summaries that were made, by what they are about.
#[derive(Debug)]
pub(crate) struct Summaries {
    made: Mutex<HashMap<String, (u64, Arc<str>)>>,
    /// One at a time: it reads all of a transcript.
    turn: Semaphore,
}

impl Default for Summaries {
    fn default() -> Self {
        Self {
            made: Mutex::default(),
            turn: Semaphore::new(1),
        }
    }
}

impl Summaries {
    /// The summary of `source` as JSON in one line; `None` if there is nothing to
    /// summarise.
    pub(crate) async fn of(
        &self,
        id: &str,
        source: &Source,
        redactor: &Redactor,
    ) -> Option<Arc<str>> {
        if let Some(text) = kept(source).await {
            return Some(encode::document(&text, redactor).into());
        }
        let _turn = self.turn.acquire().await.ok()?;
        let transcript = source.open().ok()??;
        let length = transcript.metadata().ok()?.len();
        if let Some((at, summary)) = self.made.lock().await.get(id)
            && *at == length
        {
            return Some(Arc::clone(summary));
        }
        let text = summarize(&transcript).await.ok()?;
        let summary: Arc<str> = encode::document(&text, redactor).into();
        if summary.is_empty() {
            return None;
        }
        let mut made = self.made.lock().await;
        if made.len() > 64 {
            made.clear();
        }
        made.insert(id.to_owned(), (length, Arc::clone(&summary)));
        Some(summary)
    }
}

/// The summary that a run has left.
async fn kept(source: &Source) -> Option<Vec<u8>> {
    let Source::Run(run) = source else {
        return None;
    };
    let run = run.clone();
    let read = move || {
        let path = run.file(file::SUMMARY);
        let is_short = std::fs::metadata(&path).is_ok_and(|meta| meta.len() < LONGEST);
        let is_kept = is_short && run.state().is_over();
        is_kept.then(|| std::fs::read(path).ok()).flatten()
    };
    let text = tokio::task::spawn_blocking(read).await.ok()??;
    // It is written whole, but anybody may have changed it.
    serde_json::from_slice::<serde::de::IgnoredAny>(&text)
        .is_ok()
        .then_some(text)
}

/// Runs cr-summarize; its exit code is the verdict and no failure.
async fn summarize(transcript: &File) -> io::Result<Vec<u8>> {
    let mut input = transcript.try_clone()?;
    // The descriptor shares its place with other copies, so it gets one of its own.
    input = File::open(format!(
        "/proc/self/fd/{}",
        std::os::fd::AsRawFd::as_raw_fd(&input)
    ))?;
    let child = Command::new(find_tool("cr-summarize"))
        .args(["--full", "--estimate-cost"])
        .stdin(Stdio::from(input))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    let output = timeout(LIMIT, child.wait_with_output()).await??;
    let text = output.stdout;
    let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(&text).is_ok();
    if is_json {
        Ok(text)
    } else {
        Err(io::ErrorKind::InvalidData.into())
    }
}
