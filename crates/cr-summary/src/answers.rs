//! What a reader asks of a summary.

use crate::{Limit, Summary};

impl Summary {
    /// The clock that ended the run, if one did: the last one may have run out
    /// without that.
    pub fn ended_by_clock(&self) -> Option<&Limit> {
        let limit = self.limit.as_ref();
        limit.filter(|limit| self.reason.as_ref() == Some(&limit.clock))
    }

    /// The session, if it can be resumed. An older version said so by its command
    /// alone.
    pub fn resumable_session(&self) -> Option<&str> {
        let command = self.resume_argv.as_ref();
        let names_session = command.and_then(|argv| argv.get(1)).map(String::as_str);
        let is_resumable = self.resumable || names_session == Some("--resume");
        self.session_id.as_deref().filter(|_| is_resumable)
    }
}
