//! The `cr-ledger` command; the work is in the library.

use std::io;
use std::process::ExitCode;

use clap::Parser;
use cr_ledger::Args;

fn main() -> ExitCode {
    let args = Args::parse();
    let result = cr_ledger::run(&args, io::stdout(), io::stderr());
    cr_io::report("cr-ledger", result)
}
