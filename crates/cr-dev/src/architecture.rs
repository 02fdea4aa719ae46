//! Rules about the crates: which may depend on which, and what has one home.

use std::fs;
use std::path::Path;

use anyhow::Context;

use crate::tools;

/// Crates that may depend on tools: they are for development only.
const DEVELOPMENT: [&str; 3] = ["cr-dev", "cr-mock", "cr-test"];

/// Texts that only one crate may have in its source: the text, the crate, and the
/// replacement for other crates. They are split here, so that this file is no
/// finding.
const HOMES: [(&str, &str, &str); 4] = [
    (
        concat!("\"c", "r\""),
        "cr-event",
        "`cr_event::Kind::Cr`, and the types of cr-stream",
    ),
    (concat!("Sig", "Ign:"), "cr-signal", "`cr_signal::Ignored`"),
    (
        concat!("summary.js", "on\""),
        "cr-rundir",
        "`file::SUMMARY`",
    ),
    (
        concat!("stream.nd", "json\""),
        "cr-rundir",
        "`file::STREAM`",
    ),
];

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

/// Findings about texts of [`HOMES`] in a source of another crate. Tests may
/// write them.
pub(crate) fn second_homes(path: &str, text: &str) -> Vec<String> {
    let Some((krate, file)) = path
        .strip_prefix("crates/")
        .and_then(|path| path.split_once("/src/"))
    else {
        return Vec::new();
    };
    if file.ends_with("tests.rs") {
        return Vec::new();
    }
    let mut found = Vec::new();
    let lines = text.lines().take_while(|line| *line != "#[cfg(test)]");
    for (number, line) in (1..).zip(lines) {
        let foreign = HOMES
            .iter()
            .filter(|(text, home, _)| krate != *home && line.contains(text));
        found.extend(foreign.map(|(text, home, instead)| {
            format!("{path}:{number}: `{text}` belongs to {home}: use {instead}")
        }));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_of_our_own_lines_is_written_in_one_crate() {
        let line = r#"const EXIT: &[u8] = br#"{"type":"cr","subtype":"exit""#;
        let finds = |path: &str, text: &str| second_homes(path, text).len();
        assert_eq!(finds("crates/cr-filter/src/lib.rs", line), 1);
        assert_eq!(finds("crates/cr-filter/src/a/b.rs", r#"r#type: "cr","#), 1);
        assert_eq!(finds("crates/cr-filter/src/lib.rs", r#"b"cr" => 1,"#), 1);
        assert_eq!(finds("crates/cr-event/src/line.rs", line), 0);
        assert_eq!(finds("crates/cr-filter/tests/filter/main.rs", line), 0);
        assert_eq!(finds("crates/cr-filter/src/lib_tests.rs", line), 0);
        let test = format!("fn f() {{}}\n#[cfg(test)]\nmod tests {{\n{line}");
        assert_eq!(finds("crates/cr-filter/src/lib.rs", &test), 0);
        assert_eq!(finds("crates/cr-filter/src/lib.rs", "\"crate\" cr"), 0);
    }

    #[test]
    fn names_of_files_in_a_run_directory_are_written_in_one_crate() {
        let line = concat!("dir.join(\"summary.", "json\")");
        assert_eq!(second_homes("crates/cr-git/src/lib.rs", line).len(), 1);
        assert_eq!(second_homes("crates/cr-rundir/src/file.rs", line).len(), 0);
    }

    #[test]
    fn only_the_dependencies_of_the_shipped_crate_count() {
        let manifest = "[dependencies]\ncr-io.workspace = true\nclap = \"4\"\n\n\
                        [dev-dependencies]\ncr-spawn.workspace = true\n";
        let names: Vec<&str> = dependencies(manifest).filter(|n| !n.is_empty()).collect();
        assert_eq!(names, ["cr-io", "clap"]);
    }
}
