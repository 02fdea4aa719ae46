//! The session log on disk, in the parts that matter after a crash.
//!
//! The real CLI writes it with a delay: what it did in the last tenth of a
//! second before a SIGKILL is lost.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Context;

use crate::agent::found::Found;
use crate::agent::ids;
use crate::agent::input::Message;
use crate::agent::object::{Json, Object, object};
use crate::agent::options::{Dialect, Options};

const DELAY: Duration = Duration::from_millis(100);

/// The log of this session.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    file: Option<File>,
    waiting: Vec<u8>,
    /// When the waiting records are written.
    pub(crate) due: Option<Instant>,
    dialect: Dialect,
    session_id: String,
    cwd: String,
    parent: Option<String>,
    turns: u32,
}

impl Log {
    pub(crate) fn new(
        options: &Options,
        session_id: &str,
        cwd: &str,
        found: Option<&Found>,
    ) -> Self {
        let folder = cwd.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        let path = options
            .projects
            .join(folder)
            .join(format!("{session_id}.jsonl"));
        Self {
            path: found.map_or(path, |found| found.path.clone()),
            file: None,
            waiting: Vec::new(),
            due: None,
            dialect: options.dialect,
            session_id: session_id.to_owned(),
            cwd: cwd.to_owned(),
            parent: found.and_then(|found| found.last.clone()),
            turns: 0,
        }
    }

    /// Writes what waits, if its time has come.
    pub(crate) fn flush_due(&mut self, now: Instant) -> anyhow::Result<()> {
        if self.due.is_some_and(|due| due <= now) {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes what waits.
    pub(crate) fn flush(&mut self) -> anyhow::Result<()> {
        self.due = None;
        if self.waiting.is_empty() {
            return Ok(());
        }
        let place = || self.path.display().to_string();
        if self.file.is_none() {
            let folder = self.path.parent().context("a folder")?;
            fs::create_dir_all(folder).with_context(place)?;
            let mut options = OpenOptions::new();
            let file = options.create(true).append(true).open(&self.path);
            self.file = Some(file.with_context(place)?);
        }
        if let Some(file) = &mut self.file {
            file.write_all(&self.waiting).with_context(place)?;
        }
        self.waiting.clear();
        Ok(())
    }

    fn add(&mut self, record: Object) {
        self.waiting
            .extend_from_slice(record.json().get().as_bytes());
        self.waiting.push(b'\n');
        self.due.get_or_insert_with(|| Instant::now() + DELAY);
    }

    /// A record of the conversation, with what all of them have at the end.
    fn add_entry(&mut self, mut record: Object, uuid: &str) {
        record.put("userType", "external");
        record.put("entrypoint", "sdk-cli");
        record.put("cwd", &self.cwd);
        record.put("sessionId", &self.session_id);
        record.put("version", self.dialect.version());
        record.put("gitBranch", "HEAD");
        self.parent = Some(uuid.to_owned());
        self.add(record);
    }

    /// A change of the queue.
    pub(crate) fn queue(&mut self, operation: &str, content: Option<&Json>) {
        let mut record = object! {
            "type": "queue-operation",
            "operation": operation,
            "timestamp": ids::now(),
            "sessionId": self.session_id,
        };
        record.put_some("content", content);
        self.add(record);
    }

    /// A turn of messages begins. All but the last were `merged` into it.
    pub(crate) fn turn(&mut self, content: &Json, uuid: &str, merged: &[String], mode: &str) {
        self.turns += 1;
        let mut record = object! {
            "parentUuid": self.parent,
            "isSidechain": false,
            "promptId": ids::uuid(),
            "type": "user",
            "message": object! {"role": "user", "content": content}.json(),
            "uuid": uuid,
            "timestamp": ids::now(),
            "permissionMode": mode,
            "promptSource": "sdk",
        };
        if self.dialect.is_new() {
            record.put("turnOrigin", "sdk");
            let position = object! {"promptIndex": 0, "turnIndex": self.turns};
            record.put("turnPosition", &position.json());
            if !merged.is_empty() {
                record.put("mergedSendUuids", merged);
            }
            record.put("turnAttributionKey", uuid);
        }
        self.add_entry(record, uuid);
    }

    /// A message was folded into the running turn.
    pub(crate) fn folded(&mut self, message: &Message) {
        let uuid = ids::uuid();
        let mut attachment = object! {
            "type": "queued_command",
            "prompt": message.content,
            "source_uuid": message.uuid,
        };
        if self.dialect.is_new() {
            attachment.put("delivery_id", &ids::uuid());
        }
        attachment.put("commandMode", "prompt");
        attachment.put("timestamp", &message.at);
        let record = object! {
            "parentUuid": self.parent,
            "isSidechain": false,
            "attachment": attachment.json(),
            "type": "attachment",
            "uuid": uuid,
            "timestamp": message.at,
        };
        self.add_entry(record, &uuid);
        self.absorbed(message);
    }

    fn absorbed(&mut self, message: &Message) {
        let mut record = object! {
            "type": "queue-operation",
            "operation": "remove",
            "timestamp": ids::now(),
            "sessionId": self.session_id,
        };
        if self.dialect.is_new() {
            record.put("content", &message.content);
            record.put("reason", "absorbed_mid_turn");
            record.put("commandUuid", &message.uuid);
        }
        self.add(record);
    }

    /// A block of the model. Its stop reason is final here, unlike in the stream.
    pub(crate) fn assistant(&mut self, message: &Json, uuid: &str) {
        let record = object! {
            "parentUuid": self.parent,
            "isSidechain": false,
            "message": message,
            "type": "assistant",
            "uuid": uuid,
            "timestamp": ids::now(),
        };
        self.add_entry(record, uuid);
    }

    /// A tool's result, or the note of an interrupt.
    pub(crate) fn user(&mut self, message: &Json, uuid: &str, result: Option<&Json>) {
        let mut record = object! {
            "parentUuid": self.parent,
            "isSidechain": false,
            "type": "user",
            "message": message,
            "uuid": uuid,
            "timestamp": ids::now(),
        };
        record.put_some("toolUseResult", result);
        self.add_entry(record, uuid);
    }
}
