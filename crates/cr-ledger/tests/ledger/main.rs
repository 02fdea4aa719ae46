//! Tests of `cr-ledger`, on the real binary.

mod case;
mod record;
