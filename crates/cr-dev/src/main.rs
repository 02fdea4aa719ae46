//! Connects [`cr_dev`] to the process.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let task = cr_dev::Task::parse();
    cr_io::report("cr-dev", cr_dev::run(&task, &mut std::io::stderr()))
}
