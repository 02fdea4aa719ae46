//! The tools as a user has them: joined by pipes, installed, documented.

#![allow(missing_docs, reason = "an integration test is a crate of its own")]

mod demo;
mod fixtures;
mod install;
mod manners;
mod readers;
mod readme;
mod sessions;
mod tee;
