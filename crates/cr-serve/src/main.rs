//! The `cr-serve` command; the work is in the library.

use std::io;
use std::process::ExitCode;

use clap::Parser;
use cr_serve::Args;

fn main() -> ExitCode {
    let args = Args::parse();
    cr_io::report("cr-serve", cr_serve::run(&args, io::stdout().lock()))
}
