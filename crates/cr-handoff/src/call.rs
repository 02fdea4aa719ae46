//! A call of a tool: what it works on, and which other call is the same.

use cr_event::{Raw, Text, ToolUse};
use cr_usage::key;

/// Bytes of a command or path that are decoded: more than is shown, so that a
/// secret at the cut is recognised.
const DECODED: usize = 2 << 10;
/// Bytes of it that are kept.
const KEPT: usize = 1 << 10;
/// Bytes of a command in which git is looked for.
const SEARCHED: usize = 64 << 10;

/// How a call uses a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Access {
    Read,
    Edit,
    Write,
}

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    /// Runs a command.
    Shell {
        /// A `[branch sha]` in its output is from git.
        may_commit: bool,
    },
    /// Uses a file.
    File(Access),
    /// Asks a person.
    Question,
    /// Anything else.
    Other,
}

/// A call whose result has not come.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// Calls are numbered in the order of their lines.
    pub(crate) number: u64,
    pub(crate) deed: Deed,
    /// The same for the same command, the same file, or the same arguments.
    pub(crate) key: u64,
    pub(crate) tool: String,
    pub(crate) target: String,
    /// It was denied; its result may follow.
    pub(crate) is_denied: bool,
}

impl Call {
    pub(crate) fn new(call: &ToolUse<'_>, number: u64, mask: impl Fn(&str) -> String) -> Self {
        let tool = call.name.prefix(100).into_owned();
        let text = |key| call.input.and_then(|input| input.get(key)?.text());
        let file = |access| (Deed::File(access), text("file_path"));
        let (deed, target) = match &*tool {
            "Bash" => (Deed::Other, text("command")),
            "Read" => file(Access::Read),
            "Edit" | "MultiEdit" => file(Access::Edit),
            "Write" => file(Access::Write),
            "NotebookEdit" => {
                let path = text("notebook_path").or_else(|| text("file_path"));
                (Deed::File(Access::Edit), path)
            }
            "AskUserQuestion" | "ExitPlanMode" => (Deed::Question, None),
            _ => (Deed::Other, None),
        };
        let (deed, same) = match (deed, target) {
            (Deed::File(access), Some(path)) => (Deed::File(access), key(&[b"file", path.bytes()])),
            (_, Some(command)) => {
                let may_commit = cr_progress::may_commit(&command.prefix(SEARCHED));
                (
                    Deed::Shell { may_commit },
                    key(&[b"shell", command.bytes()]),
                )
            }
            // A file without a path is no file.
            (Deed::File(_), None) => (Deed::Other, key(&[tool.as_bytes()])),
            (deed, None) => {
                let input = call.input.map(Raw::bytes).unwrap_or_default();
                (deed, key(&[tool.as_bytes(), input]))
            }
        };
        let target = target.map_or_else(
            || cr_progress::describe(call).target,
            |target: Text<'_>| target.prefix(DECODED).into_owned(),
        );
        Self {
            number,
            deed,
            key: same,
            target: crate::quote::cut(&mask(&target), KEPT),
            tool: mask(&tool),
            is_denied: false,
        }
    }

    /// How the call is named.
    pub(crate) fn name(&self) -> String {
        format!("{}: {}", self.tool, self.target)
    }
}
