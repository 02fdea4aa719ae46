//! Recordings of other projects: each must have its licence with it.

use std::fs;
use std::path::Path;

use anyhow::Context;

/// Where they are.
const FOLDER: &str = "tests/fixtures/transcripts";

/// Licences whose text is in the notice or beside it.
const KNOWN: [&str; 3] = ["MIT", "Apache-2.0", "WTFPL-2"];

/// Findings about recordings without a row, rows without a recording, and rows
/// whose licence or project the notice does not have.
pub(crate) fn missing(root: &Path) -> anyhow::Result<Vec<String>> {
    let read = |name: &str| {
        let path = format!("{FOLDER}/{name}");
        fs::read_to_string(root.join(&path)).context(path)
    };
    let files = recordings(&root.join(FOLDER)).context(FOLDER)?;
    Ok(compare(&files, &read("index.tsv")?, &read("NOTICE")?))
}

fn recordings(folder: &Path) -> std::io::Result<Vec<String>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if !entry.file_type()?.is_dir() {
            continue;
        }
        let kind = entry.file_name().display().to_string();
        for file in fs::read_dir(entry.path())? {
            files.push(format!("{kind}/{}", file?.file_name().display()));
        }
    }
    files.sort();
    Ok(files)
}

fn compare(files: &[String], index: &str, notice: &str) -> Vec<String> {
    let rows: Vec<Vec<&str>> = index
        .lines()
        .skip(1)
        .map(|row| row.split('\t').collect())
        .collect();
    let listed = |file: &str| rows.iter().any(|row| row[0] == file);
    let lacking = files.iter().filter(|file| !listed(file));
    let mut found: Vec<String> = lacking
        .map(|file| format!("{FOLDER}/{file}: no row in index.tsv"))
        .collect();
    for (number, row) in rows.iter().enumerate() {
        let place = format!("{FOLDER}/index.tsv:{}", number + 2);
        let [file, project, _, licence, ..] = row[..] else {
            found.push(format!("{place}: a row of {} fields", row.len()));
            continue;
        };
        if !files.iter().any(|known| known == file) {
            found.push(format!("{place}: {file} is not there"));
        }
        // The location follows in brackets.
        let licence = licence.split(" (").next().unwrap_or_default();
        if !KNOWN.contains(&licence) {
            found.push(format!("{place}: no text for the licence `{licence}`"));
        }
        if !notice.lines().any(|line| line == project) {
            found.push(format!("{FOLDER}/NOTICE: says nothing of {project}"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_licence_with_it_is_found() {
        let files = ["a/x".to_owned(), "a/y".to_owned()];
        let index = "file\trepo\tpath\tlicence\na/x\to/p\tp\tMIT (sub/LICENSE)\na/z\to/q\tp\tGPL\n";
        assert_eq!(
            compare(&files, index, "o/p\n  MIT\n"),
            [
                "tests/fixtures/transcripts/a/y: no row in index.tsv",
                "tests/fixtures/transcripts/index.tsv:3: a/z is not there",
                "tests/fixtures/transcripts/index.tsv:3: no text for the licence `GPL`",
                "tests/fixtures/transcripts/NOTICE: says nothing of o/q",
            ]
        );
    }
}
