//! The answer in a summary, for `claude-runner --output answer`.

use std::io::{Read, Write};

use anyhow::Context;
use cr_io::{Exit, Out};
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Summary<'a> {
    code: u8,
    result: Option<String>,
    #[serde(borrow)]
    structured_output: Option<&'a RawValue>,
}

/// Reads a summary, prints the answer, and ends with the verdict.
pub(crate) fn answer(mut input: impl Read, out: impl Write) -> anyhow::Result<Exit> {
    let mut text = Vec::new();
    input
        .read_to_end(&mut text)
        .context("standard input")
        .context(Exit::Io)?;
    let summary: Summary<'_> = serde_json::from_slice(&text)
        .context("standard input: no summary")
        .context(Exit::Data)?;
    let mut out = Out::new(out);
    match (summary.structured_output, &summary.result) {
        (Some(value), _) if value.get() != "null" => out.line(value.get().as_bytes())?,
        (_, Some(result)) if !result.is_empty() => out.line(result.trim_end().as_bytes())?,
        _ => {}
    }
    out.flush()?;
    Ok(Exit::Code(summary.code))
}
