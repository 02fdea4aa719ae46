//! Where a run leaves its files: the state directory, one directory a run, and
//! the way files get into it.
//!
//! Everything goes through a descriptor of the directory, opened once and
//! checked: no name that another user could have prepared is followed.

mod dir;
mod id;
mod state;

pub use dir::{Lock, RunDir};
pub use id::{Refused, RunId, now, shown};
pub use state::{State, Unsafe};
