//! The `cr-relay` command; the work is in the library.

use std::process::ExitCode;

use clap::Parser;
use cr_relay::Args;

fn main() -> ExitCode {
    cr_io::report("cr-relay", cr_relay::run(&Args::parse()))
}
