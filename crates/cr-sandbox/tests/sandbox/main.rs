//! Agents in a sandbox, supervised by cr-spawn: what they can do, and what not.

mod escapes;
mod forged;
mod place;
mod work;
