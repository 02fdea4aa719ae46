//! `/metrics`: numbers in the text format of Prometheus.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

use crate::routes::count;
use crate::run_list::Snapshot;
use crate::state::App;

const KIND: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Answers with the numbers.
pub(crate) async fn metrics(State(app): State<App>) -> Response {
    let Some((list, _)) = crate::follow::snapshot(&app).await else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let readers = app.readers.load(Ordering::Relaxed) as u64;
    let counts = &app.counts;
    let mut out = of_runs(&list);
    for (name, help, value) in [
        (
            "cr_serve_events_total",
            "Events sent.",
            count(&counts.events),
        ),
        (
            "cr_serve_bytes_total",
            "Bytes of /events sent.",
            count(&counts.bytes),
        ),
        (
            "cr_serve_refused_total",
            "Requests refused.",
            count(&counts.refused),
        ),
    ] {
        head(&mut out, name, "counter", help);
        out.push_str(&format!("{name} {value}\n"));
    }
    head(&mut out, "cr_serve_clients", "gauge", "Readers of /events.");
    out.push_str(&format!("cr_serve_clients {readers}\n"));
    ([(CONTENT_TYPE, KIND)], out).into_response()
}

fn of_runs(list: &Snapshot) -> String {
    let known = ["starting", "running", "ended", "lost"];
    let mut states: BTreeMap<&str, u64> = known.map(|state| (state, 0)).into();
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
    head(
        &mut out,
        "cr_questions_open",
        "gauge",
        "Questions without an answer.",
    );
    out.push_str(&format!("cr_questions_open {questions}\n"));
    out
}

fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    out.push_str(&format!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
}
