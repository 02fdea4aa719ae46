//! What is mounted where, inside.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The mounts of a sandbox. A mount covers what is below it, so the order of the
/// command line is that of the depth, whatever the order of the calls.
#[derive(Debug, Default)]
pub(crate) struct Mounts(Vec<(PathBuf, Vec<OsString>)>);

impl Mounts {
    /// Shows `path` read-only at its own place; nothing if it does not exist.
    pub(crate) fn read(&mut self, path: &Path) {
        self.read_from(path, path);
    }

    /// Shows `from` read-only at `to`; nothing if it does not exist.
    pub(crate) fn read_from(&mut self, from: &Path, to: &Path) {
        self.bind("--ro-bind-try", from, to);
    }

    /// Makes `path` writable at its own place.
    pub(crate) fn write(&mut self, path: &Path) {
        self.write_from(path, path);
    }

    /// Makes `from` writable at `to`.
    pub(crate) fn write_from(&mut self, from: &Path, to: &Path) {
        self.bind("--bind", from, to);
    }

    /// Hides the file at `path`.
    pub(crate) fn hide_file(&mut self, path: &Path) {
        self.bind("--ro-bind", Path::new("/dev/null"), path);
    }

    /// Mounts a file system of the kind `option` (`--tmpfs`, `--proc`) at `to`.
    pub(crate) fn special(&mut self, option: &str, to: &Path) {
        let words = vec![option.into(), to.into()];
        self.0.push((to.to_owned(), words));
    }

    fn bind(&mut self, option: &str, from: &Path, to: &Path) {
        let words = vec![option.into(), from.into(), to.into()];
        self.0.push((to.to_owned(), words));
    }

    /// The arguments, parents first; of two mounts at one place the later call
    /// wins.
    pub(crate) fn into_argv(mut self) -> Vec<OsString> {
        self.0.sort_by_key(|(to, _)| to.components().count());
        self.0.into_iter().flat_map(|(_, words)| words).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_deeper_is_mounted_later() {
        let mut mounts = Mounts::default();
        mounts.write(Path::new("/a/b/c"));
        mounts.read(Path::new("/a"));
        mounts.special("--tmpfs", Path::new("/a/b"));
        let argv = mounts.into_argv();
        let words = "--ro-bind-try /a /a --tmpfs /a/b --bind /a/b/c /a/b/c";
        assert_eq!(argv, words.split(' ').collect::<Vec<_>>());
    }
}
