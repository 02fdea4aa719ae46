//! The error of a call that failed, as its result has it.

use std::borrow::Cow;

use cr_event::ToolResult;

use crate::calls::OpenCall;
use crate::commit::texts;
use crate::line::{ProgressLine, Tone};

/// Bytes of an error in which its first line is looked for.
const HEAD: usize = 4096;

/// The text of a result, of each block about so many bytes.
pub fn text<'a>(result: &ToolResult<'a>, bytes: usize) -> Option<Cow<'a, str>> {
    let mut texts = texts(result.content).into_iter();
    let mut all = texts.next()?.prefix(bytes);
    for text in texts {
        let all = all.to_mut();
        all.push('\n');
        all.push_str(&text.prefix(bytes));
    }
    Some(all)
}

/// The line of a failed call. That of a command has its exit code and is always
/// shown; other failures, most of them refused calls, are details.
pub(crate) fn line(call: Option<OpenCall>, result: &ToolResult<'_>) -> ProgressLine {
    let error = text(result, HEAD).unwrap_or_default();
    let call = call.map(|call| format!("{}: {}", call.label, call.target));
    let code = exit_code(&error);
    let first = Some(first_line(&error)).filter(|line| !line.is_empty());
    let parts = [
        call,
        code.map(|code| format!("code {code}")),
        first.map(str::to_owned),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    let line = ProgressLine::new("Failed", parts.join(" | "));
    match code {
        // No warning in a workflow's log: a command may fail by design.
        Some(_) => line,
        None => line.detail().tone(Tone::Warning),
    }
}

/// The exit code of a command: its result begins with `Exit code 3`.
pub fn exit_code(text: &str) -> Option<i32> {
    let first = text.lines().next()?;
    let first = first.strip_prefix("Error: ").unwrap_or(first);
    first.strip_prefix("Exit code ")?.trim_end().parse().ok()
}

/// The first line that says what went wrong, without the code and the agent's
/// mark around it.
pub fn first_line(text: &str) -> &str {
    let skip = usize::from(exit_code(text).is_some());
    let mut lines = text.lines().skip(skip).map(|line| {
        let line = line.trim();
        let line = line.strip_prefix("<tool_use_error>").unwrap_or(line);
        line.strip_suffix("</tool_use_error>").unwrap_or(line)
    });
    lines.find(|line| !line.is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_has_a_code_and_a_first_line() {
        #[rustfmt::skip]
        let cases = [
            ("Exit code 3", Some(3), ""),
            ("Exit code 101\n\n  error: no\nmore", Some(101), "error: no"),
            ("Error: Exit code 1\ncat: a", Some(1), "cat: a"),
            ("<tool_use_error>File not found</tool_use_error>", None, "File not found"),
            ("Exit code of all", None, "Exit code of all"),
            ("", None, ""),
        ];
        for (text, code, line) in cases {
            assert_eq!((exit_code(text), first_line(text)), (code, line), "{text}");
        }
    }
}
