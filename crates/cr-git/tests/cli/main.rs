//! `cr-git` as a process, on real repositories.

#![allow(missing_docs, reason = "an integration test is a crate of its own")]

mod by;
mod cases;
mod hostile;
mod locking;
mod place;
mod scope;
mod signals;
mod stream;
mod trouble;
