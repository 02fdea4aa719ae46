//! Where the built tools are.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// `cr-spawn`.
pub(crate) fn spawn() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| match std::env::var_os("CR_BIN_DIR") {
        Some(dir) => Path::new(&dir).join("cr-spawn"),
        None => env!("CARGO_BIN_EXE_cr-spawn").into(),
    })
}

/// `cr-replay`, which belongs to another package: cargo tells nobody else
/// where it is, and builds it for nobody else.
pub(crate) fn replay() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        if let Some(dir) = std::env::var_os("CR_BIN_DIR") {
            return Path::new(&dir).join("cr-replay");
        }
        let dir = spawn().parent().expect("a directory");
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "-p", "cr-replay", "--bin", "cr-replay"]);
        if dir.ends_with("release") {
            cargo.arg("--release");
        }
        let built = cargo.status().expect("run cargo");
        assert!(built.success(), "build cr-replay");
        dir.join("cr-replay")
    })
}
