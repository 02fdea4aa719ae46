//! The inputs, and the logs of subagents that belong to them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use cr_io::{Input, inputs};

/// The directory with the logs of a session's subagents, below a directory of
/// the session's name.
const SUBAGENTS: &str = "subagents";

/// The inputs of a command line.
#[derive(Debug)]
pub(crate) struct Inputs {
    pub(crate) list: Vec<Input>,
    /// Each gets a line of its own, with its name.
    pub(crate) are_many: bool,
}

impl Inputs {
    /// The streams that `names` stand for. The log of a subagent is found with
    /// its session and is listed only where it is named.
    pub(crate) fn new(names: &[PathBuf]) -> anyhow::Result<Self> {
        let mut list = Vec::new();
        let mut are_many = false;
        if names.is_empty() {
            list.push(Input::Stdin);
        }
        for name in names {
            let found = inputs(std::slice::from_ref(name))?;
            let is_dir = !matches!(&*found, [Input::Stdin]) && name.is_dir();
            are_many |= is_dir;
            let listed = found.into_iter();
            list.extend(listed.filter(|input| !is_dir || !is_joined(input)));
        }
        are_many |= list.len() > 1;
        Ok(Self { list, are_many })
    }
}

/// The logs of the subagents of the session whose log `input` is.
pub(crate) fn subagents(input: &Input) -> Vec<Input> {
    let Input::File(log) = input else {
        return Vec::new();
    };
    let dir = log.with_extension("").join(SUBAGENTS);
    if log.extension() != Some(OsStr::new("jsonl")) || !dir.is_dir() {
        return Vec::new();
    }
    // A directory without logs is no error here: the user did not name it.
    inputs(&[dir]).unwrap_or_default()
}

/// Whether the file is summarised with its session.
fn is_joined(input: &Input) -> bool {
    let Input::File(file) = input else {
        return false;
    };
    let dirs = file.ancestors().skip(1);
    let mut subagents = dirs.filter(|dir| dir.file_name() == Some(OsStr::new(SUBAGENTS)));
    subagents.any(|dir| dir.parent().is_some_and(has_log))
}

fn has_log(session: &Path) -> bool {
    let mut log = session.as_os_str().to_owned();
    log.push(".jsonl");
    Path::new(&log).is_file()
}
