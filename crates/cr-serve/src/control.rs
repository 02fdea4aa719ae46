//! What a person may do to a run: stop it, send a message, answer a question. It is
//! what cr-runs and cr-send do, and it is off unless the server was told.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use crate::routes::{json, not_found};
use crate::source::Source;
use crate::state::App;
use crate::{encode, tools};

/// The longest body; the reason of a refusal is an argument of a program.
const LONGEST: usize = 96 << 10;
/// The time for a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);
/// The sender, as the record of the run shows it.
const SENDER: &str = "--from=cr-serve";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Message {
    text: String,
    #[serde(default)]
    when: When,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum When {
    #[default]
    Next,
    Idle,
    Now,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    id: String,
    decision: cr_rundir::Decision,
    text: Option<String>,
}

/// Ends a run, as `cr-runs stop`.
pub(crate) async fn stop(State(app): State<App>, Path(id): Path<String>) -> Response {
    match run(&app, &id) {
        Ok(dir) => finish(&app, "cr-runs", &["stop".as_ref(), dir.as_ref()], b"").await,
        Err(refused) => refused,
    }
}

/// Sends a message, as `cr-send`.
pub(crate) async fn message(
    State(app): State<App>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    let dir = match run(&app, &id) {
        Ok(dir) => dir,
        Err(refused) => return refused,
    };
    let Some(message) = body::<Message>(request).await else {
        return bad("expected {\"text\":…,\"when\":\"next\"|\"idle\"|\"now\"} as application/json");
    };
    let when = match message.when {
        When::Next => "--when=next",
        When::Idle => "--when=idle",
        When::Now => "--when=now",
    };
    let args: [&OsStr; 3] = [SENDER.as_ref(), when.as_ref(), dir.as_ref()];
    finish(&app, "cr-send", &args, message.text.as_bytes()).await
}

/// Answers a question, as `cr-send --allow`, `--deny` and `--answer`.
pub(crate) async fn answer(
    State(app): State<App>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    let dir = match run(&app, &id) {
        Ok(dir) => dir,
        Err(refused) => return refused,
    };
    let is_name = |text: &str| {
        text.bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
    };
    let answer = body::<Answer>(request).await;
    let Some(answer) = answer.filter(|answer| !answer.id.is_empty() && is_name(&answer.id)) else {
        return bad(
            "expected {\"id\":…,\"decision\":\"allow\"|\"allow_session\"|\"deny\"|\"choose\",\
             \"text\":…} as application/json",
        );
    };
    let mut args: Vec<OsString> = vec![SENDER.into()];
    let question = &answer.id;
    match answer.decision {
        cr_rundir::Decision::Allow => args.push(format!("--allow={question}").into()),
        cr_rundir::Decision::AllowSession => {
            args.extend([format!("--allow={question}").into(), "--always".into()]);
        }
        cr_rundir::Decision::Deny => args.push(format!("--deny={question}").into()),
        cr_rundir::Decision::Choose => args.push(format!("--answer={question}").into()),
    }
    args.extend(["--".into(), dir.into_os_string()]);
    if let Some(text) = answer.text.filter(|text| !text.is_empty()) {
        if text.contains('\0') {
            return bad("the text has a NUL");
        }
        args.push(text.into());
    }
    let args: Vec<&OsStr> = args.iter().map(OsString::as_os_str).collect();
    finish(&app, "cr-send", &args, b"").await
}

/// The directory of the run, if it may be controlled.
#[expect(clippy::result_large_err, reason = "made once for a request")]
fn run(app: &App, id: &str) -> Result<PathBuf, Response> {
    if !app.may_control {
        let text = "cr-serve shows only; start it with --allow-control\n";
        return Err((StatusCode::FORBIDDEN, text).into_response());
    }
    match app.source(id) {
        Some(Source::Run(run)) => Ok(run.dir),
        _ => Err(not_found()),
    }
}

/// The body, if it is JSON of this form. No form of another page can send that type.
async fn body<T: DeserializeOwned>(request: Request) -> Option<T> {
    let kind = request.headers().get(CONTENT_TYPE)?.to_str().ok()?;
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        return None;
    }
    let body: Body = request.into_body();
    let bytes = timeout(BODY_TIMEOUT, to_bytes(body, LONGEST))
        .await
        .ok()?
        .ok()?;
    serde_json::from_slice(&bytes).ok()
}

fn bad(text: &str) -> Response {
    (StatusCode::BAD_REQUEST, format!("{text}\n")).into_response()
}

async fn finish(app: &App, tool: &str, args: &[&OsStr], input: &[u8]) -> Response {
    match tools::run(tool, args, input, &app.redactor).await {
        Ok(printed) => {
            let printed = String::from_utf8_lossy(&printed);
            let reply = serde_json::json!({ "ok": true, "reply": printed.trim_end() });
            json(encode::document(
                reply.to_string().as_bytes(),
                &app.redactor,
            ))
        }
        Err(refused) => refused,
    }
}
