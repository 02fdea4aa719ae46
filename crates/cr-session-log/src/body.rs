//! The `message` of a line.

use cr_event::{Cursor, Malformed, Raw, Text};
use smallvec::SmallVec;

/// Calls and failures of one line that are reported; a line has one or a few.
const MOST: usize = 1 << 16;

/// The parts of a `message` that facts are made of.
#[derive(Debug, Default)]
pub(crate) struct Body<'a> {
    pub(crate) id: Option<Text<'a>>,
    pub(crate) model: Option<Text<'a>>,
    pub(crate) stop_reason: Option<Text<'a>>,
    pub(crate) usage: Option<Raw<'a>>,
    /// Calls of tools: id and name.
    pub(crate) calls: SmallVec<[(Text<'a>, Text<'a>); 2]>,
    /// Calls that failed.
    pub(crate) failed: SmallVec<[Text<'a>; 2]>,
    pub(crate) has_results: bool,
    /// The first text, or nothing where the message has only other blocks.
    pub(crate) text: Option<Text<'a>>,
    /// There is a text or a block.
    pub(crate) has_content: bool,
}

impl<'a> Body<'a> {
    /// Reads a `message`; of anything but an object nothing is known.
    pub(crate) fn read(cursor: &mut Cursor<'a>) -> Result<Self, Malformed> {
        let mut body = Self::default();
        cursor.object(|cursor, key| {
            match key {
                b"id" => body.id = cursor.text()?,
                b"model" => body.model = cursor.text()?,
                b"stop_reason" => body.stop_reason = cursor.text()?,
                b"usage" => body.usage = Some(cursor.raw()?),
                b"content" => body.content(cursor)?,
                _ => cursor.skip()?,
            }
            Ok(())
        })?;
        Ok(body)
    }

    fn content(&mut self, cursor: &mut Cursor<'a>) -> Result<(), Malformed> {
        if !cursor.is_array() {
            self.text = cursor.text()?;
            self.has_content = self.text.is_some();
            return Ok(());
        }
        cursor.array(|cursor| self.block(cursor))?;
        Ok(())
    }

    fn block(&mut self, cursor: &mut Cursor<'a>) -> Result<(), Malformed> {
        let (mut kind, mut id, mut name, mut answers) = (None, None, None, None);
        let (mut text, mut is_error) = (None, false);
        let is_object = cursor.object(|cursor, key| {
            match key {
                b"type" => kind = cursor.text()?,
                b"id" => id = cursor.text()?,
                b"name" => name = cursor.text()?,
                b"tool_use_id" => answers = cursor.text()?,
                b"text" => text = cursor.text()?,
                b"is_error" => is_error = cursor.raw()?.bool() == Some(true),
                _ => cursor.skip()?,
            }
            Ok(())
        })?;
        self.has_content |= is_object;
        let Some(kind) = kind else {
            return Ok(());
        };
        if kind.is("tool_use") {
            let call = id.zip(name).filter(|_| self.calls.len() < MOST);
            self.calls.extend(call);
        } else if kind.is("tool_result") {
            self.has_results = true;
            let failed = answers.filter(|_| is_error && self.failed.len() < MOST);
            self.failed.extend(failed);
        } else if kind.is("text") {
            self.text = self.text.or(text);
        }
        Ok(())
    }

    /// Whether it is one that a person may have written.
    pub(crate) fn may_be_prompt(&self) -> bool {
        self.has_content && !self.has_results
    }
}
