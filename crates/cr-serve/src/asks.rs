//! `/api/asks`: the questions of all runs that nobody has answered.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use cr_rundir::{QuestionLine, Run, RunDir};
use serde::Serialize;
use tokio::task::spawn_blocking;

use crate::encode;
use crate::routes::json;
use crate::state::App;

#[derive(Serialize)]
struct Ask<'a> {
    /// The directory's name, as in the list.
    run: &'a str,
    #[serde(flatten)]
    question: QuestionLine,
}

/// Answers with an array, the questions of the latest run first.
pub(crate) async fn asks(State(app): State<App>) -> Response {
    let asked = spawn_blocking(move || {
        let mut all = Vec::new();
        if app.recordings.is_empty() {
            let (list, _) = app.list.snapshot(&app.redactor);
            let asking = list.iter().rev().filter(|(_, entry)| entry.questions > 0);
            for (id, _) in asking {
                all.extend(of_run(&app, id));
            }
        }
        let text = format!("[{}]", all.join(","));
        encode::document(text.as_bytes(), &app.redactor)
    });
    match asked.await {
        Ok(text) => json(text),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

fn of_run(app: &App, id: &str) -> Vec<String> {
    let run = Run::new(app.runs.join(id));
    let open = RunDir::existing(&run.dir).and_then(|dir| cr_rundir::open_questions(&dir));
    let asks = open.unwrap_or_default().into_iter();
    asks.filter_map(|question| serde_json::to_string(&Ask { run: id, question }).ok())
        .collect()
}
