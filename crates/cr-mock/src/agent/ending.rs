//! The end of a turn, and its result.

use crate::agent::object::{json, object};
use crate::agent::result::Ending;
use crate::agent::session::Session;
use crate::agent::tasks::Wakeup;

/// What a turn ends with.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) subtype: &'static str,
    pub(crate) is_error: bool,
    pub(crate) terminal_reason: &'static str,
    pub(crate) stop_reason: Option<&'static str>,
    pub(crate) result: Option<String>,
    pub(crate) api_error: Option<u16>,
}

impl Session {
    /// The answer, which ends the turn.
    pub(crate) fn finish(&mut self) -> anyhow::Result<()> {
        let Some(turn) = &self.turn else {
            return Ok(());
        };
        let text = turn.answer();
        let block = object! {"type": "text", "text": text}.json();
        self.begin_message();
        self.say(&block, Some("end_turn"))?;
        self.end(&Ended {
            subtype: "success",
            is_error: false,
            terminal_reason: "completed",
            stop_reason: Some("end_turn"),
            result: Some(text),
            api_error: None,
        })
    }

    /// The API fails, which ends the turn.
    pub(crate) fn fail(&mut self) -> anyhow::Result<()> {
        let text = "Failed to authenticate. API Error: 403 no".to_owned();
        let block = object! {"type": "text", "text": text}.json();
        let mut extra = vec![("error", json("authentication_failed"))];
        let is_new = self.dialect().is_new();
        if is_new {
            extra.push(("is_api_error_message", json(&true)));
            extra.push(("api_error_status", json(&403)));
        }
        self.say_with(&block, Some("stop_sequence"), extra)?;
        self.end(&Ended {
            subtype: "success",
            is_error: true,
            terminal_reason: if is_new { "api_error" } else { "completed" },
            stop_reason: Some("stop_sequence"),
            result: Some(text),
            api_error: Some(403),
        })
    }

    /// Ends the turn with its result.
    pub(crate) fn end(&mut self, ended: &Ended) -> anyhow::Result<()> {
        let Some(turn) = self.turn.take() else {
            return Ok(());
        };
        let is_cut_off = ended.is_error || ended.terminal_reason.starts_with("aborted");
        let state = if is_cut_off { "cancelled" } else { "completed" };
        for message in &turn.folded {
            self.out.lifecycle(message, state)?;
        }
        let field = turn.field.as_ref().map(|name| {
            let mut output = object! {};
            output.put(name, &true);
            output.json()
        });
        let ending = Ending {
            subtype: ended.subtype,
            is_error: ended.is_error,
            terminal_reason: Some(ended.terminal_reason),
            stop_reason: ended.stop_reason,
            result: ended.result.clone(),
            api_error: ended.api_error,
            num_turns: turn.num_turns,
            began: turn.began,
            denials: turn.denials.clone(),
            origin: turn.wakeup.as_ref().map(|it| it.origin(self.dialect())),
            output: field,
            lead: turn.lead(),
            uuids: turn.uuids(true),
        };
        self.result(&ending)?;
        let peer = turn.wakeup.as_ref().and_then(Wakeup::message);
        for message in turn.starters.iter().chain(peer) {
            self.out.lifecycle(message, state)?;
        }
        self.settle()?;
        self.skip_first_of_two()
    }

    /// Writes a result, or keeps it: once input has ended, results wait for the
    /// background agents.
    pub(crate) fn result(&mut self, ending: &Ending) -> anyhow::Result<()> {
        self.was_error = ending.is_error;
        let session = &self.out.session_id;
        let model = &self.options.model;
        let line = self
            .used
            .result(ending, self.options.dialect, session, model);
        self.held.push(line.get().to_owned());
        // What the newer release has told of is on disk.
        if self.options.dialect.is_new() {
            self.log.flush()?;
        }
        if self.is_closed && self.has_agents() {
            return Ok(());
        }
        self.release()
    }

    /// Writes the results that were kept.
    pub(crate) fn release(&mut self) -> anyhow::Result<()> {
        for line in std::mem::take(&mut self.held) {
            self.out.line(&line)?;
        }
        Ok(())
    }
}
