//! A process and everything it started, to the last one.
//!
//! A process that leaves its group, its session and its parent still has an
//! ancestor: the nearest subreaper. So whoever calls [`adopt_orphans`] first
//! finds every descendant among its own, and [`sweep`] ends them all.

mod sweep;
mod table;

pub use sweep::{Swept, adopt_orphans, outlive, reap, sweep};
pub use table::{Process, descendants};
