//! Rules about the crates: which may depend on which, and where `unsafe` may be.

use std::fs;
use std::path::Path;

use anyhow::Context;

use crate::tools;

/// Crates that may depend on tools: they are for development only.
const DEVELOPMENT: [&str; 3] = ["cr-dev", "cr-mock", "cr-test"];

/// Files outside `cr-sys` that may use `unsafe`, each with its reason.
const UNSAFE: [(&str, &str); 1] = [(
    "crates/cr-io/src/scan.rs",
    "vector instructions; not a system call",
)];

/// What marks its use; written so that this file is no finding.
const BLOCK: &str = concat!("un", "safe {");
const FUNCTION: &str = concat!("un", "safe fn");

/// Findings about tools that depend on other tools. What two tools share
/// belongs in a library.
pub(crate) fn tool_dependencies(root: &Path) -> anyhow::Result<Vec<String>> {
    let tools: Vec<String> = tools::all().iter().map(|t| t.get_name().into()).collect();
    let mut found = Vec::new();
    for entry in fs::read_dir(root.join("crates"))? {
        let name = entry?.file_name().display().to_string();
        if DEVELOPMENT.contains(&name.as_str()) {
            continue;
        }
        let place = format!("crates/{name}/Cargo.toml");
        let manifest = fs::read_to_string(root.join(&place)).with_context(|| place.clone())?;
        for dependency in dependencies(&manifest) {
            if tools.iter().any(|tool| tool == dependency) {
                found.push(format!("{place}: depends on the tool {dependency}"));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The names below `[dependencies]` of a manifest.
fn dependencies(manifest: &str) -> impl Iterator<Item = &str> {
    let lines = manifest.lines().map(str::trim);
    let section = lines.skip_while(|line| *line != "[dependencies]").skip(1);
    let entries = section.take_while(|line| !line.starts_with('['));
    entries.filter_map(|line| line.split(['.', ' ', '=']).next())
}

/// Findings about `unsafe` in a source outside `cr-sys`.
pub(crate) fn unsafe_code(path: &str, text: &str) -> Vec<String> {
    let is_allowed = UNSAFE.iter().any(|(allowed, _)| *allowed == path);
    if is_allowed || path.starts_with("crates/cr-sys/") {
        return Vec::new();
    }
    let lines = text.lines().enumerate();
    let used = lines.filter(|(_, line)| line.contains(BLOCK) || line.contains(FUNCTION));
    used.map(|(number, _)| format!("{path}:{}: `unsafe` outside cr-sys", number + 1))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_dependencies_of_the_shipped_crate_count() {
        let manifest = "[dependencies]\ncr-io.workspace = true\nclap = \"4\"\n\n\
                        [dev-dependencies]\ncr-spawn.workspace = true\n";
        let names: Vec<&str> = dependencies(manifest).filter(|n| !n.is_empty()).collect();
        assert_eq!(names, ["cr-io", "clap"]);
    }

    #[test]
    fn unsafe_code_is_found_outside_of_its_crate() {
        let text = concat!("fn f() {\n    un", "safe { g() }\n}\n");
        let place = "crates/cr-io/src/lines.rs";
        assert_eq!(
            unsafe_code(place, text),
            ["crates/cr-io/src/lines.rs:2: `unsafe` outside cr-sys"]
        );
        assert!(unsafe_code("crates/cr-sys/src/lib.rs", text).is_empty());
        assert!(unsafe_code("crates/cr-io/src/scan.rs", text).is_empty());
    }
}
