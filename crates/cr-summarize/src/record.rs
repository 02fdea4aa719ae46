//! The summary as a file of the run's directory.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, anyhow};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fstat, openat, renameat, statat, unlinkat};

const NAME: &str = "summary.json";

/// Leaves `line` as `summary.json` in `dir`: whole or not at all, and for its
/// owner alone. A directory that others may write to is refused, and so is a
/// link in place of either.
pub(crate) fn record(dir: &Path, line: &str) -> anyhow::Result<()> {
    let place = || dir.display().to_string();
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = openat(CWD, dir, flags, Mode::empty()).with_context(place)?;
    let stat = fstat(&fd).with_context(place)?;
    let others = Mode::WGRP | Mode::WOTH;
    let mode = Mode::from_raw_mode(stat.st_mode);
    if stat.st_uid != rustix::process::geteuid().as_raw() || mode.intersects(others) {
        return Err(anyhow!("somebody else may write to it").context(place()));
    }
    let place = || dir.join(NAME).display().to_string();
    match statat(&fd, NAME, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile => {
            return Err(anyhow!("not a regular file").context(place()));
        }
        Ok(_) | Err(rustix::io::Errno::NOENT) => {}
        Err(err) => return Err(io::Error::from(err)).with_context(place),
    }
    let draft = format!(".{NAME}.{}", std::process::id());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let written = openat(&fd, &draft, flags, Mode::RUSR | Mode::WUSR)
        .map_err(io::Error::from)
        .and_then(|file| write(File::from(file), line))
        .and_then(|()| Ok(renameat(&fd, &draft, &fd, NAME)?));
    if written.is_err() {
        let _ = unlinkat(&fd, &draft, AtFlags::empty());
    }
    written.with_context(place)
}

fn write(mut file: File, line: &str) -> io::Result<()> {
    file.write_all(format!("{line}\n").as_bytes())?;
    file.sync_all()
}
