//! What tells that another program wrote an input.

use cr_event::{Cursor, Event, strip};

use crate::Form;
use crate::answer::{Answer, Missing};
use crate::find::ReadOptions;

/// The longest first line that is read for the name of the program.
pub(crate) const BEGINNING: usize = 64 << 10;

/// Whether a document that is cut off begins with an event of Claude Code.
pub(crate) fn begins_as_claudes(bytes: &[u8]) -> bool {
    let mut is_claudes = false;
    let mut cursor = Cursor::new(strip(bytes));
    if cursor.is_array() {
        let _ = cursor.array(|cursor| {
            let item = cursor.raw()?.bytes();
            is_claudes |= Event::parse(item).is_ok_and(|event| cr_event::is_claudes(&event));
            Ok(())
        });
    } else {
        let _ = cursor.object(|cursor, key| {
            let value = cursor.raw()?;
            let is_result = || value.text().is_some_and(|kind| kind.is("result"));
            is_claudes |= key == b"type" && is_result();
            Ok(())
        });
    }
    is_claudes
}

/// No answer, if the first line says that another program wrote the stream.
pub(crate) fn of_another(bytes: &[u8], options: ReadOptions) -> Option<Answer> {
    if !matches!(options.form, Form::Auto | Form::Stream) {
        return None;
    }
    let mut lines = bytes.split(|&b| b == b'\n').map(strip);
    let first = lines.find(|line| !line.is_empty())?;
    if first.len() > options.limit.min(BEGINNING) {
        return None;
    }
    let event = Event::parse(first).ok().filter(cr_event::names_another)?;
    let name = cr_event::look(&event).name;
    Some(Answer::none(Some(Missing::Foreign(name))))
}

/// What the text is a recording of, if it is one of another program.
pub(crate) fn foreign(bytes: &[u8]) -> Option<&'static str> {
    let mut lines = bytes.split(|&b| b == b'\n').map(strip);
    let first = lines.find(|line| !line.is_empty())?;
    let look = match Event::parse(first) {
        Ok(event) => cr_event::look(&event),
        Err(_) => cr_event::look_of_bytes(first),
    };
    look.is_sure.then_some(look.name)
}
