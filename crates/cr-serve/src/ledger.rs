//! `/api/ledger/report`: what `cr-ledger report --json` prints, as an array.

use std::ffi::OsStr;

use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use crate::state::App;
use crate::{encode, query, routes, tools};

/// What can be asked for: options of `cr-ledger report`.
const OPTIONS: [&str; 5] = ["by", "since", "until", "top", "model"];

/// Answers with the rows of the report.
pub(crate) async fn report(State(app): State<App>, RawQuery(query): RawQuery) -> Response {
    let query = query.unwrap_or_default();
    let given = OPTIONS.iter().filter_map(|name| {
        let value = query::value(&query, name)?;
        Some(format!("--{name}={value}"))
    });
    let options: Vec<String> = given.collect();
    if options.iter().any(|option| option.contains('\0')) {
        return StatusCode::BAD_REQUEST.into_response();
    }
    let mut args: Vec<&OsStr> = vec!["report".as_ref(), "--json".as_ref()];
    args.extend(options.iter().map(OsStr::new));
    match tools::run("cr-ledger", &args, b"", &app.redactor).await {
        Ok(lines) => {
            let text = String::from_utf8_lossy(&lines);
            let rows: Vec<&str> = text.lines().collect();
            let array = format!("[{}]", rows.join(","));
            routes::json(encode::document(array.as_bytes(), &app.redactor))
        }
        Err(refused) => refused,
    }
}
