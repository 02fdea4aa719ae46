//! The `cr-replay` command; the work is in the library.

use std::process::ExitCode;

use clap::Parser;
use cr_replay::Args;

fn main() -> ExitCode {
    if let Some(code) = cr_replay::stand_in() {
        return code;
    }
    cr_io::report("cr-replay", cr_replay::run(&Args::parse()))
}
