//! `cr-serve` over HTTP.

mod control;
mod events;
mod guard;
mod http;
mod list;
mod place;
