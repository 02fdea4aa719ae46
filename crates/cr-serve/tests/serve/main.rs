//! `cr-serve` over HTTP.

mod browser;
mod control;
mod events;
mod guard;
mod http;
mod list;
mod page;
mod place;
