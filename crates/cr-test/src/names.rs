//! The names of the running tests, for `cr-dev bounded`, which may have to end
//! them.

use std::cell::OnceCell;
use std::env;
use std::fs;
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

static NUMBER: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static NAME: OnceCell<Option<Note>> = const { OnceCell::new() };
}

/// A file with the name of the test of this thread; it goes with the thread.
struct Note(PathBuf);

impl Drop for Note {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Leaves the name of this thread's test in `CR_TEST_RUNNING`.
pub(crate) fn note() {
    NAME.with(|name| {
        name.get_or_init(write);
    });
}

fn write() -> Option<Note> {
    let dir = PathBuf::from(env::var_os("CR_TEST_RUNNING")?);
    let program = env::current_exe().ok()?;
    let program = program.file_stem()?.to_string_lossy().into_owned();
    // Cargo adds a hash to the name.
    let program = program.rsplit_once('-').map_or(&*program, |(name, _)| name);
    let thread = thread::current();
    let test = thread.name().unwrap_or("a thread");
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let note = Note(dir.join(format!("{}-{number}", process::id())));
    fs::write(&note.0, format!("{program} {test}\n")).ok()?;
    Some(note)
}
