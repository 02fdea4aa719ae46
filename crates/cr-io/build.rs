//! Links the unwinder statically into a release. Only the backtrace of a panic
//! needs it, and loading it as a library takes a tenth of a filter's start.

use std::env::var;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| var(name).is_ok_and(|is| is == value);
    if is("PROFILE", "release")
        && is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
    {
        println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
    }
}
