//! The commit that a merge would give. It is made of objects only: no branch, no
//! index and no work tree changes.

use std::path::PathBuf;

use anyhow::anyhow;
use cr_io::Exit;
use cr_repository::Git;

use crate::repository::{names_in, path_of};

/// The tree that a merge gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MergedTree {
    Clean(String),
    Conflict { files: Vec<PathBuf>, text: String },
}

/// Merges `theirs` into `ours`. Attributes are those of the directory of `git`.
pub(crate) fn merge_trees(git: &Git, ours: &str, theirs: &str) -> anyhow::Result<MergedTree> {
    let options = [
        "merge-tree",
        "--write-tree",
        "-z",
        "--name-only",
        "--messages",
    ];
    let answer = git.answer(&[&options[..], &[ours, theirs]].concat(), b"")?;
    match answer.code {
        Some(0) => {
            let tree = names_in(&answer.text).next().unwrap_or_default();
            Ok(MergedTree::Clean(
                String::from_utf8_lossy(tree).into_owned(),
            ))
        }
        // Also the code of some errors, which write nothing.
        Some(1) if !answer.text.is_empty() => Ok(conflict(&answer.text)),
        _ => Err(anyhow!("git merge-tree: {}", answer.complaint).context(Exit::Tool)),
    }
}

/// The tree, the files, nothing, and then messages: how many paths, the paths, a
/// kind, a text.
fn conflict(text: &[u8]) -> MergedTree {
    let mut fields = text.split(|&b| b == 0).skip(1);
    let names = fields.by_ref().take_while(|name| !name.is_empty());
    let files: Vec<PathBuf> = names.map(path_of).collect();
    let mut messages = String::new();
    while let Some(count) = fields.next() {
        let count = str::from_utf8(count).ok();
        let Some(count) = count.and_then(|text| text.parse::<usize>().ok()) else {
            break;
        };
        let text = fields.nth(count + 1).unwrap_or_default();
        let text = String::from_utf8_lossy(text);
        if text.starts_with("CONFLICT") {
            messages.push_str(text.trim_end());
            messages.push('\n');
        }
    }
    MergedTree::Conflict {
        files,
        text: messages,
    }
}

/// Commits `tree` as a merge of both parents, with the user's identity.
pub(crate) fn commit(
    git: &Git,
    tree: &str,
    parents: [&str; 2],
    message: &str,
) -> anyhow::Result<String> {
    let [ours, theirs] = parents;
    let args = ["commit-tree", tree, "-p", ours, "-p", theirs, "-F", "-"];
    let text = git.ask_with(&args, message.as_bytes())?;
    Ok(String::from_utf8_lossy(&text).trim().to_owned())
}

/// The files that differ between two commits or trees.
pub(crate) fn changed(git: &Git, old: &str, new: &str) -> anyhow::Result<Vec<Vec<u8>>> {
    let options = ["diff-tree", "-r", "-z", "--no-renames", "--name-only"];
    let text = git.ask(&[&options[..], &[old, new]].concat())?;
    Ok(names_in(&text).map(<[u8]>::to_vec).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_conflicts_are_read_and_other_messages_are_not() {
        let text = b"tree\0a\nb\0c\0\x001\0a\nb\0Auto-merging\0Auto-merging a\n\0\
            2\0c\0d\0CONFLICT (contents)\0CONFLICT (content): in c\n\0";
        let expected = MergedTree::Conflict {
            files: vec!["a\nb".into(), "c".into()],
            text: "CONFLICT (content): in c\n".to_owned(),
        };
        assert_eq!(conflict(text), expected);
    }
}
