//! Where the tools under test are.
//!
//! Cargo builds the binaries of a package only for that package's own tests,
//! so a test across packages has to ask. `CR_BIN_DIR` names a directory of
//! finished binaries (a release, an installed package); without it they are
//! built once, and their paths come from cargo rather than from a guess at
//! the layout of `target`.

use std::collections::HashMap;
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

static BUILT: LazyLock<HashMap<String, PathBuf>> = LazyLock::new(|| {
    let output = Command::new(env!("CARGO"))
        .args(["build", "--workspace", "--bins", "--message-format=json"])
        .args((!cfg!(debug_assertions)).then_some("--release"))
        .current_dir(root())
        .stderr(Stdio::inherit())
        .output()
        .expect("run cargo");
    assert!(output.status.success(), "cargo build failed");
    serde_json::Deserializer::from_slice(&output.stdout)
        .into_iter::<serde_json::Value>()
        .filter_map(|message| {
            let message = message.expect("cargo writes JSON");
            let path = message["executable"].as_str()?.into();
            Some((message["target"]["name"].as_str()?.to_owned(), path))
        })
        .collect()
});

/// The path of the tool called `name`.
pub(crate) fn bin(name: &str) -> PathBuf {
    match env::var_os("CR_BIN_DIR") {
        Some(dir) => PathBuf::from(dir).join(name),
        None => BUILT
            .get(name)
            .unwrap_or_else(|| panic!("no tool called {name}"))
            .clone(),
    }
}

/// The directory all tools are in.
pub(crate) fn dir() -> PathBuf {
    let mut path = bin("cr-dev");
    path.pop();
    path
}

/// The top of the work tree.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
