//! The runs of this machine, by their run directories; and the first half of
//! `claude-runner`, which starts one.

mod args;
mod begin;
mod find;
mod location;
mod ls;
mod milestone;
mod program_help;
mod prompt;
mod resume;
mod spawn_options;
mod starter;
mod stop;
mod tail;
mod verdict;
mod wait;
mod watch;

use std::ffi::OsString;
use std::io::{self, Write};

use cr_io::{Exit, Out};

pub use args::{Args, Output, Runner};
use args::{Command, PruneArgs, StatusArgs, Which};
use cr_config::Config;

/// Does what `args` ask.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let out = io::stdout().lock();
    let Some(command) = &args.command else {
        return cr_io::print_schema(cr_status::SCHEMA, out);
    };
    match command {
        Command::Ls(args) => ls::ls(args, out),
        Command::Status(args) => status(args, out),
        Command::Wait(args) => wait::wait(args, out, io::stderr()),
        Command::Tail(args) => tail::tail(args, out),
        Command::Stop(args) => stop::stop(args, out),
        Command::Path(which) => path(which, out),
        Command::Prune(args) => prune(args, out),
        Command::Config => Config::load()?.print(out),
    }
}

/// Starts a run if the script `claude-runner` called this program. Returns the
/// name for error messages, and the result.
pub fn begin() -> Option<(&'static str, anyhow::Result<Exit>)> {
    let mut args = std::env::args_os().skip(1);
    let command = args.next()?;
    let rest: Vec<OsString> = args.collect();
    let result = if command == "begin" {
        begin::begin(&rest)
    } else if command == starter::COMMAND {
        starter::run(&rest)
    } else {
        return None;
    };
    Some(("claude-runner", result))
}

fn status(args: &StatusArgs, out: impl Write) -> anyhow::Result<Exit> {
    let status = cr_status::Status::of(&find::one(&args.which)?)?;
    let mut out = Out::new(out);
    if args.json {
        out.line(&serde_json::to_vec(&status)?)?;
    } else {
        out.line(status.line().as_bytes())?;
    }
    out.flush()?;
    Ok(Exit::Ok)
}

fn path(which: &Which, out: impl Write) -> anyhow::Result<Exit> {
    let run = find::one(which)?;
    let mut out = Out::new(out);
    out.line(run.dir.as_os_str().as_encoded_bytes())?;
    out.flush()?;
    Ok(Exit::Ok)
}

fn prune(args: &PruneArgs, out: impl Write) -> anyhow::Result<Exit> {
    let mut keep = Config::load()?.retention();
    keep.younger_than = args.older_than.unwrap_or(keep.younger_than);
    keep.bytes = args.keep_bytes.unwrap_or(keep.bytes);
    let state = Config::load()?.state_dir()?;
    cr_rundir::prune(state.path(), keep, args.dry_run, out)
}
