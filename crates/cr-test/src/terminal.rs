//! A terminal of its own for a process.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::process::Stdio;
use std::time::Instant;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::wait::{limit, readable};
use crate::{Child, Command};

/// Our side of a terminal. Dropping it is a hang-up.
#[derive(Debug)]
pub struct Terminal {
    ours: File,
    shown: String,
}

impl Terminal {
    /// Starts `command` in a session of its own, on a new terminal.
    pub fn start(command: &Command) -> (Self, Child) {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let ours = openpt(flags).expect("a terminal");
        grantpt(&ours).and_then(|()| unlockpt(&ours)).expect("ours");
        let name = ptsname(&ours, Vec::new()).expect("a name");
        let name = name.to_str().expect("text");
        let theirs = || {
            let file = File::options().read(true).write(true).open(name);
            Stdio::from(file.expect("their side"))
        };
        let mut session = command.behind("setsid", &["--ctty", "--wait"]);
        session.stdin(theirs()).stdout(theirs()).stderr(theirs());
        let child = session.spawn().expect("started");
        let ours = ours.as_fd().try_clone_to_owned().expect("a copy").into();
        let shown = String::new();
        (Self { ours, shown }, child)
    }

    /// Types `keys`.
    pub fn type_keys(&mut self, keys: &[u8]) {
        self.ours.write_all(keys).expect("typed");
    }

    /// Waits until `wanted` is shown; returns all that was shown.
    pub fn wait_for(&mut self, wanted: &str) -> &str {
        while !self.shown.contains(wanted) {
            assert!(self.read(), "no `{wanted}` in:\n{}", self.shown);
        }
        &self.shown
    }

    /// Waits until nobody has the other side; returns all that was shown.
    pub fn finish(mut self) -> String {
        while self.read() {}
        self.shown
    }

    /// Reads what is shown next; `false` if nobody has the other side.
    fn read(&mut self) -> bool {
        let end = Instant::now() + limit();
        let shown = &self.shown;
        assert!(readable(&self.ours, end), "nothing after:\n{shown}");
        let mut buffer = [0; 4096];
        // The last writer's end is an error on this side.
        let Ok(count @ 1..) = self.ours.read(&mut buffer) else {
            return false;
        };
        self.shown += &String::from_utf8_lossy(&buffer[..count]);
        true
    }
}
