//! What the sandbox shows of the system.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::mounts::Mounts;

/// Programs, libraries and configuration.
const READ_ONLY: [&str; 9] = [
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt",
];

/// Directories that are empty at the start and private.
const PRIVATE: [&str; 3] = ["/tmp", "/run", "/var/tmp"];

pub(crate) fn mount(mounts: &mut Mounts, is_root: bool) {
    for path in READ_ONLY {
        mounts.read(Path::new(path));
    }
    mounts.special("--proc", Path::new("/proc"));
    mounts.special("--dev", Path::new("/dev"));
    for path in PRIVATE {
        mounts.special("--tmpfs", Path::new(path));
    }
    // It is often a link into /run.
    if let Ok(path) = fs::canonicalize("/etc/resolv.conf")
        && !path.starts_with("/etc")
    {
        mounts.read(&path);
    }
    if is_root {
        hide_secrets(mounts, Path::new("/etc"));
    }
}

/// Hides what is in `dir` and other users cannot read: root can, also without
/// capabilities, because it owns the files.
fn hide_secrets(mounts: &mut Mounts, dir: &Path) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(meta) = entry.metadata() else {
            continue;
        };
        let mode = meta.permissions().mode();
        if meta.is_dir() && mode & 0o005 != 0o005 {
            mounts.special("--tmpfs", &path);
        } else if meta.is_dir() {
            hide_secrets(mounts, &path);
        } else if meta.is_file() && mode & 0o004 == 0 {
            mounts.hide_file(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_does_not_see_what_other_users_cannot_read() {
        let mut mounts = Mounts::default();
        mount(&mut mounts, true);
        let argv = mounts.into_argv();
        if Path::new("/etc/shadow").exists() {
            assert!(argv.iter().any(|word| word == "/etc/shadow"), "{argv:?}");
        }
        assert!(!argv.iter().any(|word| word == "/etc/passwd"), "{argv:?}");
    }
}
