//! `--ask-cmd`: a command of the user's that answers questions.
//!
//! Each question gets a process of its own, and a thread that waits for it, so
//! that a slow command blocks nothing. A command that fails gives no answer.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use cr_rundir::Decision;
use rustix::process::{Pid, Signal, kill_process_group};
use serde::Deserialize;

use super::question::Answer;

/// The longest answer that is read.
const MAX_ANSWER: u64 = 1 << 20;

/// What a command says: a decision and a text.
#[derive(Deserialize)]
struct Said {
    decision: Decision,
    #[serde(default)]
    text: Option<String>,
}

/// A question and what its command answered, if it did.
type Outcome = (String, Result<Answer, String>);

/// The command, and its processes that run.
#[derive(Debug)]
pub(crate) struct AskCommand {
    command: String,
    running: HashMap<String, Pid>,
    outcomes: Receiver<Outcome>,
    report: Sender<Outcome>,
    woken: UnixStream,
    wake: UnixStream,
}

impl AskCommand {
    pub(crate) fn new(command: &str) -> std::io::Result<Self> {
        let (report, outcomes) = channel();
        let (woken, wake) = UnixStream::pair()?;
        woken.set_nonblocking(true)?;
        wake.set_nonblocking(true)?;
        Ok(Self {
            command: command.to_owned(),
            running: HashMap::new(),
            outcomes,
            report,
            woken,
            wake,
        })
    }

    /// Asks the command about the question `id`, which is `text` in JSON.
    pub(crate) fn ask(&mut self, id: &str, text: Vec<u8>) -> Result<(), String> {
        let shown = |err: std::io::Error| err.to_string();
        let mut child = Command::new("/bin/sh")
            .args(["-c", &self.command])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(shown)?;
        let wake = self.wake.try_clone().map_err(shown)?;
        let pid = Pid::from_child(&child);
        let (report, question) = (self.report.clone(), id.to_owned());
        let thread = thread::Builder::new().name("ask".into()).spawn(move || {
            let answer = answer_of(&mut child, &text);
            let _ = report.send((question, answer));
            let _ = (&wake).write(&[1]);
        });
        self.running.insert(id.to_owned(), pid);
        thread.map(drop).map_err(|err| {
            self.cancel(id);
            err.to_string()
        })
    }

    /// The outcomes since the last call.
    pub(crate) fn take(&mut self) -> Vec<Outcome> {
        let mut bytes = [0; 64];
        while matches!((&self.woken).read(&mut bytes), Ok(count) if count > 0) {}
        // One that was cancelled does not count.
        let (outcomes, running) = (&self.outcomes, &mut self.running);
        outcomes
            .try_iter()
            .filter(|(id, _)| running.remove(id).is_some())
            .collect()
    }

    /// Ends the process of the question `id`: nobody needs its answer.
    pub(crate) fn cancel(&mut self, id: &str) {
        if let Some(group) = self.running.remove(id) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for AskCommand {
    fn drop(&mut self) {
        for group in self.running.values() {
            let _ = kill_process_group(*group, Signal::KILL);
        }
    }
}

impl AsFd for AskCommand {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.woken.as_fd()
    }
}

/// Gives `text` to the command and waits for its answer.
fn answer_of(child: &mut Child, text: &[u8]) -> Result<Answer, String> {
    if let Some(mut stdin) = child.stdin.take() {
        // A command need not read the question.
        let _ = stdin.write_all(text);
    }
    let mut said = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        let _ = stdout.take(MAX_ANSWER).read_to_end(&mut said);
    }
    let status = child.wait().map_err(|err| err.to_string())?;
    if !status.success() {
        return Err(format!("the command failed: {status}"));
    }
    read_answer(&said)
}

/// Reads an answer: JSON, or the words `allow`, `deny WHY`, `choose WHAT`.
fn read_answer(said: &[u8]) -> Result<Answer, String> {
    let text = String::from_utf8_lossy(said);
    let text = text.trim();
    let said = if text.starts_with('{') {
        serde_json::from_str(text).map_err(|err| format!("the command's answer: {err}"))?
    } else {
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let decision = match word {
            "allow" if rest.is_empty() => Decision::Allow,
            "allow_session" if rest.is_empty() => Decision::AllowSession,
            "deny" => Decision::Deny,
            "choose" => Decision::Choose,
            "" => return Err("the command gave no answer".to_owned()),
            _ => return Err("the command's answer is none of allow, deny, choose".to_owned()),
        };
        let rest = rest.trim();
        Said {
            decision,
            text: (!rest.is_empty()).then(|| rest.to_owned()),
        }
    };
    Ok(Answer::new(said.decision, said.text, "command"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_json_or_a_word() {
        let decision = |text: &str| {
            let answer = read_answer(text.as_bytes()).ok()?;
            Some((answer.decision, answer.text))
        };
        let why = || Some("not there".to_owned());
        let cases = [
            ("allow\n", Some((Decision::Allow, None))),
            ("deny not there\n", Some((Decision::Deny, why()))),
            (
                r#"{"decision":"deny","text":"not there"}"#,
                Some((Decision::Deny, why())),
            ),
            ("allow everything", None),
            ("yes", None),
            ("", None),
            (r#"{"decision":"perhaps"}"#, None),
        ];
        for (text, expected) in cases {
            assert_eq!(decision(text), expected, "{text}");
        }
    }
}
