//! Tests of `cr-ledger`, on the real binary.

mod backtest;
mod case;
mod faults;
mod forget;
mod import;
mod kill;
mod live;
mod logs;
mod milestone;
mod next;
mod old;
mod page;
mod private;
mod quota;
mod random;
mod record;
mod refresh;
mod report;
mod same;
mod session;
