//! One conversation with a far end, from the start of the command to `cr/exit`.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use cr_io::{Exit, message as text_of};
use cr_rundir::RunDir;
use cr_stream::{Finder, Forged, Noise, Subtype, compose};

use super::Plan;
use super::command::{Event, Executor};
use super::parcel::Parcel;
use super::requests::{Requests, Sources};
use super::sink::Sink;
use crate::frame::{self, Frame, Kind, PROTOCOL};
use crate::git::Hash;
use crate::message::{Hello, Ready, Refused, Start, Work, decode, encode};

/// How often the clocks are looked at.
const TICK: Duration = Duration::from_millis(50);

/// So many leases without a sign of life mean that the relay is lost.
const SILENT_LEASES: u32 = 3;

/// How long the far end may be silent after the agent's grace, once it was asked
/// to stop.
const STOP_LIMIT: Duration = Duration::from_secs(20);

/// How long the output of a command that has ended may stay open.
const DRAIN_LIMIT: Duration = Duration::from_secs(3);

/// How many lines of noise are shown.
const MOST_NOISE: usize = 50;

/// How a conversation ended.
#[derive(Debug)]
pub(crate) enum End {
    /// With the far end's `cr/exit` line; the work has arrived.
    Exit(Vec<u8>, Work),
    /// The far end could not begin: the code and why.
    NotStarted(u8, String),
    /// Without `cr/exit`: why, and how long the command may take to end.
    Lost(String, Duration),
}

/// A conversation.
#[derive(Debug)]
pub(crate) struct Session<'a> {
    pub(crate) plan: &'a Plan<'a>,
    pub(crate) sink: Sink,
    pub(crate) executor: Executor,
    pub(crate) requests: Requests,
    pub(crate) began: Instant,
    pub(crate) last_line_at: Option<String>,
    pub(crate) lines: u64,
    pub(crate) bytes: u64,
    /// For bundles on their way.
    pub(crate) scratch: RunDir,
    finder: Finder,
    is_answered: bool,
    heard: Instant,
    /// Since when the command is known to have ended.
    gone: Option<Instant>,
    noise: usize,
    /// Why what the far end needs could not be sent.
    failure: Arc<Mutex<Option<String>>>,
    work: Option<Incoming>,
}

/// The far end's work on its way.
#[derive(Debug)]
struct Incoming {
    work: Work,
    bundle: File,
    path: PathBuf,
}

impl<'a> Session<'a> {
    /// Starts the command.
    pub(crate) fn open(plan: &'a Plan<'a>, sink: Sink) -> anyhow::Result<Self> {
        let sources = Sources::take(&plan.args.agent).context(Exit::Tool)?;
        let token = frame::token().context(Exit::Tool)?;
        let executor = Executor::start(plan.args, &token).context(Exit::Tool)?;
        let requests = sources.watch(executor.outbox.clone()).context(Exit::Tool)?;
        let scratch = match &plan.dir {
            Some(dir) => RunDir::existing(dir.path())?,
            None => RunDir::at(&std::env::temp_dir().join(format!("cr-relay-{token}")))?,
        };
        let now = Instant::now();
        Ok(Self {
            plan,
            sink,
            executor,
            requests,
            began: now,
            last_line_at: None,
            lines: 0,
            bytes: 0,
            scratch,
            finder: Finder::new(),
            is_answered: false,
            heard: now,
            gone: None,
            noise: 0,
            failure: Arc::default(),
            work: None,
        })
    }

    /// Passes the stream on, to its end.
    pub(crate) fn run(mut self) -> anyhow::Result<Exit> {
        let end = loop {
            let event = self.executor.events.recv_timeout(TICK);
            let is_quiet = matches!(event, Err(RecvTimeoutError::Timeout));
            let end = match event {
                Ok(event) => {
                    self.heard = Instant::now();
                    let end = self.take(event);
                    end.unwrap_or_else(|err| Some(self.broken(&text_of(&err))))
                }
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => Some(lost("its output has ended")),
            };
            if let Some(end) = end.or_else(|| self.check(is_quiet)) {
                break end;
            }
        };
        self.finish(end)
    }

    /// What came makes no sense. The far end is told by the end of its input, and
    /// has time for the agent's grace.
    fn broken(&self, text: &str) -> End {
        End::Lost(
            text.to_owned(),
            self.plan.args.agent.clocks.grace + STOP_LIMIT,
        )
    }

    /// Looks at what no event reports.
    fn check(&mut self, is_quiet: bool) -> Option<End> {
        let failure = &self.failure;
        let failure = failure.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(text) = failure.clone() {
            return Some(End::NotStarted(Exit::Tool.code(), text));
        }
        drop(failure);
        if !self.is_answered && self.requests.cause().is_some() {
            return Some(End::Lost(
                "stopped before it answered".to_owned(),
                Duration::ZERO,
            ));
        }
        // What a dead command left may still speak, and nobody relays for it.
        if self.executor.status().is_some() {
            let since = *self.gone.get_or_insert_with(Instant::now);
            if since.elapsed() > DRAIN_LIMIT {
                return Some(lost("its output stayed open"));
            }
        }
        let silence = self.heard.elapsed();
        let args = self.plan.args;
        if !is_quiet {
            return None;
        }
        let limit = args.agent.clocks.grace + STOP_LIMIT;
        if self.requests.stopped_for(limit) && silence > STOP_LIMIT {
            let text = "no answer to the request to stop".to_owned();
            return Some(End::Lost(text, Duration::ZERO));
        }
        let is_silent = self.is_answered && silence > args.lease * SILENT_LEASES;
        is_silent.then(|| {
            let text = format!("no sign of life for {}", cr_io::show_duration(silence));
            End::Lost(text, Duration::ZERO)
        })
    }

    fn take(&mut self, event: Event) -> anyhow::Result<Option<End>> {
        match event {
            Event::Magic(protocol, version) => return Ok(self.greet(protocol, &version)),
            Event::Frame(frame) => return self.frame(frame),
            Event::Noise(text) => {
                self.noise += 1;
                if self.noise <= MOST_NOISE && !text.trim().is_empty() {
                    let text = self.plan.redactor.redact(&text);
                    crate::note(&format!("the command says: {text}"));
                }
            }
            Event::Ended(None) => return Ok(Some(self.ended())),
            Event::Ended(Some(text)) => return Ok(Some(self.broken(&text))),
        }
        Ok(None)
    }

    /// The output of the command has ended. Before the far end has answered, the
    /// code of a shell may say that there is no far program.
    fn ended(&mut self) -> End {
        if self.is_answered {
            return lost("its output has ended");
        }
        self.executor.dismiss(Duration::from_secs(5));
        match self.executor.end().0 {
            Some(code @ (126 | 127)) => {
                let text = self.executor.stderr.last_line();
                let text = text.unwrap_or_else(|| format!("the command ended with code {code}"));
                End::NotStarted(u8::try_from(code).unwrap_or(127), text)
            }
            _ => lost("no far end answered"),
        }
    }

    fn greet(&mut self, protocol: u32, version: &str) -> Option<End> {
        self.is_answered = true;
        let own = env!("CARGO_PKG_VERSION");
        if protocol != PROTOCOL {
            let text =
                format!("the far end is version {version}, this one {own}: install one version");
            return Some(End::NotStarted(Exit::CannotExec.code(), text));
        }
        let plan = self.plan;
        let mut hash = Hash::default();
        hash.add(&encode(&Start {
            env: Vec::new(),
            ..plan.start.clone()
        }));
        let hello = Hello {
            protocol: PROTOCOL,
            version: own.to_owned(),
            run_id: plan.id.to_string(),
            root: plan.repository.root.clone(),
            base: plan.repository.base.clone(),
            lease_ms: u64::try_from(plan.args.lease.as_millis()).unwrap_or(u64::MAX),
            digest: hash.end().sha256,
        };
        self.executor.outbox.open(encode(&hello));
        None
    }

    fn frame(&mut self, frame: Frame) -> anyhow::Result<Option<End>> {
        match frame.kind {
            Kind::Ready => self.ready(&decode(&frame.bytes)?)?,
            Kind::Lines | Kind::Own => {
                self.lines(&frame)?;
                self.last_line_at = Some(cr_stream::now());
            }
            Kind::Work => {
                let path = self.scratch.path().join("relay.bundle");
                let bundle = self.scratch.create_file("relay.bundle")?;
                let work = decode(&frame.bytes)?;
                self.work = Some(Incoming { work, bundle, path });
            }
            Kind::Pack => {
                let incoming = self.work.as_mut().context("a bundle without a name")?;
                incoming.bundle.write_all(&frame.bytes)?;
            }
            Kind::Exit => return self.exit(frame.bytes).map(Some),
            Kind::Refused => return Ok(Some(self.refused(&decode(&frame.bytes)?))),
            Kind::Beat => {}
            _ => return Err(anyhow!("a frame that only a near end sends")),
        }
        Ok(None)
    }

    fn refused(&self, refused: &Refused) -> End {
        let text = cr_io::sanitized(&refused.text);
        match refused.code {
            code @ 125..=127 if self.lines == 0 => End::NotStarted(code, text),
            _ => lost(&text),
        }
    }

    /// Sends what the far end lacks, on a thread: it may take long, and meanwhile
    /// a request to stop must be seen.
    fn ready(&mut self, ready: &Ready) -> anyhow::Result<()> {
        if ready.is_known {
            crate::note("the far end knows this attempt: its stream and its work follow");
            return Ok(());
        }
        let left = self.plan.repository.uncommitted();
        if left > 0 {
            let files = cr_io::counted(left as u64, "file");
            crate::note(&format!(
                "{files} with changes that are not committed stay here"
            ));
        }
        let parcel = Parcel {
            repository: self.plan.repository.clone(),
            prompt: self.plan.prompt.clone(),
            start: self.plan.start.clone(),
            have: ready.have.clone(),
            file: self.scratch.path().join("relay-base.bundle"),
        };
        let (outbox, failure) = (self.executor.outbox.clone(), Arc::clone(&self.failure));
        thread::Builder::new().spawn(move || {
            if let Err(err) = parcel.send(&outbox) {
                let mut failure = failure.lock().unwrap_or_else(PoisonError::into_inner);
                *failure = Some(text_of(&err));
            }
        })?;
        Ok(())
    }

    /// Passes lines on. What came as the agent's stays the agent's: a line that
    /// claims to be our own is marked as forged.
    fn lines(&mut self, frame: &Frame) -> anyhow::Result<()> {
        let id = Some(self.plan.id.as_str());
        let mut out = Vec::with_capacity(frame.bytes.len());
        let text = frame.bytes.strip_suffix(b"\n").unwrap_or(&frame.bytes);
        for line in text.split(|&byte| byte == b'\n') {
            let is_own = cr_event::claims_to_be_own(line);
            let shown = || {
                self.plan
                    .redactor
                    .redact(&String::from_utf8_lossy(line))
                    .into_owned()
            };
            match (frame.kind, is_own) {
                (Kind::Own, _) if !self.is_from_supervisor(line) => {
                    return Err(anyhow!("a line that cr-spawn does not write"));
                }
                (Kind::Own, _) => out.extend_from_slice(line),
                (_, true) => {
                    let line = shown().into();
                    out.extend(compose(id, &Forged { line }));
                }
                (_, false) if !cr_io::is_object(line) => {
                    let text = shown().into();
                    out.extend(compose(id, &Noise { text }));
                }
                (_, false) => out.extend_from_slice(line),
            }
            out.push(b'\n');
            self.lines += 1;
        }
        self.bytes += out.len() as u64;
        self.sink.lines(&out, &self.requests);
        Ok(())
    }

    /// Whether `line` is one that cr-spawn writes before its last.
    fn is_from_supervisor(&self, line: &[u8]) -> bool {
        let others = [
            Subtype::Exit,
            Subtype::Git,
            Subtype::Task,
            Subtype::Run,
            Subtype::Wave,
        ];
        let event = self.finder.find(line);
        event.is_some_and(|event| Subtype::of(&event).is_none_or(|found| !others.contains(&found)))
    }

    /// Takes the work, and only then the last line for true.
    fn exit(&mut self, line: Vec<u8>) -> anyhow::Result<End> {
        let incoming = self.work.take().context("the end came without the work")?;
        if !self.finder.is_exit(&line) || line.contains(&b'\n') {
            return Err(anyhow!("the last line is not cr/exit"));
        }
        incoming.bundle.sync_all()?;
        let Incoming { work, path, .. } = incoming;
        let (id, repository) = (self.plan.id.as_str(), &self.plan.repository);
        repository
            .receive(id, &work, &path)
            .context("the work did not arrive")?;
        Ok(End::Exit(line, work))
    }
}

/// The command has ended, or is about to.
fn lost(text: &str) -> End {
    End::Lost(text.to_owned(), Duration::from_secs(5))
}
