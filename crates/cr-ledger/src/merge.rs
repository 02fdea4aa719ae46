//! `cr-ledger merge`: another machine's ledger.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use cr_io::{Exit, Out, counted};
use cr_ledger_db::Access;

use crate::location::Location;

/// Add what other ledgers know
///
/// Merging a ledger again, or two ledgers in the other order, gives the same. The
/// others are not changed. Budgets are not taken over.
#[derive(Args, Debug)]
pub(crate) struct MergeArgs {
    /// Ledgers of other machines
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

pub(crate) fn run(args: &MergeArgs, location: &Location, out: impl Write) -> anyhow::Result<Exit> {
    let mut ledger = location.open(Access::Write)?;
    let mut out = Out::new(out);
    for file in &args.files {
        let merged = ledger.merge(file)?;
        let line = format!(
            "{}: {}, {}",
            cr_io::sanitized(&file.display().to_string()),
            counted(merged.messages, "message"),
            counted(merged.runs, "run")
        );
        out.line(line.as_bytes())?;
    }
    out.flush()?;
    Ok(Exit::Ok)
}
