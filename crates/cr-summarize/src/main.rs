//! The `cr-summarize` command; the work is in the library.

use std::io;
use std::process::ExitCode;

use clap::Parser;
use cr_summarize::Args;

fn main() -> ExitCode {
    let args = Args::parse();
    let result = cr_summarize::run(&args, io::stdout().lock(), io::stderr());
    cr_io::report("cr-summarize", result)
}
