//! Where the built tools are.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// `cr-orchestrate`, with the tools that it runs beside it: they belong to other
/// packages, and cargo builds them for nobody else.
pub(crate) fn orchestrate() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        if let Some(dir) = std::env::var_os("CR_BIN_DIR") {
            return Path::new(&dir).join("cr-orchestrate");
        }
        let path = PathBuf::from(env!("CARGO_BIN_EXE_cr-orchestrate"));
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--bins"]);
        for tool in ["cr-spawn", "cr-git", "cr-summarize", "cr-runs"] {
            cargo.args(["-p", tool]);
        }
        if path.parent().is_some_and(|dir| dir.ends_with("release")) {
            cargo.arg("--release");
        }
        let built = cargo.status().expect("run cargo");
        assert!(built.success(), "build the tools");
        path
    })
}
