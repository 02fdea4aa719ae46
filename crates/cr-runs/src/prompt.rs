//! The prompt, from its source, as a file without a name.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, IsTerminal, Read, Seek, Write};
use std::os::fd::AsFd;

use anyhow::{Context, anyhow};
use cr_io::Exit;
use cr_rundir::{RunDir, file};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, memfd_create};

use crate::args::Runner;

/// How long a resumed run waits for a prompt that may not come: some callers
/// leave a pipe open that nobody writes to.
const PROMPT_TIMEOUT: Timespec = Timespec {
    tv_sec: 3,
    tv_nsec: 0,
};

/// Opens the prompt for the pipeline to read. In memory, so that it shows in no
/// list of processes and is as long as it likes.
pub(crate) fn open(runner: &Runner) -> anyhow::Result<File> {
    if runner.spawn.session.is_stream() {
        return messages(runner);
    }
    let text = text(runner)?;
    let is_resumed = runner.spawn.resume.is_some() || runner.spawn.continue_last;
    if text.trim_ascii().is_empty() && !is_resumed {
        return Err(anyhow!("the prompt is empty").context(Exit::Usage));
    }
    let stored = || -> io::Result<File> {
        let mut file = File::from(memfd_create("prompt", MemfdFlags::CLOEXEC)?);
        file.write_all(runner.prompt_prefix.as_bytes())?;
        file.write_all(&text)?;
        file.rewind()?;
        Ok(file)
    };
    stored().context("the prompt").context(Exit::Tool)
}

/// Standard input as it is: its lines are messages, which come when they come. A
/// detached run does not read from a terminal.
fn messages(runner: &Runner) -> anyhow::Result<File> {
    let stdin = io::stdin();
    let opened = if runner.detach && stdin.is_terminal() {
        File::open("/dev/null")
    } else {
        stdin.as_fd().try_clone_to_owned().map(File::from)
    };
    opened.context("standard input").context(Exit::NoInput)
}

/// Keeps the first message of a session in the run directory; returns the option
/// of cr-spawn that names it. In a file, so that it shows in no list of processes.
pub(crate) fn first_message(
    runner: &Runner,
    dir: Option<&RunDir>,
) -> anyhow::Result<Option<OsString>> {
    let spawn = &runner.spawn;
    let is_given = runner.prompt_argument.is_some() || spawn.prompt.is_some();
    if !spawn.session.is_stream() || !(is_given || spawn.prompt_file.is_some()) {
        return Ok(None);
    }
    let dir = dir.ok_or_else(|| {
        let text = "a first message needs a run directory; write it to standard input";
        anyhow!(text).context(Exit::Usage)
    })?;
    let text = [runner.prompt_prefix.as_bytes(), &text(runner)?].concat();
    dir.write(file::PROMPT, &text).context(Exit::Io)?;
    let mut option = OsString::from("--prompt-file=");
    option.push(dir.path().join(file::PROMPT));
    Ok(Some(option))
}

fn text(runner: &Runner) -> anyhow::Result<Vec<u8>> {
    let spawn = &runner.spawn;
    if let Some(text) = runner.prompt_argument.as_ref().or(spawn.prompt.as_ref()) {
        if text.trim_ascii().is_empty() {
            return Err(anyhow!("--prompt is empty").context(Exit::Usage));
        }
        if spawn.continue_last && is_session(text) {
            let text = "--continue takes no session; to resume one, use --resume";
            return Err(anyhow!(text).context(Exit::Usage));
        }
        return Ok(text.clone().into_bytes());
    }
    if let Some(path) = &spawn.prompt_file {
        let shown = || path.display().to_string();
        return fs::read(path).with_context(shown).context(Exit::NoInput);
    }
    let is_resumed = spawn.resume.is_some() || spawn.continue_last;
    if is_resumed && !has_something(&io::stdin()) {
        return Ok(Vec::new());
    }
    let mut text = Vec::new();
    let read = io::stdin().lock().read_to_end(&mut text);
    read.context("standard input").context(Exit::NoInput)?;
    Ok(text)
}

/// Whether `text` is a session's id and no prompt.
fn is_session(text: &str) -> bool {
    let parts = text.trim().split('-').map(str::len);
    let is_hex = |c: char| c == '-' || c.is_ascii_hexdigit();
    text.trim().chars().all(is_hex) && parts.eq([8, 4, 4, 4, 12])
}

/// Whether there is a prompt, or its end, to be read soon.
fn has_something(stdin: &io::Stdin) -> bool {
    if stdin.is_terminal() {
        return false;
    }
    let mut fds = [PollFd::new(stdin, PollFlags::IN)];
    !matches!(poll(&mut fds, Some(&PROMPT_TIMEOUT)), Ok(0))
}
