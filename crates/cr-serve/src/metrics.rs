//! `/metrics`: numbers in the text format of Prometheus.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

use crate::routes::count;
use crate::state::App;

const KIND: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Answers with the numbers.
pub(crate) async fn metrics(State(app): State<App>) -> Response {
    let Some((list, _)) = crate::follow::snapshot(&app).await else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let mut states: BTreeMap<&str, u64> = BTreeMap::new();
    for state in ["starting", "running", "ended", "lost"] {
        states.insert(state, 0);
    }
    let mut questions = 0;
    for entry in list.values() {
        *states.entry(entry.state).or_default() += 1;
        questions += entry.questions;
    }
    let mut out = String::new();
    head(
        &mut out,
        "cr_runs",
        "gauge",
        "Runs of this machine, by their state.",
    );
    for (state, number) in states {
        out.push_str(&format!("cr_runs{{state=\"{state}\"}} {number}\n"));
    }
    let counts = &app.counts;
    for (name, kind, help, value) in [
        (
            "cr_questions_open",
            "gauge",
            "Questions without an answer.",
            questions,
        ),
        (
            "cr_serve_clients",
            "gauge",
            "Readers of /events.",
            app.readers.load(Ordering::Relaxed) as u64,
        ),
        (
            "cr_serve_events_total",
            "counter",
            "Events sent.",
            count(&counts.events),
        ),
        (
            "cr_serve_bytes_total",
            "counter",
            "Bytes of /events sent.",
            count(&counts.bytes),
        ),
        (
            "cr_serve_refused_total",
            "counter",
            "Requests refused.",
            count(&counts.refused),
        ),
    ] {
        head(&mut out, name, kind, help);
        out.push_str(&format!("{name} {value}\n"));
    }
    ([(CONTENT_TYPE, KIND)], out).into_response()
}

fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    out.push_str(&format!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
}
