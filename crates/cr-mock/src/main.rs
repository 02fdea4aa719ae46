//! The `cr-mock` command; the work is in the library.

use std::process::ExitCode;

use clap::Parser;
use cr_mock::Args;

fn main() -> ExitCode {
    cr_io::report("cr-mock", cr_mock::run(&Args::parse()))
}
