//! The versions of the real CLI that are here to be tested.
//!
//! `CR_REAL_CLAUDE` has their paths, space between them. Where it is not set the
//! tests are left out, which is said once, on the real standard error, since a
//! test that did nothing counts as passed. `CR_REAL=required` makes that fail.

use std::env;
use std::fmt;
use std::path::PathBuf;

/// A version of the CLI.
pub(crate) struct Cli {
    pub(crate) path: PathBuf,
}

impl fmt::Display for Cli {
    /// The name of its directory, which holds the version.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dir = self.path.parent().unwrap_or(&self.path);
        write!(f, "{}", dir.display())
    }
}

/// Calls `test` with each version.
pub(crate) fn each(test: impl Fn(&Cli)) {
    let paths = env::var("CR_REAL_CLAUDE").unwrap_or_default();
    if paths.trim().is_empty() {
        return left_out();
    }
    for path in paths.split_whitespace() {
        let cli = Cli { path: path.into() };
        // Shown only when the test fails, and then it says with which version.
        println!("with {cli}");
        test(&cli);
    }
}

fn left_out() {
    let why = "CR_REAL_CLAUDE is not set, see scripts/setup-claude";
    let required = env::var("CR_REAL").is_ok_and(|it| it == "required");
    assert!(!required, "{why}");
    cr_test::left_out(&format!("tests with the real CLI: {why}"));
}
