//! What cannot be tested on this machine.

use std::collections::BTreeSet;
use std::env;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::sync::{LazyLock, Mutex, PoisonError};

use crate::Command;

static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Says once that `what` is not tested here, with its reason: to the suite if
/// it asks in `CR_TEST_LEFT_OUT`, and to the real standard error otherwise. A
/// test that did nothing counts as passed, so it must not be silent.
pub fn left_out(what: &str) {
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if !said.insert(what.to_owned()) {
        return;
    }
    let mut options = OpenOptions::new();
    let file = env::var_os("CR_TEST_LEFT_OUT").map(|path| options.append(true).open(path));
    // Not by `eprintln!`, which libtest captures.
    let _ = match file {
        Some(Ok(mut file)) => file.write_all(format!("{what}\n").as_bytes()),
        _ => io::stderr().write_all(format!("left out: {what}\n").as_bytes()),
    };
}

/// Whether this machine grants namespaces to its users. Asked of another
/// program: a tool of ours that refuses everything is not to pass for such a
/// machine.
static GRANTED: LazyLock<bool> = LazyLock::new(|| {
    let options = "--user --map-root-user --net --pid --fork --mount-proc true";
    let mut unshare = Command::new("unshare");
    let tried = unshare.args(options.split(' ')).output();
    tried.is_ok_and(|output| output.status.success())
});

/// Whether there are namespaces here; if not, `what` is left out.
pub fn has_namespaces(what: &str) -> bool {
    if !*GRANTED {
        left_out(&format!("{what}: no namespaces here"));
    }
    *GRANTED
}
