//! The recordings.

use std::fs;
use std::path::PathBuf;

use cr_test::fixture;

/// The recorded run called `name`.
pub(crate) fn capture(name: &str) -> PathBuf {
    fixture(&format!("captures/{name}.ndjson"))
}

/// Every recording, in order: captures, session logs, transcripts.
pub(crate) fn all() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![fixture("")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let extension = path.extension().and_then(|extension| extension.to_str());
            if path.is_dir() {
                folders.push(path);
            } else if matches!(extension, Some("ndjson" | "jsonl")) {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(found.len() > 200, "the recordings are not all there");
    found
}
