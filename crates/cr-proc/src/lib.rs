//! A process and all of its descendants.
//!
//! A process that leaves its group, its session and its parent still has an
//! ancestor: the nearest subreaper. A process that called [`adopt_orphans`]
//! therefore finds every descendant among its own children, and [`sweep`] ends
//! them all.

mod sweep;
mod table;

pub use sweep::{Swept, adopt_orphans, outlive, reap, sweep};
pub use table::{Process, descendants};
