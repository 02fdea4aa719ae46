//! The page, which is compiled in: no file is ever served.

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

/// The page without its style and its program.
pub(crate) const PAGE: &str = include_str!("../assets/index.html");
/// Its style.
pub(crate) const STYLE: &str = include_str!("../assets/style.css");
/// Its program, in the order in which a page reads it.
pub(crate) const PROGRAM: &str = concat!(
    "\"use strict\";\n",
    include_str!("../assets/dom.js"),
    include_str!("../assets/format.js"),
    include_str!("../assets/model.js"),
    include_str!("../assets/diff.js"),
    include_str!("../assets/cards.js"),
    include_str!("../assets/log.js"),
    include_str!("../assets/side.js"),
    include_str!("../assets/needs.js"),
    include_str!("../assets/app.js"),
);
const ICON: &str = include_str!("../assets/icon.svg");

/// Answers with the asset at `path`; every path of the page is one.
pub(crate) fn at(path: &str) -> Response {
    let (kind, text) = match path {
        "/app.js" => ("text/javascript; charset=utf-8", PROGRAM),
        "/style.css" => ("text/css; charset=utf-8", STYLE),
        "/icon.svg" => ("image/svg+xml", ICON),
        _ => ("text/html; charset=utf-8", PAGE),
    };
    ([(CONTENT_TYPE, kind), (CACHE_CONTROL, "no-cache")], text).into_response()
}
