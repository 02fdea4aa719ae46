//! The inputs, and the logs of subagents that belong to them.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};

use cr_event::{Event, strip};
use cr_io::{Input, inputs, uncompressed_name};

/// The directory with the logs of a session's subagents, below a directory of
/// the session's name.
const SUBAGENTS: &str = "subagents";

/// Bytes of a log that are read to find its session.
const HEAD: u64 = 64 << 10;

/// The inputs of a command line.
#[derive(Debug)]
pub(crate) struct Inputs {
    pub(crate) list: Vec<Input>,
    /// Each gets a line of its own, with its name.
    pub(crate) are_many: bool,
    beside: Beside,
}

impl Inputs {
    /// The streams that `names` stand for. The log of a subagent is found with
    /// its session and is listed only where it is named.
    pub(crate) fn new(names: &[PathBuf]) -> anyhow::Result<Self> {
        let mut list = Vec::new();
        let mut are_many = false;
        let mut beside = Beside::default();
        if names.is_empty() {
            list.push(Input::Stdin);
        }
        for name in names {
            let found = inputs(std::slice::from_ref(name))?;
            let is_dir = !matches!(&*found, [Input::Stdin]) && name.is_dir();
            are_many |= is_dir;
            let listed = found.into_iter();
            list.extend(listed.filter(|input| !is_dir || !is_joined(input, &mut beside)));
        }
        are_many |= list.len() > 1;
        Ok(Self {
            list,
            are_many,
            beside,
        })
    }

    /// The logs of the subagents of the session whose log `input` is.
    pub(crate) fn subagents(&mut self, input: &Input) -> Vec<Input> {
        let Input::File(log) = input else {
            return Vec::new();
        };
        let plain = uncompressed_name(log);
        if plain.extension() != Some(OsStr::new("jsonl")) {
            return Vec::new();
        }
        let session = plain.with_extension("");
        let dir = session.join(SUBAGENTS);
        // A directory without logs is no error here: the user did not name it.
        let mut found = if dir.is_dir() {
            inputs(&[dir]).unwrap_or_default()
        } else {
            Vec::new()
        };
        found.extend(self.beside.of_session(&session));
        found
    }
}

/// Logs of subagents that are beside the log of their session, as releases
/// 2.0.x have them: by directory and session.
#[derive(Debug, Default)]
struct Beside(HashMap<PathBuf, HashMap<String, Vec<Input>>>);

impl Beside {
    /// Those of the session with the log `session`, without its extension.
    fn of_session(&mut self, session: &Path) -> Vec<Input> {
        let Some(name) = session.file_name().and_then(OsStr::to_str) else {
            return Vec::new();
        };
        let dir = session.parent().unwrap_or(Path::new(""));
        let logs = self.in_dir(dir).get(name);
        logs.cloned().unwrap_or_default()
    }

    /// The session of a subagent's log.
    fn session_of(&mut self, log: &Path) -> Option<&str> {
        let dir = log.parent()?;
        let log = Input::File(log.to_owned());
        let mut sessions = self.in_dir(dir).iter();
        let session = sessions.find(|(_, logs)| logs.contains(&log));
        session.map(|(session, _)| session.as_str())
    }

    fn in_dir(&mut self, dir: &Path) -> &HashMap<String, Vec<Input>> {
        self.0
            .entry(dir.to_owned())
            .or_insert_with(|| agents_by_session(dir))
    }
}

fn agents_by_session(dir: &Path) -> HashMap<String, Vec<Input>> {
    let place = if dir.as_os_str().is_empty() {
        Path::new(".")
    } else {
        dir
    };
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
    names.sort();
    let mut sessions: HashMap<String, Vec<Input>> = HashMap::new();
    for name in names.iter().filter(|name| is_agents(name)) {
        let log = Input::File(dir.join(name));
        if let Some(session) = session_of_agent(&log) {
            sessions.entry(session).or_default().push(log);
        }
    }
    sessions
}

/// Whether the name is that of a subagent's log.
fn is_agents(name: &OsStr) -> bool {
    let plain = uncompressed_name(Path::new(name));
    let is_agents = name.to_str().is_some_and(|name| name.starts_with("agent-"));
    is_agents && plain.extension() == Some(OsStr::new("jsonl"))
}

/// The session that the first lines of a subagent's log name.
fn session_of_agent(log: &Input) -> Option<String> {
    let opened = log.open().ok().filter(|opened| !opened.is_live())?;
    let mut head = Vec::new();
    opened.take(HEAD).read_to_end(&mut head).ok()?;
    let mut lines = head.split(|&b| b == b'\n');
    lines.find_map(|line| {
        let event = Event::parse(strip(line)).ok()?;
        let id = event.session_id.filter(|_| event.is_from_agents_log())?;
        Some(id.decode().into_owned())
    })
}

/// Whether the file is summarised with its session.
fn is_joined(input: &Input, beside: &mut Beside) -> bool {
    let Input::File(file) = input else {
        return false;
    };
    let dirs = file.ancestors().skip(1);
    let mut subagents = dirs.filter(|dir| dir.file_name() == Some(OsStr::new(SUBAGENTS)));
    if subagents.any(|dir| dir.parent().is_some_and(has_log)) {
        return true;
    }
    if !file.file_name().is_some_and(is_agents) {
        return false;
    }
    let dir = file.parent().unwrap_or(Path::new("")).to_owned();
    let session = beside.session_of(file);
    session.is_some_and(|session| has_log(&dir.join(session)))
}

/// Whether there is a log of the session, whose path has no extension.
fn has_log(session: &Path) -> bool {
    [".jsonl", ".jsonl.gz"].iter().any(|extension| {
        let mut log = session.as_os_str().to_owned();
        log.push(extension);
        Path::new(&log).is_file()
    })
}
