//! The `cr-send` command; the work is in the library.

use std::io;
use std::process::ExitCode;

use clap::Parser;
use cr_send::Args;

fn main() -> ExitCode {
    let args = Args::parse();
    // A message is for the agent and not for the list of processes.
    let _ = cr_sys::hide_arguments("cr-send");
    let (input, out) = (io::stdin().lock(), io::stdout().lock());
    cr_io::report("cr-send", cr_send::run(&args, input, out, io::stderr()))
}
