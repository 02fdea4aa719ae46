//! The schema that the answer must satisfy.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use anyhow::{Context, anyhow};
use cr_io::Exit;
use serde_json::value::RawValue;

use crate::argv::MAX_ARGUMENT;
use crate::options::AgentOptions;

/// The text of the schema: the agent takes no file.
pub(crate) fn text(options: &AgentOptions) -> anyhow::Result<Option<String>> {
    let Some(given) = &options.json_schema else {
        return Ok(None);
    };
    let is_inline = given.trim_start().starts_with('{');
    let source = if is_inline {
        "--json-schema".to_owned()
    } else {
        format!("--json-schema: {given}")
    };
    let text = if is_inline {
        given.clone()
    } else {
        let read = fs::read_to_string(given);
        read.with_context(|| source.clone())
            .context(Exit::NoInput)?
    };
    let wrong = |text: String| anyhow!(text).context(source.clone()).context(Exit::Config);
    if let Err(err) = serde_json::from_str::<&RawValue>(&text) {
        return Err(wrong(err.to_string()));
    }
    if !text.trim_start().starts_with('{') {
        return Err(wrong("not a schema: expected an object".to_owned()));
    }
    if let Some(why) = refusal(&text) {
        return Err(wrong(why));
    }
    let text = cr_json::compact(text.trim());
    if text.len() > MAX_ARGUMENT - 100 {
        let text = "--json-schema: the schema is too long for an argument";
        return Err(anyhow!(text).context(Exit::Usage));
    }
    Ok(Some(text))
}

/// Why `text` is not a schema, if it is not. cr-extract checks that: the code for
/// it would double the size of this program. Where cr-extract is missing, the
/// agent reports the error.
fn refusal(text: &str) -> Option<String> {
    let mut child = Command::new(cr_io::find_tool("cr-extract"))
        .args(["--check", "--schema", "/dev/stdin"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A checker that does not read to the end reports an error itself.
        let _ = stdin.write_all(text.as_bytes());
    }
    let output = child.wait_with_output().ok()?;
    let is_refused = output.status.code() == Some(i32::from(Exit::Config.code()));
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.trim_end().rsplit_once("/dev/stdin: ");
    said.map(|(_, why)| why.to_owned()).filter(|_| is_refused)
}
