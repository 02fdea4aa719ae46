//! The `cr-orchestrate` command; the work is in the library.

use std::process::ExitCode;

use clap::Parser;
use cr_orchestrate::Args;

fn main() -> ExitCode {
    cr_io::report("cr-orchestrate", cr_orchestrate::run(&Args::parse()))
}
