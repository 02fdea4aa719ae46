//! The order in which the files of a call are read: the file with the original
//! of a message before those with a copy of it. It does not depend on the order
//! of the arguments.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use cr_event::{Event, strip};
use cr_io::Input;

/// Bytes at the beginning and at the end of a file that are looked at.
const LOOKED_AT: u64 = 64 << 10;

/// What decides; less comes first.
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    is_stdin: bool,
    /// A stream has results, which know the cost; a log has copies of it.
    is_log: bool,
    /// The lines say that they are copies.
    is_fork: bool,
    /// The first time in the file: a newer release begins a copy with lines of
    /// its own.
    first_at: String,
    /// The last one: a session is resumed after its end.
    last_at: String,
    name: String,
}

/// The indices of `inputs`, in the order of reading.
pub(crate) fn reading_order(inputs: &[Input]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..inputs.len()).collect();
    if inputs.len() > 1 {
        order.sort_by_cached_key(|&index| place(&inputs[index]));
    }
    order
}

fn place(input: &Input) -> Place {
    let mut place = Place {
        is_stdin: *input == Input::Stdin,
        name: input.label(),
        ..Place::default()
    };
    // The error of a file that cannot be read is reported when it is its turn.
    if let Input::File(_) = input {
        let _ = look(input, &mut place);
    }
    place
}

fn look(input: &Input, place: &mut Place) -> anyhow::Result<()> {
    let mut opened = input.open()?;
    if opened.is_live() {
        // What is read from a pipe cannot be read again.
        return Ok(());
    }
    let mut head = Vec::new();
    (&mut opened).take(LOOKED_AT).read_to_end(&mut head)?;
    for line in head.split(|&b| b == b'\n') {
        let Ok(event) = Event::parse(strip(line)) else {
            continue;
        };
        place.is_log |= event.is_log;
        place.is_fork |= event.line.get("forkedFrom").is_some();
        if place.first_at.is_empty() {
            place.first_at = time(&event);
        }
    }
    if let Some(file) = opened.file() {
        place.last_at = last_time(file)?;
    }
    Ok(())
}

fn last_time(mut file: &File) -> io::Result<String> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LOOKED_AT)))?;
    let mut tail = Vec::new();
    file.take(LOOKED_AT).read_to_end(&mut tail)?;
    let mut lines = tail.rsplit(|&b| b == b'\n');
    let time = lines.find_map(|line| {
        let event = Event::parse(strip(line)).ok()?;
        Some(time(&event)).filter(|time| !time.is_empty())
    });
    Ok(time.unwrap_or_default())
}

/// The time of an event; times of one spelling compare as text.
fn time(event: &Event<'_>) -> String {
    let at = event.at.filter(|at| at.bytes().len() <= 64);
    at.map(|at| at.decode().into_owned()).unwrap_or_default()
}
