//! The agent's tools: which field of the input is the command or the path.

/// The tool that runs a command with the shell.
pub(crate) const SHELL: &str = "Bash";
/// The field with its command.
pub(crate) const COMMAND: &str = "command";
/// Every field with which a command rule allows a call. Others can change what
/// the command may do, such as `dangerouslyDisableSandbox`.
pub(crate) const SHELL_FIELDS: [&str; 4] = [COMMAND, "description", "run_in_background", "timeout"];
/// The tool that asks a person. To allow it is not to answer it.
pub(crate) const QUESTION: &str = "AskUserQuestion";

/// A tool with one path.
pub(crate) struct PathTool {
    name: &'static str,
    /// The field with its path.
    pub(crate) field: &'static str,
    /// The other fields that are known.
    others: &'static [&'static str],
    /// Whether it also reads what is below the path.
    pub(crate) is_search: bool,
}

impl PathTool {
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        PATH_TOOLS.iter().find(|tool| tool.name == name)
    }

    pub(crate) fn has_field(&self, name: &str) -> bool {
        name == self.field || self.others.contains(&name)
    }
}

#[rustfmt::skip]
const PATH_TOOLS: [PathTool; 7] = [
    file("Read", "file_path", &["limit", "offset", "pages"]),
    file("Write", "file_path", &["content"]),
    file("Edit", "file_path", &["new_string", "old_string", "replace_all"]),
    file("NotebookEdit", "notebook_path", &["cell_id", "cell_type", "edit_mode", "new_source"]),
    search("Grep", &[
        "-A", "-B", "-C", "-i", "-n", "-o", "context", "glob", "head_limit", "multiline", "offset",
        "output_mode", "pattern", "type",
    ]),
    search("Glob", &["pattern"]),
    search("LS", &["ignore"]),
];

const fn file(
    name: &'static str,
    field: &'static str,
    others: &'static [&'static str],
) -> PathTool {
    PathTool {
        name,
        field,
        others,
        is_search: false,
    }
}

const fn search(name: &'static str, others: &'static [&'static str]) -> PathTool {
    PathTool {
        name,
        field: "path",
        others,
        is_search: true,
    }
}

/// Whether a pattern of the tool Glob stays below its directory.
pub(crate) fn stays_below(pattern: &str) -> bool {
    let (folders, last) = pattern.rsplit_once('/').unwrap_or(("", pattern));
    let before_brace = last.split('{').next().unwrap_or(last);
    let is_open = last.contains('{') && before_brace.chars().all(|c| c == '.');
    let leaves = pattern.starts_with(['/', '~']) || pattern.contains("..") || is_open;
    !leaves && !folders.contains(['{', '(', '[']) && !pattern.contains(['\\', '(', '\0'])
}

/// The tools that a rule is about: names, or beginnings of names before a `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ToolName(String);

impl ToolName {
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        let name = text.strip_suffix('*').unwrap_or(text);
        let is_name = |c: char| !c.is_whitespace() && !c.is_control() && c != '*';
        if text.is_empty() || !name.chars().all(is_name) {
            return Err("expected the name of a tool, or the beginning of one and `*`".to_owned());
        }
        Ok(Self(text.to_owned()))
    }

    pub(crate) fn is(&self, tool: &str) -> bool {
        match self.0.strip_suffix('*') {
            Some(start) => tool.starts_with(start),
            None => tool == self.0,
        }
    }

    /// The name, if it is a whole one.
    pub(crate) fn exact(&self) -> Option<&str> {
        (!self.0.ends_with('*')).then_some(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_leave_their_directory_are_found() {
        for pattern in [
            "*",
            "**/*.rs",
            "src/**/*.{ts,tsx}",
            "a/b.md",
            "[ab].md",
            "*.{d.ts,js}",
        ] {
            assert!(stays_below(pattern), "{pattern}");
        }
        for pattern in [
            "../x",
            "a/../x",
            "/etc/*",
            "~/x",
            "{..,a}/x",
            "{/etc,a}/*",
            ".{.,a}/x",
            "{,a}/etc/*",
            "a/{b,c}/d",
            "[.][.]/x",
            "\\../x",
            "@(..|a)/x",
            "..",
            ".{.,a}",
            "a/{.,b}",
        ] {
            assert!(!stays_below(pattern), "{pattern}");
        }
    }

    #[test]
    fn names_of_tools() {
        let is = |name: &str, tool: &str| ToolName::new(name).expect("a name").is(tool);
        assert!(is("Bash", "Bash") && is("mcp__git__*", "mcp__git__log") && is("*", "x"));
        assert!(!is("Bash", "BashOutput") && !is("bash", "Bash") && !is("mcp__git__*", "mcp__gi"));
        for name in ["", "a b", "*a", "a*b", "**", "a\n"] {
            assert!(ToolName::new(name).is_err(), "{name:?}");
        }
    }
}
