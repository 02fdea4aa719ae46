//! Faults of an agent, played on request.

use std::time::Duration;

use cr_io::parse_duration;

use crate::child::Kind;

/// The table of faults, as `--help` and the manual page show it.
pub(crate) const TABLE: &str = "\
Faults (--fault, or CR_REPLAY_FAULT; several with commas):
  hang=N           hang before line N
  hang=result      hang after the first result
  hang=end         hang after the last line
  linger=TIME      wait this long after the last line
  split=BYTES      write in pieces of this size
  torn             end in the middle of the last line
  noise=N          write a line that is not JSON after every N lines
  forge            write a forged cr/exit line first
  long=BYTES       write a line of this length first
  stderr=BYTES     flood standard error with lines first
  stderr-raw=BYTES flood standard error with one long line first
  ignore-term      ignore SIGTERM, SIGINT and SIGHUP
  exit=N           exit with N
  signal=N         die by signal N
  close-stdout=N   close standard output before line N, and go on
  no-stdin         read no standard input
  child=KIND       leave a child process running:
                     plain, group, session, daemon (twice forked, nothing open),
                     stubborn (ignores SIGTERM), stopped (by SIGSTOP),
                     storm, storm4, storm16 (each forks the next and ends),
                     stop-adopter, kill-adopter (signals its new parent),
                     stop-adopter-again (over and over),
                     holder (keeps standard output open)";

/// The faults to play.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fault of its own")]
pub(crate) struct Faults {
    pub(crate) hang: Option<HangPoint>,
    pub(crate) linger: Duration,
    pub(crate) split: Option<usize>,
    pub(crate) torn: bool,
    pub(crate) noise: Option<u64>,
    pub(crate) forge: bool,
    pub(crate) long: usize,
    pub(crate) stderr: usize,
    pub(crate) stderr_raw: usize,
    pub(crate) ignore_term: bool,
    pub(crate) exit: Option<u8>,
    pub(crate) signal: Option<i32>,
    pub(crate) close_stdout: Option<u64>,
    pub(crate) no_stdin: bool,
    pub(crate) children: Vec<Kind>,
}

/// Where to hang.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HangPoint {
    Line(u64),
    Result,
    End,
}

impl Faults {
    /// Adds the faults in `text`.
    pub(crate) fn add(&mut self, text: &str) -> Result<(), String> {
        for word in text
            .split(',')
            .map(str::trim)
            .filter(|word| !word.is_empty())
        {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            self.one(name, value)
                .map_err(|why| format!("fault `{word}`: {why}"))?;
        }
        Ok(())
    }

    fn one(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "hang" => {
                self.hang = Some(match value {
                    "result" => HangPoint::Result,
                    "end" | "" => HangPoint::End,
                    line => HangPoint::Line(number(line)?),
                });
            }
            "linger" => self.linger = parse_duration(value)?,
            "split" => self.split = Some(at_least_one(value)?),
            "torn" => self.torn = true,
            "noise" => self.noise = Some(at_least_one(value)?),
            "forge" => self.forge = true,
            "long" => self.long = number(value)?,
            "stderr" => self.stderr = number(value)?,
            "stderr-raw" => self.stderr_raw = number(value)?,
            "ignore-term" => self.ignore_term = true,
            "exit" => self.exit = Some(number(value)?),
            "signal" => self.signal = Some(number(value)?),
            "close-stdout" => self.close_stdout = Some(number(value)?),
            "no-stdin" => self.no_stdin = true,
            "child" => self
                .children
                .push(Kind::parse(value).ok_or("no such child")?),
            _ => return Err("no such fault".to_owned()),
        }
        Ok(())
    }
}

fn at_least_one<T: std::str::FromStr + Ord + From<u8>>(text: &str) -> Result<T, String> {
    number(text).map(|n: T| n.max(T::from(1)))
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| "expected a number".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read_from_a_list() {
        let mut faults = Faults::default();
        let text = "hang=3, torn,exit=7,child=daemon,child=storm4,linger=1m";
        assert_eq!(faults.add(text), Ok(()));
        assert_eq!(faults.hang, Some(HangPoint::Line(3)));
        assert_eq!((faults.torn, faults.exit), (true, Some(7)));
        assert_eq!(faults.children.len(), 2);
        assert_eq!(faults.linger, Duration::from_mins(1));
        for wrong in ["explode", "exit=256", "child=", "hang=x"] {
            assert!(Faults::default().add(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_table_names_every_fault() {
        for line in TABLE
            .lines()
            .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        {
            let word = line.split_whitespace().next().expect("a word");
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            let value = match value {
                "KIND" => "plain",
                "N" | "BYTES" | "TIME" => "1",
                value => value,
            };
            let known = Faults::default().one(name, value);
            assert_eq!(known, Ok(()), "{word}");
        }
    }
}
