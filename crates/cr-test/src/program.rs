//! Programs that a test makes and then runs.
//!
//! A file that some process has open for writing cannot be executed ("Text file
//! busy"). If this process wrote it, every process that another test starts
//! meanwhile, by the harness or by the code under test, would have the descriptor
//! for a moment, also after the file was closed here. So another process writes it.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Makes `path` a program with this text.
pub(crate) fn write(path: &Path, text: &str) {
    install(Path::new("/dev/stdin"), path, text.as_bytes());
}

/// Makes `path` a copy of `program`.
pub(crate) fn copy(program: &Path, path: &Path) {
    install(program, path, b"");
}

fn install(from: &Path, to: &Path, input: &[u8]) {
    let mut install = Command::new("install");
    install.args(["-m", "755", "--"]).arg(from).arg(to);
    let mut install = install.stdin(Stdio::piped()).spawn().expect("install");
    let mut stdin = install.stdin.take().expect("a pipe");
    // A copy of another file does not read it.
    let _ = stdin.write_all(input);
    drop(stdin);
    let status = install.wait().expect("an end");
    assert!(status.success(), "{}: {status}", to.display());
}
