//! The stand-in for the agent, from outside, in both dialects.
//!
//! A question that is not answered holds a turn in its tool for as long as a
//! test needs, so hardly anything here depends on time.

#![allow(missing_docs, reason = "an integration test is a crate of its own")]

mod control;
mod delivery;
mod driver;
mod faults;
mod log;
mod questions;
mod real;
mod recorded;
mod tasks;
