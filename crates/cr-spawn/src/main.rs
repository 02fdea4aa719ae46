//! The `cr-spawn` command; the work is in the library.

use std::process::ExitCode;

use clap::Parser;
use cr_agent::AgentOptions;

fn main() -> ExitCode {
    if let Some(code) = cr_spawn::guard() {
        return code;
    }
    cr_io::report("cr-spawn", cr_spawn::run(&AgentOptions::parse()))
}
