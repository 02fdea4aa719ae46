//! A command whose every wait has a limit.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::process::{self, ExitStatus, Output, Stdio};
use std::thread;
use std::time::Duration;

use assert_cmd::assert::Assert;

use crate::{Child, World, limit};

/// A command, as [`std::process::Command`], in a [`World`].
///
/// Its standard input is empty unless the test says otherwise.
pub struct Command {
    inner: process::Command,
    world: World,
    input: Option<Vec<u8>>,
    limit: Duration,
    has_stdin: bool,
    has_stdout: bool,
    has_stderr: bool,
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let args = self.inner.get_args().map(OsStr::to_string_lossy);
        let program = self.inner.get_program().to_string_lossy();
        let line: Vec<_> = [program].into_iter().chain(args).collect();
        f.write_str(&line.join(" "))
    }
}

impl Command {
    /// `program` in a world of its own.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        World::new().command(program)
    }

    pub(crate) fn in_world(world: &World, program: &OsStr) -> Self {
        let mut inner = process::Command::new(program);
        inner.env_clear().envs(world.environment());
        cr_sys::with_default_signals(&mut inner, None);
        Self {
            inner,
            world: world.clone(),
            input: None,
            limit: limit(),
            has_stdin: false,
            has_stdout: false,
            has_stderr: false,
        }
    }

    /// The world it runs in.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Adds an argument.
    pub fn arg(&mut self, arg: impl AsRef<OsStr>) -> &mut Self {
        self.inner.arg(arg);
        self
    }

    /// Adds arguments.
    pub fn args(&mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> &mut Self {
        self.inner.args(args);
        self
    }

    /// Sets a variable.
    pub fn env(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> &mut Self {
        self.inner.env(name, value);
        self
    }

    /// Sets variables.
    pub fn envs(
        &mut self,
        vars: impl IntoIterator<Item = (impl AsRef<OsStr>, impl AsRef<OsStr>)>,
    ) -> &mut Self {
        self.inner.envs(vars);
        self
    }

    /// Removes a variable.
    pub fn env_remove(&mut self, name: impl AsRef<OsStr>) -> &mut Self {
        self.inner.env_remove(name);
        self
    }

    /// Removes all variables, except the tag by which the harness finds the
    /// process.
    pub fn env_clear(&mut self) -> &mut Self {
        self.inner.env_clear();
        self
    }

    /// Sets the directory.
    pub fn current_dir(&mut self, dir: impl AsRef<Path>) -> &mut Self {
        self.inner.current_dir(dir);
        self
    }

    /// Sets standard input.
    pub fn stdin(&mut self, stdin: impl Into<Stdio>) -> &mut Self {
        self.inner.stdin(stdin);
        self.has_stdin = true;
        self
    }

    /// Sets standard output.
    pub fn stdout(&mut self, stdout: impl Into<Stdio>) -> &mut Self {
        self.inner.stdout(stdout);
        self.has_stdout = true;
        self
    }

    /// Sets standard error.
    pub fn stderr(&mut self, stderr: impl Into<Stdio>) -> &mut Self {
        self.inner.stderr(stderr);
        self.has_stderr = true;
        self
    }

    /// What [`output`](Self::output) writes to its standard input.
    pub fn write_stdin(&mut self, input: impl Into<Vec<u8>>) -> &mut Self {
        self.input = Some(input.into());
        self.stdin(Stdio::piped())
    }

    /// Replaces the limit of each wait for it.
    pub fn timeout(&mut self, limit: Duration) -> &mut Self {
        self.limit = limit;
        self
    }

    /// The program.
    pub fn get_program(&self) -> &OsStr {
        self.inner.get_program()
    }

    /// The same command behind another one that runs it (`nohup`, `setsid`).
    /// Its standard streams are not taken over.
    #[must_use]
    pub fn behind(&self, program: &str, options: &[&str]) -> Self {
        let mut other = self.world.command(program);
        other
            .env_clear()
            .envs(self.variables())
            .args(options)
            .arg(self.inner.get_program())
            .args(self.inner.get_args())
            .timeout(self.limit);
        if let Some(dir) = self.inner.get_current_dir() {
            other.current_dir(dir);
        }
        other
    }

    /// The variables that are set, for another command.
    pub fn variables(&self) -> Vec<(OsString, OsString)> {
        let set = self.inner.get_envs();
        set.filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
            .collect()
    }

    /// Starts it.
    pub fn spawn(&mut self) -> io::Result<Child> {
        if !self.has_stdin {
            self.inner.stdin(Stdio::null());
        }
        self.inner.env("CR_TEST_TAG", self.world.tag());
        let child = self.inner.spawn()?;
        self.world.note_process(child.id());
        let line = format!("{self:?}");
        Ok(Child::new(child, self.world.clone(), line, self.limit))
    }

    /// Runs it to its end and collects its output.
    pub fn output(&mut self) -> io::Result<Output> {
        if !self.has_stdout {
            self.inner.stdout(Stdio::piped());
        }
        if !self.has_stderr {
            self.inner.stderr(Stdio::piped());
        }
        let mut child = self.spawn()?;
        if let Some(mut stdin) = child.stdin.take()
            && let Some(input) = self.input.clone()
        {
            // On a thread, since input larger than a pipe waits for its reader.
            // A command that is refused does not read it.
            thread::spawn(move || drop(stdin.write_all(&input)));
        }
        child.wait_with_output()
    }

    /// Runs it to its end; its output is shown if the test fails.
    pub fn status(&mut self) -> io::Result<ExitStatus> {
        let output = self.output()?;
        for bytes in [&output.stdout, &output.stderr] {
            show(&String::from_utf8_lossy(bytes));
        }
        Ok(output.status)
    }

    /// Runs it to its end, for assertions on its output.
    pub fn assert(&mut self) -> Assert {
        let output = self
            .output()
            .unwrap_or_else(|err| panic!("{self:?}: {err}"));
        Assert::new(output).append_context("command", format!("{self:?}"))
    }
}

#[expect(clippy::print_stdout, reason = "shown when a test fails")]
fn show(text: &str) {
    print!("{text}");
}
