//! The `cr-extract` command; the work is in the library.

use std::io;
use std::process::ExitCode;

use clap::Parser;
use cr_extract::Args;

fn main() -> ExitCode {
    let args = Args::parse();
    let result = cr_extract::run(&args, io::stdout().lock(), io::stderr());
    cr_io::report("cr-extract", result)
}
