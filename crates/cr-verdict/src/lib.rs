//! The verdict: how a run ended, and what to do about it.
//!
//! [`judge`] is one function without state: the same evidence gives the same
//! verdict in every tool. Structured fields decide; text is read only once
//! they say that there is an error, and then by whole words ([`classify`]).

mod classify;
mod denied;
mod evidence;
mod fault;
mod outcome;
pub mod policy;
mod reset;
mod sentences;
mod turn;
mod verdict;

pub use classify::{Class, classify};
pub use evidence::{Denials, Evidence, ExitFacts, Finding, Missing, RateLimit, ResultFacts};
pub use outcome::{ACTIONS, Category, Outcome, Retry, Verdict};
pub use reset::reset_time;
pub use turn::judge_turn;
pub use verdict::judge;
