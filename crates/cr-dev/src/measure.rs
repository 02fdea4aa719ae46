//! Two times that a script cannot measure precisely: how long a line takes
//! through a filter, and how long a tool takes to start.
//!
//! Both give the median of interleaved rounds, so that a busy machine slows
//! every command alike.

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use cr_io::Exit;

/// Sends the line in the file `line` through each of `commands`, one at a
/// time, and prints the median time until its output arrives.
pub(crate) fn latency(rounds: usize, line: &Path, commands: &[String]) -> anyhow::Result<Exit> {
    let line = fs::read(line).with_context(|| line.display().to_string())?;
    ensure!(line.ends_with(b"\n"), "the line must end with a newline");
    let mut filters = commands
        .iter()
        .map(|command| Filter::start(command))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let mut times = vec![Vec::with_capacity(rounds); filters.len()];
    for _ in 0..rounds {
        for (filter, times) in filters.iter_mut().zip(&mut times) {
            times.push(filter.send(&line)?);
        }
    }
    for filter in filters {
        filter.end()?;
    }
    print(commands, times)
}

/// Runs each of `commands` on empty input and prints the median time.
pub(crate) fn startup(rounds: usize, commands: &[String]) -> anyhow::Result<Exit> {
    let mut times = vec![Vec::with_capacity(rounds); commands.len()];
    for _ in 0..rounds {
        for (words, times) in commands.iter().zip(&mut times) {
            let mut command = command(words)?;
            command.stdin(Stdio::null()).stdout(Stdio::null());
            let begun = Instant::now();
            command.status().with_context(|| words.clone())?;
            times.push(begun.elapsed());
        }
    }
    print(commands, times)
}

/// `words` as a command.
fn command(words: &str) -> anyhow::Result<Command> {
    let mut words = words.split_whitespace();
    let mut command = Command::new(words.next().context("an empty command")?);
    command.args(words).stderr(Stdio::null());
    Ok(command)
}

/// A filter that runs, with both ends of its pipes in our hands.
struct Filter {
    name: String,
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
}

impl Filter {
    fn start(words: &str) -> anyhow::Result<Self> {
        let mut child = command(words)?
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| words.to_owned())?;
        let input = child.stdin.take().context("no standard input")?;
        let output = child.stdout.take().context("no standard output")?;
        Ok(Self {
            name: words.to_owned(),
            child,
            input,
            output,
        })
    }

    /// The time from writing `line` to the end of a line of output.
    fn send(&mut self, line: &[u8]) -> anyhow::Result<Duration> {
        let mut buffer = [0; 8192];
        let begun = Instant::now();
        self.input.write_all(line)?;
        loop {
            let count = self.output.read(&mut buffer)?;
            ensure!(count > 0, "{}: ended early", self.name);
            if buffer[count - 1] == b'\n' {
                return Ok(begun.elapsed());
            }
        }
    }

    fn end(mut self) -> anyhow::Result<()> {
        drop(self.input);
        drop(self.output);
        self.child.wait().context(self.name)?;
        Ok(())
    }
}

/// Prints the median of each command's `times`, in microseconds.
fn print(commands: &[String], times: Vec<Vec<Duration>>) -> anyhow::Result<Exit> {
    let mut out = io::stdout().lock();
    for (name, mut times) in commands.iter().zip(times) {
        times.sort_unstable();
        let median = times.get(times.len() / 2).copied().unwrap_or_default();
        writeln!(out, "{:.1} {name}", median.as_secs_f64() * 1e6)?;
    }
    Ok(Exit::Ok)
}
