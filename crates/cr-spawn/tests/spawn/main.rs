//! `cr-spawn` as a process, with `cr-replay` as the agent.
//!
//! A test that kills first shows that there is something to kill; survivors are
//! found by a tag in their environment, whatever they did to get away.

mod argv;
mod case;
mod control;
mod ending;
mod escape;
mod exits;
mod limits;
mod paths;
mod places;
mod privacy;
mod signals;
mod stream;
