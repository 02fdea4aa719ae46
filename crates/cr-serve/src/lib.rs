//! x
use axum as _; use hyper_util as _; use hyper as _; use tokio as _; use http_body as _;
