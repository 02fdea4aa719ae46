//! Copies and removes files without following a symbolic link.

use std::fs::{self, File, FileTimes, Permissions};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::Context;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;

/// A directory that paths are relative to.
#[derive(Debug)]
pub(crate) struct Root(OwnedFd);

impl Root {
    pub(crate) fn open(dir: &Path) -> anyhow::Result<Self> {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
        let fd = rustix::fs::openat(CWD, dir, flags, Mode::empty());
        Ok(Self(fd.with_context(|| dir.display().to_string())?))
    }

    /// The directory that `path` is in, and its last name. With `make`, missing
    /// directories are made.
    fn parent<'a>(&self, path: &'a [u8], make: bool) -> io::Result<(OwnedFd, &'a [u8])> {
        let (parent, name) = match path.iter().rposition(|&b| b == b'/') {
            Some(slash) => (&path[..slash], &path[slash + 1..]),
            None => (&b""[..], path),
        };
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
        let mut at = self.0.try_clone()?;
        for part in parent.split(|&b| b == b'/').filter(|part| !part.is_empty()) {
            if part == b".." {
                return Err(Errno::INVAL.into());
            }
            if make {
                match rustix::fs::mkdirat(&at, part, Mode::from_bits_truncate(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(err) => return Err(err.into()),
                }
            }
            at = rustix::fs::openat(&at, part, flags, Mode::empty())?;
        }
        Ok((at, name))
    }
}

/// Copies the file or the link at `path` of `from` to the same path of `to`.
/// Returns false if something is there already. Time and mode are kept, so that
/// build tools still know the file.
pub(crate) fn copy(from: &Root, to: &Root, path: &[u8]) -> io::Result<bool> {
    let (source_dir, name) = from.parent(path, false)?;
    let meta = rustix::fs::statat(&source_dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let kind = FileType::from_raw_mode(meta.st_mode);
    let (target_dir, _) = to.parent(path, true)?;
    match kind {
        FileType::Symlink => {
            let link = rustix::fs::readlinkat(&source_dir, name, Vec::new())?;
            new_or_there(rustix::fs::symlinkat(&*link, &target_dir, name)).map(|new| new.is_some())
        }
        FileType::RegularFile => copy_file(&source_dir, &target_dir, name),
        _ => Err(io::Error::new(
            ErrorKind::Unsupported,
            "neither a file nor a link",
        )),
    }
}

fn copy_file(source: &OwnedFd, target: &OwnedFd, name: &[u8]) -> io::Result<bool> {
    let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let source = rustix::fs::openat(source, name, flags | OFlags::RDONLY, Mode::empty())?;
    let flags = flags | OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
    let target = rustix::fs::openat(target, name, flags, Mode::from_bits_truncate(0o600));
    let Some(target) = new_or_there(target)? else {
        return Ok(false);
    };
    let (mut source, mut target) = (File::from(source), File::from(target));
    // Where the file system can, both files share their blocks.
    if rustix::fs::ioctl_ficlone(target.as_fd(), source.as_fd()).is_err() {
        io::copy(&mut source, &mut target)?;
    }
    let meta = source.metadata()?;
    target.set_permissions(Permissions::from_mode(meta.permissions().mode() & 0o777))?;
    target.set_times(FileTimes::new().set_modified(meta.modified()?))?;
    Ok(true)
}

/// What was made; `None` if something has that name already.
fn new_or_there<T>(result: rustix::io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(made) => Ok(Some(made)),
        Err(Errno::EXIST) => Ok(None),
        Err(err) => Err(err.into()),
    }
}

/// Removes the directory `dir` with all that is in it, also where a directory may
/// not be written to. It need not be there.
pub(crate) fn remove_tree(dir: &Path) -> anyhow::Result<()> {
    let removed = match fs::remove_dir_all(dir) {
        Err(err) if err.kind() == ErrorKind::PermissionDenied => {
            make_writable(dir);
            fs::remove_dir_all(dir)
        }
        removed => removed,
    };
    crate::admin::absent_is_fine(removed).with_context(|| dir.display().to_string())
}

/// Lets the owner change `dir` and all directories below it, as far as possible.
fn make_writable(dir: &Path) {
    let _ = fs::set_permissions(dir, Permissions::from_mode(0o700));
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    for entry in entries {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            make_writable(&entry.path());
        }
    }
}

/// `path` as bytes.
pub(crate) fn bytes_of(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}
