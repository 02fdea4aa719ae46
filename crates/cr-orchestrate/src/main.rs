//! The `cr-orchestrate` command; the work is in the library.

use std::process::ExitCode;

use cr_orchestrate::Args;

fn main() -> ExitCode {
    let args = Args::of_process();
    cr_io::report(args.program(), cr_orchestrate::run(&args))
}
