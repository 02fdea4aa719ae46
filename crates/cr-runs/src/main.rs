//! The `cr-runs` command; the work is in the library.

use std::process::ExitCode;

use clap::Parser;
use cr_runs::Args;

fn main() -> ExitCode {
    if let Some((tool, result)) = cr_runs::begin() {
        return cr_io::report(tool, result);
    }
    cr_io::report("cr-runs", cr_runs::run(&Args::parse()))
}
