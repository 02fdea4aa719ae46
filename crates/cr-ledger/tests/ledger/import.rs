//! `import`: session logs, each message once.

mod counting;
mod faults;
mod increments;
mod logs;
mod with_runs;
