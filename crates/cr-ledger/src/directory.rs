//! The directory of an agent, as the user names it and as the ledger has it.

use std::path::Path;

use anyhow::anyhow;
use cr_io::Exit;

/// A condition on `p.value`: the directory in parameter 1 or below it.
pub(crate) const BELOW: &str = "(p.value = ?1 OR substr(p.value, 1, length(?1) + 1) = ?1 || '/')";

/// The directory as text, absolute. The ledger has real paths: a link is followed
/// if it can be.
pub(crate) fn text(dir: &Path) -> anyhow::Result<String> {
    let path = match dir.canonicalize() {
        Ok(path) => path,
        Err(_) => std::path::absolute(dir)?,
    };
    let text = path.to_str();
    let text = text.map(|text| text.trim_end_matches('/').to_owned());
    text.ok_or_else(|| anyhow!("the name of the directory is not UTF-8").context(Exit::Usage))
}

/// Whether `dir` is `above` or below it.
pub(crate) fn is_below(dir: &str, above: &str) -> bool {
    dir.strip_prefix(above)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_names_of_directories_are_compared() {
        let cases = [
            ("/a/b", "/a", true),
            ("/a", "/a", true),
            ("/ab", "/a", false),
            ("/a", "/a/b", false),
            ("/a", "", true),
        ];
        for (dir, above, is) in cases {
            assert_eq!(is_below(dir, above), is, "{dir} {above}");
        }
    }
}
