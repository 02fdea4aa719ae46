//! Sessions of many turns, with the stand-in for two versions of the agent.

mod delivery;
mod edges;
mod ends;
mod questions;
mod recovery;
mod socket;
mod talk;
