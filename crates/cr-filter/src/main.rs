//! The `cr-filter` command; the work is in the library.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let args = cr_filter::Args::parse();
    cr_io::report("cr-filter", cr_filter::run(&args))
}
