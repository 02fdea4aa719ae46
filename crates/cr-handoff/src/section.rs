//! A section of the handoff: its heading and its quoted lines.

use crate::budget::Need;
use crate::quote::{CUT, QUOTE, block, cut, lines, one_line};

/// Bytes of an item that are shown.
const ITEM: usize = 300;

/// A section.
#[derive(Debug)]
pub(crate) struct Section {
    title: &'static str,
    body: Body,
    weight: usize,
    rank: u8,
}

#[derive(Debug)]
enum Body {
    Text(String),
    /// Items, the newest last, and how many more there were before them.
    List(Vec<String>, u64),
}

impl Section {
    /// A section with a text.
    pub(crate) fn text(title: &'static str, text: &str) -> Self {
        Self::new(title, Body::Text(lines(text)))
    }

    /// A section with a list, the newest item last; `left_out` more are not known
    /// any longer.
    pub(crate) fn list(
        title: &'static str,
        items: impl Iterator<Item = String>,
        left_out: u64,
    ) -> Self {
        let items = items.map(|item| cut(&one_line(&item), ITEM));
        Self::new(title, Body::List(items.collect(), left_out))
    }

    fn new(title: &'static str, body: Body) -> Self {
        let (weight, rank) = (1, 0);
        Self {
            title,
            body,
            weight,
            rank,
        }
    }

    /// Its share of the room, and its place in the order of importance.
    pub(crate) fn room(self, weight: usize, rank: u8) -> Self {
        Self {
            weight,
            rank,
            ..self
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        match &self.body {
            Body::Text(text) => text.is_empty(),
            Body::List(items, _) => items.is_empty(),
        }
    }

    pub(crate) fn is_list(&self) -> bool {
        matches!(self.body, Body::List(..))
    }

    pub(crate) fn need(&self) -> Need {
        Need {
            want: self.write(usize::MAX).len(),
            weight: self.weight,
            rank: self.rank,
        }
    }

    /// The section in at most `bytes` bytes; empty if there is no room.
    pub(crate) fn write(&self, bytes: usize) -> String {
        let heading = format!("\n## {}\n\n", self.title);
        let Some(room) = bytes.checked_sub(heading.len()) else {
            return String::new();
        };
        let body = match &self.body {
            Body::Text(text) => block(text, room),
            Body::List(items, left_out) => list(items, *left_out, room),
        };
        if body.is_empty() {
            return body;
        }
        heading + &body
    }
}

/// The last items for which there is room, and a note about the others.
fn list(items: &[String], left_out: u64, room: usize) -> String {
    let note = |hidden: usize| match left_out.saturating_add(hidden as u64) {
        0 => String::new(),
        hidden => format!("{hidden} earlier left out:\n"),
    };
    let line = |item: &str| format!("{QUOTE}- {item}\n");
    let (mut shown, mut length) = (0, 0);
    for (at, item) in items.iter().enumerate().rev() {
        length += line(item).len();
        // All may fit where all but one and the note do not.
        if length + note(at).len() <= room {
            shown = items.len() - at;
        }
    }
    let hidden = items.len() - shown;
    let mut out = note(hidden.min(items.len() - 1));
    if shown > 0 {
        items[hidden..].iter().for_each(|item| out += &line(item));
        return out;
    }
    // Of the newest at least the beginning.
    let free = room.saturating_sub(out.len() + line("").len());
    match items.last().filter(|_| free > 2 * CUT.len()) {
        Some(item) => out + &line(&cut(item, free)),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_shows_its_last_items_and_says_how_many_are_left_out() {
        let items = (1..=9).map(|n| format!("item {n}"));
        let section = Section::list("Items", items, 0);
        let all = section.write(usize::MAX);
        assert!(all.starts_with("\n## Items\n\n> - item 1\n") && all.ends_with("> - item 9\n"));
        assert_eq!(section.write(all.len()), all);
        let some = section.write(60);
        assert_eq!(
            some,
            "\n## Items\n\n7 earlier left out:\n> - item 8\n> - item 9\n"
        );
    }

    #[test]
    fn a_section_is_never_larger_than_its_room() {
        let items = ["é".repeat(500), "x".repeat(500), "# y\nz".to_owned()].into_iter();
        let sections = [
            Section::list("List", items, u64::MAX - 3),
            Section::text("Text", &"a\n".repeat(99)),
        ];
        for section in sections {
            for bytes in 0..2000 {
                let text = section.write(bytes);
                assert!(text.len() <= bytes, "{bytes}: {text}");
                assert!(!text.is_empty() || bytes < 80, "{bytes}");
            }
            let all = section.write(usize::MAX);
            assert_eq!(section.write(section.need().want), all);
        }
    }
}
