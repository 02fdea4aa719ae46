//! Tests of `cr-ledger`, on the real binary.

mod backtest;
mod case;
mod live;
mod milestone;
mod next;
mod page;
mod quota;
mod record;
mod refresh;
mod session;
