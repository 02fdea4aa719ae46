//! What a later count needs to recognise a run.

use cr_event::{Event, Message, Raw, Text};
use sha2::{Digest, Sha256};

/// Bytes of a line's id that are kept; a real one has 36.
const LONGEST: usize = 1024;

/// The messages of the main thread, by their ids.
#[derive(Debug, Default)]
pub(crate) struct MessageIds {
    pub(crate) first_uuid: Option<String>,
    /// As it is in the line: it is decoded once, at the end.
    last_uuid: Vec<u8>,
    /// The id of the last message.
    last: Vec<u8>,
    pub(crate) count: u64,
    digest: Sha256,
}

impl MessageIds {
    /// Takes a line of the main thread. The lines of one message count once.
    pub(crate) fn line(&mut self, event: &Event<'_>, message: &Message<'_>) {
        if let Some(uuid) = event.uuid {
            if self.first_uuid.is_none() {
                self.first_uuid = Some(short(uuid));
            }
            let bytes = uuid.bytes();
            self.last_uuid.clear();
            self.last_uuid
                .extend_from_slice(&bytes[..bytes.len().min(LONGEST)]);
        }
        let Some(id) = message.id.filter(|id| id.bytes() != self.last) else {
            return;
        };
        self.last.clear();
        self.last.extend_from_slice(id.bytes());
        self.count += 1;
        self.digest.update(id.bytes());
        self.digest.update(b"\n");
    }

    /// The id of the last line.
    pub(crate) fn last_uuid(&self) -> Option<String> {
        let quoted = [b"\"", &*self.last_uuid, b"\""].concat();
        let uuid = Raw::of(&quoted).and_then(Raw::text);
        uuid.filter(|_| !self.last_uuid.is_empty()).map(short)
    }

    /// SHA-256 of the ids, each with a newline behind it.
    pub(crate) fn digest(&self) -> Option<String> {
        let hash = self.digest.clone().finalize();
        let hex = hash.iter().map(|byte| format!("{byte:02x}"));
        (self.count > 0).then(|| hex.collect())
    }
}

fn short(uuid: Text<'_>) -> String {
    uuid.prefix(100).into_owned()
}
