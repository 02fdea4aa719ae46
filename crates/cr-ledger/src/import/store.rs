//! The facts of logs, into the ledger.

use std::collections::HashMap;

use cr_ledger_db::rusqlite;
use cr_ledger_db::{
    Compaction, Import, LogPlace, Message, ModelTotal, SessionHead, ToolCall, Writer,
};
use cr_session_log::{Batch, Fact, FileToScan, Head, Report, Scanned};

use super::Imported;
use super::plan::{key, state};
use super::progress::Progress;

/// Stores what the scan reports. The facts of a log and how far it was read are in
/// one transaction, or the facts come first: then they are read again.
pub(super) struct Store<'a> {
    import: Import<'a>,
    files: &'a [FileToScan],
    progress: Progress,
    /// What is known of sessions and not stored yet.
    sessions: Sessions,
    failures: Vec<anyhow::Error>,
    read: u64,
    bytes: u64,
    bad_lines: u64,
}

impl<'a> Store<'a> {
    pub(super) fn new(import: Import<'a>, files: &'a [FileToScan], progress: Progress) -> Self {
        Self {
            import,
            files,
            progress,
            sessions: Sessions::default(),
            failures: Vec::new(),
            read: 0,
            bytes: 0,
            bad_lines: 0,
        }
    }

    pub(super) fn take(&mut self, index: usize, report: Report<'_>) -> anyhow::Result<()> {
        match report {
            Report::Facts(batch) => {
                let (file, sessions) = (&self.files[index], &mut self.sessions);
                self.import
                    .write(|writer| store(writer, file, batch, sessions))?;
            }
            Report::Scanned(scanned) => self.scanned(index, scanned)?,
            Report::Failed(failure) => {
                self.progress.add(to_read(&self.files[index]));
                self.failures.push(failure);
            }
            Report::Waiting => return self.commit(),
        }
        if self.import.is_due() {
            self.commit()?;
        }
        Ok(())
    }

    fn scanned(&mut self, index: usize, scanned: Scanned) -> anyhow::Result<()> {
        let file = &self.files[index];
        self.read += 1;
        self.bytes += scanned.offset.saturating_sub(file.resume.offset);
        self.bad_lines += scanned.bad_lines + scanned.long_lines;
        self.progress.add(to_read(file));
        let log = &file.log;
        let place = LogPlace {
            length: log.len,
            modified_ns: log.mtime_ns,
            inode: log.inode,
            read_to: scanned.offset,
            state: state(scanned.head),
        };
        self.import
            .write(|writer| writer.log_place(&key(log), &place))
    }

    fn commit(&mut self) -> anyhow::Result<()> {
        let sessions = &mut self.sessions;
        if !sessions.0.is_empty() {
            self.import.write(|writer| sessions.store(writer))?;
        }
        self.import.commit()
    }

    /// Stores the rest; returns what could not be read.
    pub(super) fn finish(mut self, imported: &mut Imported) -> anyhow::Result<Vec<anyhow::Error>> {
        self.commit()?;
        self.progress.end();
        imported.files = self.read;
        imported.bytes = self.bytes;
        imported.bad_lines = self.bad_lines;
        imported.messages = Some(self.import.new_messages());
        imported.sessions = Some(self.import.sessions());
        Ok(self.failures)
    }
}

fn to_read(file: &FileToScan) -> u64 {
    file.log.len.saturating_sub(file.resume.offset)
}

/// What is known of sessions.
#[derive(Debug, Default)]
struct Sessions(HashMap<String, Session>);

#[derive(Debug)]
struct Session {
    first_at: i64,
    last_at: i64,
    project: String,
    version: String,
}

impl Sessions {
    fn add(&mut self, id: &str, (at, last_at): (i64, i64), project: &str, version: &str) {
        let Some(session) = self.0.get_mut(id) else {
            let session = Session {
                first_at: at,
                last_at,
                project: project.to_owned(),
                version: version.to_owned(),
            };
            self.0.insert(id.to_owned(), session);
            return;
        };
        if session.project.is_empty()
            || (!project.is_empty() && (at, project) < (session.first_at, &session.project))
        {
            project.clone_into(&mut session.project);
        }
        if version > session.version.as_str() {
            version.clone_into(&mut session.version);
        }
        session.first_at = session.first_at.min(at);
        session.last_at = session.last_at.max(last_at);
    }

    fn store(&mut self, writer: &mut Writer<'_>) -> rusqlite::Result<()> {
        for (id, session) in self.0.drain() {
            writer.session(&SessionHead {
                session: &id,
                project: &session.project,
                cli_version: &session.version,
                first_at: Some(session.first_at),
                last_at: Some(session.last_at),
            })?;
        }
        Ok(())
    }
}

/// A log whose facts are stored.
struct Log<'a> {
    file: &'a FileToScan,
    head: &'a Head,
    sessions: &'a mut Sessions,
}

impl Log<'_> {
    /// The session of a line, which may not name it.
    fn session<'s>(&'s self, own: &'s str) -> &'s str {
        match own {
            "" => self.file.log.session_id.as_deref().unwrap_or_default(),
            own => own,
        }
    }

    /// The directory of a line, which may not name it.
    fn project<'s>(&'s self, own: &'s str) -> &'s str {
        match own {
            "" => self.head.cwd.as_deref().unwrap_or_default(),
            own => own,
        }
    }

    /// The time of a line; the last resort is the time at which the log was written.
    fn time(&self, own: Option<i64>) -> i64 {
        own.unwrap_or_else(|| self.file.log.mtime_ns.div_euclid(1_000_000))
    }

    fn store(&mut self, writer: &mut Writer<'_>, fact: &Fact<'_>) -> rusqlite::Result<()> {
        match fact {
            Fact::Message(message) => self.message(writer, message),
            Fact::ToolCall(call) => writer.tool_call(&ToolCall {
                tool_use_id: call.tool_use_id,
                name: call.name,
                project: self.project(call.cwd),
                at: self.time(call.at),
            }),
            Fact::ToolFailed(failed) => writer.tool_failed(failed.tool_use_id),
            Fact::SessionTotal(total) => {
                let session = self.session(total.session_id);
                writer.session_total(session, self.time(total.at), &[])
            }
            Fact::ModelTotal(total) => {
                let model = ModelTotal {
                    model: total.model,
                    input: total.usage.input,
                    output: total.usage.output,
                    cache_read: total.usage.cache_read,
                    cache_creation: total.usage.cache_creation,
                    cost_usd: total.cost_usd.unwrap_or(f64::NAN),
                };
                let session = self.session(total.session_id);
                writer.session_total(session, self.time(total.at), &[model])
            }
            Fact::Compaction(compaction) if !compaction.is_fork => writer.compaction(&Compaction {
                session: self.session(compaction.session_id),
                at: self.time(compaction.at),
                trigger: compaction.trigger,
                pre_tokens: compaction.pre_tokens,
                post_tokens: compaction.post_tokens,
            }),
            Fact::Turn(turn) if !turn.is_fork => {
                writer.prompt(self.session(turn.session_id), self.time(turn.at))
            }
            Fact::Compaction(_) | Fact::Turn(_) => Ok(()),
        }
    }

    fn message(
        &mut self,
        writer: &mut Writer<'_>,
        message: &cr_session_log::Message<'_>,
    ) -> rusqlite::Result<()> {
        let at = self.time(message.at);
        let last_at = message.last_at.unwrap_or(at);
        let session = self.session(message.session_id).to_owned();
        let project = self.project(message.cwd).to_owned();
        if !message.is_fork {
            let times = (at, last_at);
            self.sessions
                .add(&session, times, &project, message.version);
        }
        let usage = message.usage;
        writer.message(&Message {
            message_id: message.message_id,
            request_id: message.request_id,
            session: &session,
            agent: message.agent_id,
            project: &project,
            model: message.model,
            at,
            last_at,
            uuid: message.uuid,
            is_final: message.is_final,
            is_fork: message.is_fork,
            is_sidechain: message.is_sidechain,
            log_began_at: self.head.first_at.unwrap_or(at),
            input: usage.input,
            output: usage.output,
            cache_read: usage.cache_read,
            cache_creation: usage.cache_creation,
            cache_creation_5m: usage.cache_5m,
            cache_creation_1h: usage.cache_1h,
            cost_usd: message.cost_usd,
        })
    }
}

/// Stores the facts of a batch.
fn store(
    writer: &mut Writer<'_>,
    file: &FileToScan,
    batch: &Batch,
    sessions: &mut Sessions,
) -> rusqlite::Result<()> {
    let head = batch.head();
    let mut log = Log {
        file,
        head,
        sessions,
    };
    for fact in batch.facts() {
        log.store(writer, &fact)?;
    }
    Ok(())
}
