//! The addresses of the server, and the checks before all of them.

use std::sync::atomic::Ordering;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, RawQuery, Request, State};
use axum::http::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, REFERRER_POLICY,
    SET_COOKIE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use tokio::sync::mpsc;

use crate::control;
use crate::follow::{self, Follower};
use crate::guard::{self, Refusal};
use crate::state::{App, Counts};
use crate::stream_body::{Place, StreamBody};
use crate::transcript::Kinds;
use crate::{asks, assets, ledger, metrics, query, run_list, text};

/// No page may load the server's or be one of its frames, and its own page loads
/// nothing from anywhere else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     connect-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'; \
     form-action 'none'";
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// All addresses.
pub(crate) fn all(app: App) -> Router {
    let page = || async |request: Request| assets::at(request.uri().path());
    Router::new()
        .route("/", get(page()))
        .route("/app.js", get(page()))
        .route("/style.css", get(page()))
        .route("/icon.svg", get(page()))
        .route("/events", get(events))
        .route("/metrics", get(metrics::metrics))
        .route("/api/session", post(session))
        .route("/api/about", get(about))
        .route("/api/runs", get(runs))
        .route("/api/runs/{id}/summary", get(summary))
        .route("/api/runs/{id}/stop", post(control::stop))
        .route("/api/runs/{id}/message", post(control::message))
        .route("/api/runs/{id}/answer", post(control::answer))
        .route("/api/asks", get(asks::asks))
        .route("/api/ledger/report", get(ledger::report))
        .layer(middleware::from_fn_with_state(app.clone(), check))
        .with_state(app)
}

async fn check(State(app): State<App>, request: Request, next: Next) -> Response {
    let (method, uri, headers) = (request.method(), request.uri(), request.headers());
    let mut response = match app.guard.check(method, uri, headers) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refuse(&app, refusal),
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (RESOURCE_POLICY, "same-origin"),
        (OPENER_POLICY, "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let no_store = || HeaderValue::from_static("no-store");
    headers.entry(CACHE_CONTROL).or_insert_with(no_store);
    response
}

fn refuse(app: &App, refusal: Refusal) -> Response {
    Counts::add(&app.counts.refused, 1);
    if refusal == Refusal::WrongToken && !app.guesses.may_go_on() {
        let text = "too many wrong tokens; try again in a second\n";
        return (StatusCode::TOO_MANY_REQUESTS, text).into_response();
    }
    (refusal.status(), refusal.text()).into_response()
}

/// Gives the page its cookie. The token came in the fragment of its address, which a
/// browser does not send, and leaves here as a cookie that no program can read.
async fn session(State(app): State<App>, headers: HeaderMap) -> Response {
    if guard::bearer(&headers).is_none() {
        return StatusCode::BAD_REQUEST.into_response();
    }
    let cookie = app.guard.set_cookie(&headers);
    (StatusCode::NO_CONTENT, [(SET_COOKIE, cookie)]).into_response()
}

async fn about(State(app): State<App>) -> Response {
    let about = serde_json::json!({
        "version": env!("CARGO_PKG_VERSION"),
        "control": app.may_control,
        "recordings": !app.recordings.is_empty(),
    });
    json(about.to_string())
}

async fn runs(State(app): State<App>) -> Response {
    match follow::snapshot(&app).await {
        Some((list, _)) => json(run_list::array(&list)),
        None => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

async fn summary(State(app): State<App>, Path(id): Path<String>) -> Response {
    let Some(source) = app.source(&id) else {
        return not_found();
    };
    match app.summaries.of(&id, &source, &app.redactor).await {
        Some(summary) => json(summary.to_string()),
        None => (StatusCode::NOT_FOUND, "there is no transcript yet\n").into_response(),
    }
}

/// An answer of JSON in one line.
pub(crate) fn json(text: String) -> Response {
    ([(CONTENT_TYPE, "application/json")], text + "\n").into_response()
}

/// The answer where there is no such run.
pub(crate) fn not_found() -> Response {
    (StatusCode::NOT_FOUND, "no such run\n").into_response()
}

async fn events(State(app): State<App>, RawQuery(query): RawQuery, headers: HeaderMap) -> Response {
    let query = query.unwrap_or_default();
    let value = |key| query::value(&query, key);
    let header = |name| {
        headers
            .get(name)
            .and_then(|value: &HeaderValue| value.to_str().ok())
    };
    let as_text = header(ACCEPT).is_some_and(wants_text);
    let last = header(LAST_EVENT)
        .map(str::to_owned)
        .or_else(|| value("since"));
    let last = last.unwrap_or_default();
    if last.ends_with("/end") {
        // Everything was sent; a browser asks no more after this.
        return StatusCode::NO_CONTENT.into_response();
    }
    let run = match value("run") {
        None => None,
        Some(id) => match app.source(&id) {
            Some(source) => Some((id, source)),
            None => return not_found(),
        },
    };
    let Some(place) = Place::take(&app.readers, app.most_readers) else {
        let text = "too many readers; --max-clients is the limit\n";
        return (StatusCode::SERVICE_UNAVAILABLE, text).into_response();
    };
    // One piece waits while another is on its way.
    let (to, pieces) = mpsc::channel::<Bytes>(1);
    if run.is_none() || value("runs").is_some() {
        tokio::spawn(follow::list(app.clone(), to.clone(), as_text));
    }
    match run {
        Some((_, source)) if as_text => text::follow(app, source, to),
        Some((id, source)) => {
            let number = last.split('/').next().unwrap_or_default();
            tokio::spawn(follow::run(Follower {
                app,
                id,
                source,
                since: number.parse().unwrap_or(0),
                kinds: Kinds::parse(&value("kinds").unwrap_or_default()),
                to,
            }));
        }
        None => drop(to),
    }
    stream(pieces, as_text, place)
}

fn stream(pieces: mpsc::Receiver<Bytes>, as_text: bool, place: Place) -> Response {
    let body = Body::new(StreamBody::new(pieces, !as_text, place));
    let kind = if as_text {
        "text/plain; charset=utf-8"
    } else {
        "text/event-stream"
    };
    ([(CONTENT_TYPE, kind)], body).into_response()
}

/// Whether plain text is named before the events.
fn wants_text(accept: &str) -> bool {
    let place = |kind| accept.find(kind).unwrap_or(usize::MAX);
    place("text/plain") < place("text/event-stream")
}

/// The number of a counter.
pub(crate) fn count(counter: &std::sync::atomic::AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}
