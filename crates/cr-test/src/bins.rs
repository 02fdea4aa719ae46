//! Where the tools under test and the test data are.
//!
//! `CR_BIN_DIR` names a directory of finished tools (a release, an installed
//! package). Without it the tools are those of the target directory that the
//! test itself is in. Cargo does not build the tools of other packages
//! for a test, so they are built first, once for each test program.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

static BUILT: LazyLock<PathBuf> = LazyLock::new(|| {
    let test = env::current_exe().expect("the path of the test");
    // target/PROFILE/deps/TEST
    let dir = test.ancestors().nth(2).expect("a target directory");
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--workspace", "--bins", "--quiet"])
        .args(dir.ends_with("release").then_some("--release"))
        .current_dir(root())
        .stdin(Stdio::null())
        .status()
        .expect("run cargo");
    assert!(status.success(), "cargo build failed");
    dir.to_owned()
});

/// The path of the tool called `name`.
pub fn bin(name: &str) -> PathBuf {
    // Cargo names the tools of the package whose tests it runs.
    if env::var_os("CR_BIN_DIR").is_none()
        && let Some(path) = env::var_os(format!("CARGO_BIN_EXE_{name}"))
    {
        return path.into();
    }
    let path = bin_dir().join(name);
    assert!(path.exists(), "no tool called {}", path.display());
    path
}

/// The directory of all tools.
pub fn bin_dir() -> PathBuf {
    match env::var_os("CR_BIN_DIR") {
        Some(dir) => dir.into(),
        None => BUILT.clone(),
    }
}

/// The top of the work tree.
pub fn root() -> &'static Path {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    crates.and_then(Path::parent).expect("below the top")
}

/// A file of `tests/fixtures`.
pub fn fixture(name: &str) -> PathBuf {
    root().join("tests/fixtures").join(name)
}

/// The script `claude-runner`.
pub fn runner_script() -> PathBuf {
    root().join("scripts/claude-runner")
}
