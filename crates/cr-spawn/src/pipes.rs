//! The three pipes between us and the agent.

use std::io;
use std::os::fd::OwnedFd;

use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};

/// A larger pipe halves the number of times both sides must wake.
const STDOUT_PIPE_SIZE: usize = 1 << 20;

/// The agent's standard input, output and error: our ends, which do not block,
/// and the agent's.
#[derive(Debug)]
pub(crate) struct Pipes {
    pub(crate) ours: (OwnedFd, OwnedFd, OwnedFd),
    pub(crate) agents: [OwnedFd; 3],
}

impl Pipes {
    pub(crate) fn new() -> io::Result<Self> {
        let pipe = || pipe_with(PipeFlags::CLOEXEC);
        let (stdin, stdout, stderr) = (pipe()?, pipe()?, pipe()?);
        let _ = fcntl_setpipe_size(&stdout.0, STDOUT_PIPE_SIZE);
        for fd in [&stdin.1, &stdout.0, &stderr.0] {
            rustix::io::ioctl_fionbio(fd, true)?;
        }
        Ok(Self {
            ours: (stdin.1, stdout.0, stderr.0),
            agents: [stdin.0, stdout.1, stderr.1],
        })
    }
}
