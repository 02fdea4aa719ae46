//! Usage, cost and context of a stream or a session log.
//!
//! [`UsageMeter`] takes the events of a run and knows its tokens, its cost and
//! how full the context is. Usage is counted once per `message.id`: a message
//! comes in several lines, and each of them repeats its usage.

mod context;
mod cost;
mod meter;
mod prices;
mod recent;
mod spent;
mod tokens;

pub use context::{
    CONTEXT_WARNING, CacheTtl, ContextUse, is_nearly_full, is_window_of, percent_used,
};
pub use cost::{Cost, CostSource, rounded, since_last_result};
pub use meter::{RunningTotal, UsageMeter};
pub use prices::Prices;
pub use recent::{RecentMap, key};
pub use spent::Spent;
