//! Other tools of the project, run for a request.

use std::ffi::OsStr;
use std::process::Stdio;
use std::time::Duration;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use cr_io::{Redactor, find_tool, sanitized};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::time::timeout;

/// Longer than any of them takes by itself.
const LIMIT: Duration = Duration::from_secs(40);

/// Runs the tool `name` with `input`; returns what it prints, or the answer to the
/// request that it refuses.
pub(crate) async fn run(
    name: &str,
    args: &[&OsStr],
    input: &[u8],
    redactor: &Redactor,
) -> Result<Vec<u8>, Response> {
    let failed = |text: String| {
        let text = format!("{}\n", sanitized(text.trim()));
        (StatusCode::BAD_GATEWAY, text).into_response()
    };
    let mut child = Command::new(find_tool(name))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|err| failed(format!("{name}: {err}")))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A tool that refuses does not read it.
        let _ = stdin.write_all(input).await;
    }
    let output = timeout(LIMIT, child.wait_with_output()).await;
    let output = output.map_err(|_| failed(format!("{name}: no answer")))?;
    let output = output.map_err(|err| failed(format!("{name}: {err}")))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let text = format!("{}\n", sanitized(redactor.redact(text.trim()).as_ref()));
    let status = match output.status.code() {
        Some(2 | 65) => StatusCode::BAD_REQUEST,
        Some(66) => StatusCode::NOT_FOUND,
        Some(75) => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::BAD_GATEWAY,
    };
    Err((status, text).into_response())
}
