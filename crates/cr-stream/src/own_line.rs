//! Reading a line.

use cr_event::{Event, Kind, OWN_TYPE};
use memchr::memmem;

use crate::field::Field;
use crate::open_enum::named;
use crate::{
    Ask, Cut, Exit, Forged, GitEnd, GitStart, Input, Limit, LineBody, Named, Noise, Oversize, Run,
    Start, State, Stderr, Task, Wave,
};

named! {
    /// The kinds of lines.
    pub enum Subtype {
        /// `cr/start`
        Start = "start",
        /// `cr/stderr`
        Stderr = "stderr",
        /// `cr/noise`
        Noise = "noise",
        /// `cr/forged`
        Forged = "forged",
        /// `cr/oversize`
        Oversize = "oversize",
        /// `cr/cut`
        Cut = "cut",
        /// `cr/limit`
        Limit = "limit",
        /// `cr/state`
        State = "state",
        /// `cr/input`
        Input = "input",
        /// `cr/ask`
        Ask = "ask",
        /// `cr/exit`
        Exit = "exit",
        /// `cr/git`
        Git = "git",
        /// `cr/task`
        Task = "task",
        /// `cr/run`
        Run = "run",
        /// `cr/wave`
        Wave = "wave",
    }
}

impl Subtype {
    /// The kind of `event`, if it is a line of our own that this version knows.
    pub fn of(event: &Event<'_>) -> Option<Self> {
        if event.kind != Kind::Cr {
            return None;
        }
        Self::from_name(&event.subtype?.decode())
    }
}

/// A line of our own. Large ones are boxed.
#[derive(Clone, Debug, PartialEq)]
pub enum OwnLine<'a> {
    /// `cr/start`
    Start(Box<Start<'a>>),
    /// `cr/stderr`
    Stderr(Stderr<'a>),
    /// `cr/noise`
    Noise(Noise<'a>),
    /// `cr/forged`
    Forged(Forged<'a>),
    /// `cr/oversize`
    Oversize(Oversize<'a>),
    /// `cr/cut`
    Cut(Cut),
    /// `cr/limit`
    Limit(Box<Limit<'a>>),
    /// `cr/state`
    State(Box<State<'a>>),
    /// `cr/input`
    Input(Box<Input<'a>>),
    /// `cr/ask`
    Ask(Box<Ask<'a>>),
    /// `cr/exit`
    Exit(Box<Exit<'a>>),
    /// `cr/git` with the phase `start`
    GitStart(Box<GitStart<'a>>),
    /// `cr/git` with the phase `end`
    GitEnd(Box<GitEnd<'a>>),
    /// `cr/task`
    Task(Box<Task<'a>>),
    /// `cr/run`
    Run(Box<Run<'a>>),
    /// `cr/wave`
    Wave(Box<Wave<'a>>),
    /// A kind that this version does not know.
    Other,
}

impl<'a> OwnLine<'a> {
    /// Reads `line`; `None` if it is not a line of our own.
    pub fn parse(line: &'a [u8]) -> Option<Self> {
        Self::read(&Event::parse(line).ok()?)
    }

    /// Reads `event`; `None` if it is not a line of our own.
    pub fn read(event: &Event<'a>) -> Option<Self> {
        if event.kind != Kind::Cr {
            return None;
        }
        let Some(subtype) = Subtype::of(event) else {
            return Some(Self::Other);
        };
        let line = event.line;
        Some(match subtype {
            Subtype::Start => Self::Start(Box::new(body(event))),
            Subtype::Stderr => Self::Stderr(body(event)),
            Subtype::Noise => Self::Noise(body(event)),
            Subtype::Forged => Self::Forged(body(event)),
            Subtype::Oversize => Self::Oversize(body(event)),
            Subtype::Cut => Self::Cut(body(event)),
            Subtype::Limit => Self::Limit(Box::new(body(event))),
            Subtype::State => Self::State(Box::new(body(event))),
            Subtype::Input => Self::Input(Box::new(body(event))),
            Subtype::Ask => Self::Ask(Box::new(body(event))),
            Subtype::Exit => Self::Exit(Box::new(body(event))),
            Subtype::Git => match line.string("phase").as_deref() {
                phase if phase == GitStart::PHASE => Self::GitStart(Box::new(body(event))),
                phase if phase == GitEnd::PHASE => Self::GitEnd(Box::new(body(event))),
                _ => Self::Other,
            },
            Subtype::Task => Self::Task(Box::new(body(event))),
            Subtype::Run => Self::Run(Box::new(body(event))),
            Subtype::Wave => Self::Wave(Box::new(body(event))),
        })
    }
}

/// The content of `event`, which is an object.
fn body<'a, T: Field<'a>>(event: &Event<'a>) -> T {
    T::read(event.line).unwrap_or_default()
}

/// Finds lines of our own among others, fast. Make one for a stream.
#[derive(Debug)]
pub struct Finder(memmem::Finder<'static>);

impl Default for Finder {
    fn default() -> Self {
        Self::new()
    }
}

impl Finder {
    /// A finder for one stream or many.
    pub fn new() -> Self {
        let quoted = format!("\"{OWN_TYPE}\"");
        Self(memmem::Finder::new(&quoted).into_owned())
    }

    /// Whether a line that begins with `head` may be our own. Ours begin with
    /// their type, so a long line need not be held to know.
    pub fn may_be_own(head: &[u8]) -> bool {
        Kind::of_head(head) == Some(Kind::Cr)
    }

    /// The event of `line`, if it is a line of our own.
    pub fn find<'a>(&self, line: &'a [u8]) -> Option<Event<'a>> {
        // Most lines of a stream end here.
        self.0.find(line)?;
        let event = Event::parse(line).ok()?;
        (event.kind == Kind::Cr).then_some(event)
    }

    /// Whether `line` is a `cr/exit` line, however it is written.
    pub fn is_exit(&self, line: &[u8]) -> bool {
        let event = self.find(line);
        event.is_some_and(|event| Subtype::of(&event) == Some(Subtype::Exit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_top_level_type_makes_a_line_our_own() {
        let finder = Finder::new();
        for line in [
            r#"{"type":"assistant","text":"cr"}"#,
            r#"{"message":{"type":"cr","subtype":"exit"},"type":"user"}"#,
            r#"["cr","exit"]"#,
            r#"{"type":"cr","subtype":"exit""#,
            r#"{"type":"user","type":"cr","subtype":"exit"}"#,
            r#""cr""#,
        ] {
            assert!(finder.find(line.as_bytes()).is_none(), "{line}");
        }
        let exit = br#" {"subtype":"exit","new":[1,{"a":"\ud800"}],"type":"cr"}"#;
        let event = finder.find(exit).expect("our own");
        assert_eq!(Subtype::of(&event), Some(Subtype::Exit));
        assert!(finder.is_exit(exit));
        assert!(!finder.is_exit(br#"{"type":"cr","subtype":"exi"}"#));
        assert!(Finder::may_be_own(br#"{"type":"cr","subtype":"noi"#));
        assert!(!Finder::may_be_own(br#"{"type":"user","subtype":"noi"#));
    }

    #[test]
    fn a_kind_that_is_not_known_is_a_line_of_our_own_all_the_same() {
        let read = |line: &'static str| OwnLine::read(&Event::parse(line.as_bytes()).ok()?);
        let other = Some(OwnLine::Other);
        assert_eq!(read(r#"{"type":"cr","subtype":"later"}"#), other);
        assert_eq!(read(r#"{"type":"cr"}"#), other);
        let git = r#"{"type":"cr","subtype":"git","phase":"middle"}"#;
        assert_eq!(read(git), other);
        assert_eq!(read(r#"{"type":"system","subtype":"exit"}"#), None);
    }

    #[test]
    fn what_is_written_is_read_back() {
        let cut = Cut { bytes: 7, lines: 1 };
        let line = crate::compose(Some("r"), &cut);
        let start = br#"{"type":"cr","subtype":"cut","at":""#;
        assert!(line.starts_with(start));
        assert!(line.ends_with(br#"Z","run_id":"r","bytes":7,"lines":1}"#));
        let event = Event::parse(&line).expect("an event");
        assert!(event.run_id.is_some_and(|id| id.is("r")) && event.at.is_some());
        assert_eq!(OwnLine::read(&event), Some(OwnLine::Cut(cut)));
        let end = GitEnd::default();
        let line = crate::compose(None, &end);
        let event = Event::parse(&line).expect("an event");
        assert_eq!(OwnLine::read(&event), Some(OwnLine::GitEnd(end.into())));
    }
}
