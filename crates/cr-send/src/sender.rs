//! The name of the sender.

use std::env;
use std::path::Path;

use cr_io::{first_chars, sanitized};

/// The longest name.
const LONGEST: usize = 64;

/// `given`, else the run that this is called from, else the user.
pub(crate) fn name(given: Option<&str>, runs: &Path) -> String {
    let name = match given {
        Some(name) => name.to_owned(),
        None => own_run(runs).unwrap_or_else(user),
    };
    first_chars(&sanitized(&name), LONGEST).0.to_owned()
}

/// The name of the run in whose agent this is called, else its id.
fn own_run(runs: &Path) -> Option<String> {
    let id = variable("CR_RUN")?;
    let name = cr_rundir::find_run(runs, &id).ok();
    let name = name.map(|run| run.started().name.unwrap_or_else(|| run.id()));
    Some(name.unwrap_or(id))
}

fn user() -> String {
    let name = variable("LOGNAME").or_else(|| variable("USER"));
    name.unwrap_or_else(|| format!("uid {}", rustix::process::geteuid().as_raw()))
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}
