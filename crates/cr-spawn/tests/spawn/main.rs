//! `cr-spawn` as a process, with `cr-replay` as the agent.
//!
//! A test that kills first shows that the process exists. Survivors are found by
//! a tag in their environment, even if they have left their group and session.

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
mod session;
mod signals;
mod stream;
mod versions;
