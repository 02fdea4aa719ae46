//! Rules about the crates: which may depend on which.

use std::fs;
use std::path::Path;

use anyhow::Context;

use crate::tools;

/// Crates that may depend on tools: they are for development only.
const DEVELOPMENT: [&str; 3] = ["cr-dev", "cr-mock", "cr-test"];

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
}
