//! Ends an agent that goes round in circles: one that takes many turns without a
//! commit, although its task is to leave one.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use anyhow::Context;
use cr_event::{Event, Kind};
use cr_repository::Git;
use cr_rundir::{RunDir, file};
use cr_signal::SIGTERM;
use cr_stream::OwnLine;

use crate::attempt::Spec;
use crate::judge::{LOOP_TURNS, looping};
use crate::sandbox;
use crate::stream_tail::StreamTail;
use crate::task::Commit;

/// How often the stream is looked at.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// How long git may take to say where HEAD is.
const GIT_LIMIT: Duration = Duration::from_secs(30);

/// Watches an attempt until it is dropped.
#[derive(Debug)]
pub(crate) struct LoopWatch {
    _is_alive: Sender<()>,
}

impl LoopWatch {
    /// Watches the attempt in `dir`, if its task must leave a commit. An agent in a
    /// loop is ended by a SIGTERM to this process, which passes it on.
    pub(crate) fn start(dir: &RunDir, spec: &Spec) -> anyhow::Result<Option<Self>> {
        if spec.task.commit != Commit::Required {
            return Ok(None);
        }
        let mut watched = Watched::new(RunDir::existing(dir.path())?, spec.cwd());
        // The attempt itself says what is wrong with its sandbox.
        let sandbox = sandbox::of_attempt(dir.path(), spec).unwrap_or_default();
        watched.branch = sandbox.and_then(|sandbox| sandbox.private_ref());
        let (sender, receiver) = channel();
        std::thread::Builder::new().spawn(move || watched.run(&receiver))?;
        Ok(Some(Self { _is_alive: sender }))
    }
}

/// What became of a watched attempt.
#[derive(Debug, PartialEq)]
enum Seen {
    Nothing,
    /// There is nothing more to watch for.
    Commit,
    Loop,
}

struct Watched {
    tail: StreamTail,
    dir: RunDir,
    cwd: PathBuf,
    /// The file of its branch in a sandbox, from which commits come at the end.
    branch: Option<PathBuf>,
    /// Turns of the main thread.
    turns: u64,
    /// The id of the message of the last turn: its blocks are lines of their own.
    last_message: Vec<u8>,
    /// The number of turns at the last look into the repository.
    checked: u64,
}

impl Watched {
    fn new(dir: RunDir, cwd: &Path) -> Self {
        Self {
            tail: StreamTail::new(dir.path().join(file::STREAM)),
            dir,
            cwd: cwd.to_owned(),
            branch: None,
            turns: 0,
            last_message: Vec::new(),
            checked: LOOP_TURNS,
        }
    }

    fn run(mut self, is_over: &Receiver<()>) {
        while is_over.recv_timeout(CHECK_INTERVAL) == Err(RecvTimeoutError::Timeout) {
            match self.look() {
                Seen::Nothing => continue,
                Seen::Commit => {}
                Seen::Loop => {
                    let why = looping(self.turns);
                    // The mark comes first: a signal alone is a stop of the whole run.
                    let mark = self.dir.write_once(file::ATTEMPT_LOOPING, why.as_bytes());
                    if mark.is_ok() {
                        // Without a handler it would end this process; it has one.
                        let _ = signal_hook::low_level::raise(SIGTERM);
                    }
                }
            }
            return;
        }
    }

    /// What the stream and the repository show now.
    fn look(&mut self) -> Seen {
        if self.read().is_err() {
            // The end of the attempt is judged without it.
            return Seen::Commit;
        }
        if self.turns <= self.checked {
            return Seen::Nothing;
        }
        self.checked = self.turns;
        if self.has_commit() {
            Seen::Commit
        } else {
            Seen::Loop
        }
    }

    fn read(&mut self) -> std::io::Result<()> {
        let (turns, last) = (&mut self.turns, &mut self.last_message);
        self.tail.read(|line| {
            let Ok(event) = Event::parse(line) else {
                return;
            };
            let id = event.message.as_ref().and_then(|message| message.id);
            if let Some(id) = id.filter(|_| event.kind == Kind::Assistant && event.is_main())
                && id.bytes() != last.as_slice()
            {
                *turns += 1;
                *last = id.bytes().to_vec();
            }
        })
    }

    /// Whether HEAD is elsewhere than before the attempt. What cannot be known is no
    /// reason to end an agent.
    fn has_commit(&self) -> bool {
        let start = std::fs::read(self.dir.path().join(file::GIT_START));
        let start = start.unwrap_or_default();
        let Some(OwnLine::GitStart(start)) = OwnLine::parse(&start) else {
            return true;
        };
        if let Some(branch) = &self.branch {
            let sha = first_line(branch).unwrap_or_default();
            return sha.trim_ascii() != start.start_sha_full.unwrap_or_default().as_bytes();
        }
        let Ok(git) = Git::at(&self.cwd, GIT_LIMIT) else {
            return true;
        };
        let head = git.ask(&["rev-parse", "--verify", "--quiet", "HEAD"]).ok();
        let head = head.map(|sha| String::from_utf8_lossy(&sha).trim().to_owned());
        head.as_deref() != start.start_sha_full.as_deref()
    }
}

/// The beginning of a file that an agent may have replaced by anything. What is not
/// a file is an error.
fn first_line(path: &Path) -> anyhow::Result<Vec<u8>> {
    let name = path.file_name().and_then(|name| name.to_str());
    let dir = RunDir::existing(path.parent().context("no directory")?)?;
    let text = dir.read(name.context("no name")?, 4096)?;
    text.context("not there")
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn git(dir: &Path, args: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@t"])
            .args(args)
            .current_dir(dir)
            .output()
            .expect("git");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Lines of so many turns of two blocks each, with the answers of the tools, and
    /// with turns of a subagent.
    fn turns(count: u64) -> String {
        let line = |id: u64| {
            let main = format!(r#"{{"type":"assistant","message":{{"id":"m{id}","content":[]}}}}"#);
            let sub = format!(
                r#"{{"type":"assistant","parent_tool_use_id":"t","message":{{"id":"s{id}","content":[]}}}}"#
            );
            let answer = r#"{"type":"user","message":{"content":[]}}"#;
            [&main, &main, answer, &sub, ""].join("\n")
        };
        (0..count).map(line).collect()
    }

    #[test]
    fn only_many_turns_of_the_main_thread_without_a_commit_are_a_loop() {
        // (turns, whether a commit is made, what is seen)
        for (count, commits, seen) in [
            (LOOP_TURNS, false, Seen::Nothing),
            (LOOP_TURNS + 1, false, Seen::Loop),
            (LOOP_TURNS + 1, true, Seen::Commit),
        ] {
            let temp = tempfile::tempdir().expect("a directory");
            let dir = RunDir::at(&temp.path().join("run")).expect("made");
            git(temp.path(), &["init", "-q"]);
            git(temp.path(), &["commit", "-q", "--allow-empty", "-m", "one"]);
            let start = cr_stream::GitStart {
                repository: true,
                start_sha_full: Some(git(temp.path(), &["rev-parse", "HEAD"]).into()),
                ..cr_stream::GitStart::default()
            };
            let start = cr_stream::compose_line(None, &start);
            dir.write(file::GIT_START, &start).expect("written");
            if commits {
                git(temp.path(), &["commit", "-q", "--allow-empty", "-m", "two"]);
            }
            let mut watched = Watched::new(dir, temp.path());
            assert_eq!(watched.look(), Seen::Nothing, "there is no stream yet");
            watched
                .dir
                .write(file::STREAM, turns(count).as_bytes())
                .expect("written");
            assert_eq!(watched.look(), seen, "{count} {commits}");
            assert_eq!(watched.turns, count);
        }
    }

    #[test]
    fn in_a_sandbox_the_agents_own_ref_says_whether_there_is_a_commit() {
        let start = "a".repeat(40);
        let replace = std::os::unix::fs::symlink::<&Path, PathBuf>;
        for (text, seen) in [
            (Some(format!("{start}\n")), Seen::Loop),
            (Some(format!("{}\n", "b".repeat(40))), Seen::Commit),
            (None, Seen::Commit),
        ] {
            let temp = tempfile::tempdir().expect("a directory");
            let dir = RunDir::at(&temp.path().join("run")).expect("made");
            let line = cr_stream::GitStart {
                repository: true,
                start_sha_full: Some(start.as_str().into()),
                ..cr_stream::GitStart::default()
            };
            let line = cr_stream::compose_line(None, &line);
            dir.write(file::GIT_START, &line).expect("written");
            let many = turns(LOOP_TURNS + 1);
            dir.write(file::STREAM, many.as_bytes()).expect("written");
            match &text {
                Some(text) => dir.write("branch", text.as_bytes()).expect("written"),
                None => replace(Path::new("/dev/zero"), dir.path().join("branch")).expect("linked"),
            }
            let branch = dir.path().join("branch");
            let mut watched = Watched::new(dir, temp.path());
            watched.branch = Some(branch);
            assert_eq!(watched.look(), seen, "{text:?}");
        }
    }
}
