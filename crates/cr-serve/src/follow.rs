//! `/events`: a run from any line on, and the list of runs, as server-sent events.
//!
//! Nothing is kept for a reader except the piece that is on its way: a reader that is
//! slow is behind, and the others are not.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use cr_rundir::{Run, file};
use tokio::sync::mpsc::Sender;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep, sleep_until};

use crate::encode;
use crate::run_list;
use crate::source::Source;
use crate::state::{App, Counts};
use crate::transcript::{Events, Kinds, Transcript};

/// Between two summaries of a run that goes on.
const SUMMARY_INTERVAL: Duration = Duration::from_secs(2);
/// How long a run that is over may take to write its summary.
const SUMMARY_TIMEOUT: Duration = Duration::from_secs(2);
/// Between two looks at the list: a run that works changes all the time.
const LIST_INTERVAL: Duration = Duration::from_millis(500);
/// Some changes of a state depend on the clock alone.
const LOOK_AGAIN: Duration = Duration::from_secs(10);

/// The reader is gone.
#[derive(Debug)]
pub(crate) struct Gone;

/// One reader of one run.
#[derive(Debug)]
pub(crate) struct Follower {
    pub(crate) app: App,
    pub(crate) id: String,
    pub(crate) source: Source,
    pub(crate) since: u64,
    pub(crate) kinds: Kinds,
    pub(crate) to: Sender<Bytes>,
}

/// Sends the events of the run until it is over.
pub(crate) async fn run(follower: Follower) -> Result<(), Gone> {
    let mut changes = follower.source.changes(&follower.app.watcher);
    let mut reader = follower.open(&mut changes).await?;
    let mut is_live = false;
    let mut summary_at = 0;
    let mut next_summary = Instant::now();
    loop {
        changes.mark_seen();
        // Asked first: what was written before the end is then read.
        let is_over = follower.is_over().await;
        reader = follower.catch_up(reader).await?;
        if !is_live {
            is_live = true;
            let data = format!("{{\"at\":{}}}", reader.at);
            follower.event("live", None, &data).await?;
        }
        if is_over {
            return follower.finish(reader).await;
        }
        if summary_at != reader.at && Instant::now() >= next_summary {
            summary_at = reader.at;
            next_summary = Instant::now() + SUMMARY_INTERVAL;
            follower.summary().await?;
        }
        let wake_at = if summary_at == reader.at {
            Instant::now() + LOOK_AGAIN
        } else {
            next_summary
        };
        tokio::select! {
            () = changes.wait() => {}
            () = sleep_until(wake_at) => {}
            () = follower.to.closed() => return Err(Gone),
        }
    }
}

impl Follower {
    /// Waits for the transcript of a run that starts, and says what comes.
    async fn open(&self, changes: &mut crate::watcher::Changes) -> Result<Transcript, Gone> {
        loop {
            changes.mark_seen();
            let is_over = self.is_over().await;
            let file = match self.source.open() {
                Ok(Some(file)) => Some(file),
                _ if is_over => tempfile::tempfile().ok().map(Arc::new),
                _ => None,
            };
            if let Some(file) = file {
                let opened = Transcript::open(file, self.since).map_err(|_| Gone)?;
                return self.begin(opened).await;
            }
            tokio::select! {
                () = changes.wait() => {}
                () = sleep(LOOK_AGAIN) => {}
                () = self.to.closed() => return Err(Gone),
            }
        }
    }

    async fn begin(&self, opened: (Transcript, Option<&str>)) -> Result<Transcript, Gone> {
        let (reader, gap) = opened;
        let id = serde_json::json!(self.id);
        let data = format!("{{\"id\":{id},\"at\":{}}}", reader.at);
        self.event("start", None, &data).await?;
        if let Some(why) = gap {
            let (from, to) = (self.since, reader.at);
            let data = format!("{{\"from\":{from},\"to\":{to},\"why\":\"{why}\"}}");
            self.event("gap", None, &data).await?;
        }
        Ok(reader)
    }

    /// Sends what there is.
    async fn catch_up(&self, mut reader: Transcript) -> Result<Transcript, Gone> {
        loop {
            let (app, kinds) = (self.app.clone(), self.kinds.clone());
            let read = spawn_blocking(move || {
                let events = reader.read(&kinds, &app.redactor);
                (reader, events)
            });
            let (again, events) = read.await.map_err(|_| Gone)?;
            reader = again;
            let events = events.map_err(|_| Gone)?;
            if events.text.is_empty() {
                return Ok(reader);
            }
            self.send(events).await?;
        }
    }

    /// Sends what a run leaves when it is over.
    async fn finish(&self, mut reader: Transcript) -> Result<(), Gone> {
        let torn = reader
            .torn(&self.kinds, &self.app.redactor)
            .map_err(|_| Gone)?;
        self.send(torn).await?;
        if let Source::Run(run) = &self.source {
            let at = reader.at;
            if let Ok(line) = std::fs::read(run.file(file::GIT)) {
                let data = encode::document(&line, &self.app.redactor);
                self.event("git", Some(&format!("{at}/git")), &data).await?;
            }
            self.wait_for_summary(run).await;
        }
        self.summary().await?;
        let id = format!("{}/end", reader.at);
        self.event("end", Some(&id), "{}").await
    }

    async fn wait_for_summary(&self, run: &Run) {
        let until = Instant::now() + SUMMARY_TIMEOUT;
        let mut changes = self.source.changes(&self.app.watcher);
        while Instant::now() < until && !run.has(file::SUMMARY) && run.has(file::EXIT) {
            tokio::select! {
                () = changes.wait() => {}
                () = sleep_until(until) => {}
                () = self.to.closed() => return,
            }
        }
    }

    async fn summary(&self) -> Result<(), Gone> {
        let app = &self.app;
        let summary = app.summaries.of(&self.id, &self.source, &app.redactor);
        match summary.await {
            Some(summary) => self.event("summary", None, &summary).await,
            None => Ok(()),
        }
    }

    async fn is_over(&self) -> bool {
        let source = self.source.clone();
        spawn_blocking(move || source.is_over())
            .await
            .unwrap_or(false)
    }

    async fn event(&self, name: &str, id: Option<&str>, data: &str) -> Result<(), Gone> {
        let mut events = Events {
            count: 1,
            ..Events::default()
        };
        encode::event(name, id, data, &mut events.text);
        self.send(events).await
    }

    async fn send(&self, events: Events) -> Result<(), Gone> {
        send(&self.app, &self.to, events).await
    }
}

async fn send(app: &App, to: &Sender<Bytes>, events: Events) -> Result<(), Gone> {
    if events.text.is_empty() {
        return Ok(());
    }
    Counts::add(&app.counts.events, events.count);
    Counts::add(&app.counts.bytes, events.text.len() as u64);
    to.send(Bytes::from(events.text)).await.map_err(|_| Gone)
}

/// Sends the list of runs, and each change of it, until the reader is gone. A reader
/// that is slow gets fewer changes, and the last one always.
pub(crate) async fn list(app: App, to: Sender<Bytes>, as_text: bool) -> Result<(), Gone> {
    let mut changes = app.watcher.all();
    let mut before = None;
    loop {
        changes.mark_seen();
        let asked_at = Instant::now().into_std();
        let (now, read_at) = snapshot(&app).await.ok_or(Gone)?;
        let text = if as_text {
            run_list::lines(before.as_deref(), &now)
        } else {
            run_list::events(before.as_deref(), &now)
        };
        let count = u64::from(!text.is_empty());
        send(&app, &to, Events { text, count }).await?;
        before = Some(now);
        // The list is as old as this before it is read again.
        sleep(LIST_INTERVAL).await;
        if read_at < asked_at {
            // Somebody else had asked before; a change since then is not in it.
            continue;
        }
        tokio::select! {
            () = changes.wait() => {}
            () = sleep(LOOK_AGAIN) => {}
            () = to.closed() => return Err(Gone),
        }
    }
}

/// The list of runs, and when it was read; or of the recordings that were named.
pub(crate) async fn snapshot(app: &App) -> Option<(Arc<run_list::Snapshot>, std::time::Instant)> {
    let app = app.clone();
    let look = move || match app.recordings.as_slice() {
        [] => app.list.snapshot(&app.redactor),
        all => {
            let list = run_list::recordings(all, &app.redactor);
            (Arc::new(list), std::time::Instant::now())
        }
    };
    spawn_blocking(look).await.ok()
}
