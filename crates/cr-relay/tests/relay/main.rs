//! `cr-relay` as two processes, with commands between them that relay well or
//! badly.

mod case;
mod lease;
mod plain;
mod slurm;
mod trouble;
