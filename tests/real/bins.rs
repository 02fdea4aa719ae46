//! Where the programs under test are.
//!
//! Cargo builds a package's programs only for that package's own tests, so a
//! test across packages has to ask. `CR_BIN_DIR` names a directory of finished
//! programs; without it they are built once, and cargo says where they are.

use std::collections::HashMap;
use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

const TOOLS: [&str; 1] = ["cr-mock"];

static BUILT: LazyLock<HashMap<String, PathBuf>> = LazyLock::new(|| {
    let output = Command::new(env!("CARGO"))
        .args(["build", "--bins", "--message-format=json"])
        .args(TOOLS.iter().flat_map(|name| ["--package", name]))
        .args((!cfg!(debug_assertions)).then_some("--release"))
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

/// The path of the program called `name`.
pub(crate) fn bin(name: &str) -> PathBuf {
    match env::var_os("CR_BIN_DIR") {
        Some(dir) => PathBuf::from(dir).join(name),
        None => BUILT
            .get(name)
            .unwrap_or_else(|| panic!("no program called {name}"))
            .clone(),
    }
}
