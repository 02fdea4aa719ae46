//! Generated files: writes those that differ, or reports them with `--check`.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::Context;
use cr_io::Exit;

/// Generated files by name.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// Makes the files in `dir` what `files` says. With `check` it writes nothing
/// and the answer is no when one differs, is missing or is left over.
pub(crate) fn settle(
    dir: &Path,
    files: &Files,
    check: bool,
    notes: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let folder = dir.file_name().unwrap_or_default().display().to_string();
    let mut exit = write_stale(
        dir,
        files,
        &format!("{folder}/"),
        &folder,
        (check, &mut *notes),
    )?;
    for name in left_over(dir, files)? {
        if check {
            writeln!(
                notes,
                "{folder}/{name} belongs to no tool; run scripts/{folder}"
            )?;
            exit = Exit::No;
        } else {
            fs::remove_file(dir.join(&name)).with_context(|| format!("{folder}/{name}"))?;
        }
    }
    Ok(exit)
}

/// Makes the schemas below `root` what `files` says; the directories hold other
/// files, too.
pub(crate) fn settle_each(
    root: &Path,
    files: &Files,
    check: bool,
    notes: &mut dyn Write,
) -> anyhow::Result<Exit> {
    write_stale(root, files, "", "schemas", (check, notes))
}

/// Writes what differs, or reports it; `prefix` is for the report.
fn write_stale(
    dir: &Path,
    files: &Files,
    prefix: &str,
    script: &str,
    (check, notes): (bool, &mut dyn Write),
) -> anyhow::Result<Exit> {
    let mut exit = Exit::Ok;
    let stale = files
        .iter()
        .filter(|(name, text)| fs::read(dir.join(name)).ok().as_ref() != Some(text));
    for (name, text) in stale {
        let name = format!("{prefix}{name}");
        if check {
            writeln!(notes, "{name} is out of date; run scripts/{script}")?;
            exit = Exit::No;
        } else {
            let path = dir.join(name.strip_prefix(prefix).unwrap_or(&name));
            fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
            fs::write(path, text).with_context(|| name)?;
        }
    }
    Ok(exit)
}

/// Files in `dir` that were generated once and are not any more. Pages of
/// other sections than 1, and what belongs to a script, are written by hand.
fn left_over(dir: &Path, files: &Files) -> anyhow::Result<Vec<String>> {
    let Ok(entries) = fs::read_dir(dir) else {
        return Ok(Vec::new());
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry?.file_name().display().to_string();
        let stem = name.rsplit_once('.').map_or(&*name, |(stem, _)| stem);
        let script = dir.join("../scripts").join(stem.trim_start_matches('_'));
        let by_hand = [".5", ".7"].iter().any(|end| name.ends_with(end));
        if !by_hand && !script.exists() && !files.contains_key(&name) {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(names: &[&str]) -> Files {
        names
            .iter()
            .map(|name| ((*name).to_owned(), name.as_bytes().to_vec()))
            .collect()
    }

    #[test]
    fn check_writes_nothing_and_names_what_is_stale_or_left_over() {
        let dir = tempfile::tempdir().expect("a directory");
        let dir = dir.path().join("man");
        fs::create_dir(&dir).expect("made");
        fs::write(dir.join("old.1"), "old").expect("written");
        fs::write(dir.join("by-hand.7"), "kept").expect("written");
        fs::write(dir.join("script.1"), "kept").expect("written");
        fs::create_dir(dir.join("../scripts")).expect("made");
        fs::write(dir.join("../scripts/script"), "").expect("written");

        let mut notes = Vec::new();
        let exit = settle(&dir, &files(&["new.1"]), true, &mut notes).expect("checked");

        assert_eq!(exit, Exit::No);
        assert_eq!(
            String::from_utf8(notes).expect("text"),
            "man/new.1 is out of date; run scripts/man\n\
             man/old.1 belongs to no tool; run scripts/man\n"
        );
        assert!(!dir.join("new.1").exists());
        assert!(dir.join("old.1").exists());
    }

    #[test]
    fn after_writing_the_check_holds() {
        let dir = tempfile::tempdir().expect("a directory");
        let dir = dir.path().join("man");
        let wanted = files(&["a.1", "b.1"]);
        let mut notes = Vec::new();
        settle(&dir, &wanted, false, &mut notes).expect("written");
        let exit = settle(&dir, &wanted, true, &mut notes).expect("checked");
        assert_eq!((exit, notes.len()), (Exit::Ok, 0));
    }
}
