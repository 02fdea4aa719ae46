//! The `cr-turns` command; the work is in the library.

use std::io;
use std::process::ExitCode;

use clap::Parser;
use cr_turns::Args;

fn main() -> ExitCode {
    let args = Args::parse();
    let result = cr_turns::run(&args, io::stdout().lock());
    cr_io::report("cr-turns", result)
}
