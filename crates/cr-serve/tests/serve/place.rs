//! Run directories as the runner leaves them.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use cr_test::{World, fixture};
use rustix::fs::{FlockOperation, flock};

pub(crate) const RUN: &str = "20261118T031500Z-1f0c22ab";

/// A run that has ended: a recording of the CLI with everything around it.
pub(crate) fn ended_run(world: &World) -> &'static str {
    let run = Growing::start(world, RUN);
    let recording = fs::read(fixture("captures/02-tools.ndjson")).expect("read");
    run.append(&recording);
    run.end();
    RUN
}

/// A run that goes on: it holds the lock.
pub(crate) struct Growing {
    pub(crate) dir: PathBuf,
    lock: File,
}

impl Growing {
    pub(crate) fn start(world: &World, id: &str) -> Self {
        let dir = world.state().join("runs").join(id);
        fs::create_dir_all(&dir).expect("made");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        fs::set_permissions(&dir, mode).expect("private");
        let lock = File::create(dir.join("lock")).expect("made");
        flock(&lock, FlockOperation::NonBlockingLockExclusive).expect("locked");
        let started = format!(
            "{{\"type\":\"cr\",\"subtype\":\"start\",\"at\":\"2026-11-18T03:15:00.000Z\",\
             \"run_id\":\"{id}\",\"schema\":1,\"name\":\"docs\",\"cwd\":\"/home/dev/repo\"}}\n"
        );
        fs::write(dir.join("started"), &started).expect("written");
        let run = Self { dir, lock };
        run.append(started.as_bytes());
        run
    }

    pub(crate) fn append(&self, bytes: &[u8]) {
        let path = self.dir.join("stream.ndjson");
        let stream = OpenOptions::new().create(true).append(true).open(path);
        stream.expect("opened").write_all(bytes).expect("written");
    }

    /// Ends it as the runner does: the record, the lock, the summary.
    pub(crate) fn end(self) {
        let exit = "{\"type\":\"cr\",\"subtype\":\"exit\",\"at\":\"2026-11-18T03:16:00.000Z\",\
                    \"reason\":\"exit\",\"exit_code\":0,\"duration_ms\":60000}\n";
        self.append(exit.as_bytes());
        fs::write(self.dir.join("exit.json"), exit).expect("written");
        let git = "{\"type\":\"cr\",\"subtype\":\"git\",\"phase\":\"end\",\"commits\":[\"abc1234 feat: x\"]}";
        fs::write(self.dir.join("git.json"), git).expect("written");
        drop(self.lock);
        let summary =
            "{\"schema\":1,\"ok\":true,\"outcome\":\"success\",\"code\":0,\"why\":\"Good.\"}";
        // A reader finds it whole or not at all.
        let part = self.dir.join(".summary.json");
        fs::write(&part, summary).expect("written");
        fs::rename(part, self.dir.join("summary.json")).expect("renamed");
    }
}
