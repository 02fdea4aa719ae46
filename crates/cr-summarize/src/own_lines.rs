//! What the lines of our own say about the run.

use std::borrow::Cow;

use cr_event::Event;
use cr_stream::{GitEnd, Limit, OwnLine, Run, Start, Task};
use cr_summary::{Attempt, Git};

use crate::conversation::Conversation;
use crate::counts::Fate;

/// The longest text that is kept of one end of the standard error.
const STDERR_LENGTH: usize = 64 << 10;

/// The most leftover processes that are kept.
const MOST_LEAKED: usize = 1000;

/// What the lines of our own say about the run.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct RunFacts {
    /// There is one.
    pub(crate) seen: bool,
    /// One of them is `cr/start`.
    pub(crate) has_start: bool,
    pub(crate) run_id: Option<String>,
    pub(crate) run_dir: Option<String>,
    pub(crate) cwd: Option<String>,
    /// The options that mean the settings, where the record does not have them.
    pub(crate) options: Option<Vec<String>>,
    pub(crate) model: Option<String>,
    /// The version of the agent's program.
    pub(crate) version: Option<String>,
    pub(crate) schema_asked: bool,
    /// The agent resumes a session.
    pub(crate) resumes: bool,
    /// The agent takes messages while it runs, and each wants an answer.
    pub(crate) takes_messages: bool,
    /// The session leaves nothing on disk, as it was told.
    pub(crate) unsaved: bool,
    /// Whether the run left files in its directory.
    pub(crate) recorded: Option<bool>,
    /// The file of `--output-file`.
    pub(crate) output_file: Option<cr_stream::OutputFileState<'static>>,
    /// The record lacks a part of the stream.
    pub(crate) record_cut: bool,
    pub(crate) exit: Option<Ended>,
    pub(crate) git: Option<Git>,
    /// The clock that ran out last.
    pub(crate) limit: Option<Limit<'static>>,
    /// Lines of the agent that claimed to be our own.
    pub(crate) forged: u64,
    /// What is wrong with the order of our own lines.
    pub(crate) disorder: Option<&'static str>,
    /// The attempts that have ended, of a run of several.
    pub(crate) attempts: Vec<Attempt>,
    /// The messages, turns and questions of a session.
    pub(crate) conversation: Conversation,
    /// The run of all attempts.
    pub(crate) whole: Option<WholeRun>,
}

/// A run of several attempts.
#[derive(Debug, Default)]
pub(crate) struct WholeRun {
    /// The directory of all of them.
    pub(crate) run_dir: Option<String>,
    /// The command that continues them.
    pub(crate) next: Option<String>,
}

/// The `cr/exit` line.
#[derive(Debug, Default)]
pub(crate) struct Ended {
    pub(crate) exit: cr_stream::Exit<'static>,
    /// Both ends of the standard error.
    pub(crate) stderr: String,
}

impl RunFacts {
    /// Notes that there is one more line, of whatever kind.
    pub(crate) fn follows(&mut self) {
        if self.exit.is_some() {
            self.disorder = Some("there are lines after the cr/exit line");
        }
    }

    /// Notes a line of our own.
    pub(crate) fn take(&mut self, event: &Event<'_>) -> Fate {
        self.seen = true;
        let Some(line) = OwnLine::read(event) else {
            return Fate::Ignored;
        };
        // A stage may have run before the one that made the run and its name.
        let is_named = self.run_id.is_some() && !matches!(line, OwnLine::Start(_));
        if let Some(id) = event.run_id.filter(|_| !is_named) {
            self.run_id = Some(id.prefix(100).into_owned());
        }
        match line {
            OwnLine::Start(start) => self.start(*start),
            OwnLine::Exit(exit) => self.exit(*exit),
            OwnLine::GitEnd(end) => self.git = Some(git(*end)),
            OwnLine::Limit(limit) => self.limit = Some(limit.into_owned()),
            // Only an attempt that has ended has an outcome.
            OwnLine::Task(task) if task.outcome.is_some() => self.attempts.push(attempt(*task)),
            OwnLine::Run(run) => self.whole(*run),
            OwnLine::Forged(_) => self.forged += 1,
            OwnLine::Cut(_) => self.record_cut = true,
            OwnLine::State(state) => self.conversation.state(&state),
            OwnLine::Input(input) => self.conversation.input(&input),
            OwnLine::Ask(ask) => self.conversation.ask(&ask),
            OwnLine::Task(_) => {}
            OwnLine::Oversize(_) => return Fate::Oversize,
            _ => return Fate::Ignored,
        }
        Fate::Used
    }

    fn start(&mut self, start: Start<'_>) {
        self.has_start = true;
        self.takes_messages = start.takes_messages();
        self.run_dir = owned(start.run_dir);
        self.cwd = owned(start.cwd);
        self.model = owned(start.model);
        self.version = owned(start.claude.version);
        let has = |flag: &str| {
            let mut argv = start.argv.iter();
            argv.any(|arg| arg.split('=').next() == Some(flag))
        };
        if let Some(grace) = start.limits.grace_ms {
            cr_io::expect_grace(grace);
        }
        self.schema_asked = has("--json-schema");
        self.unsaved = has("--no-session-persistence");
        self.resumes = has("--resume") || has("--continue");
        self.options = all_owned(start.options);
    }

    fn whole(&mut self, run: Run<'_>) {
        let whole = self.whole.get_or_insert_default();
        whole.run_dir = owned(run.run_dir).or(whole.run_dir.take());
        whole.next = owned(run.next);
    }

    /// Forgets how the attempt before this one ended.
    pub(crate) fn begin_again(&mut self) {
        self.exit = None;
        self.limit = None;
        self.conversation.next_attempt();
        self.recorded = None;
    }

    fn exit(&mut self, mut exit: cr_stream::Exit<'_>) {
        if self.exit.is_some() {
            self.disorder = Some("there is more than one cr/exit line");
            return;
        }
        self.recorded = exit.recorded;
        self.output_file = exit
            .output_file
            .take()
            .map(cr_stream::OutputFileState::into_owned);
        self.record_cut |= exit.record_cut;
        let mut stderr = String::new();
        for part in [&exit.stderr.head, &exit.stderr.tail] {
            let part = &part[..part.floor_char_boundary(STDERR_LENGTH)];
            if !part.is_empty() && !stderr.ends_with(part) {
                stderr.push_str(part);
            }
        }
        exit.stderr = cr_stream::AgentStderr::default();
        exit.leaked.truncate(MOST_LEAKED);
        self.exit = Some(Ended {
            exit: exit.into_owned(),
            stderr,
        });
    }
}

fn owned(text: Option<Cow<'_, str>>) -> Option<String> {
    text.map(Cow::into_owned)
}

fn all_owned(texts: Option<Vec<Cow<'_, str>>>) -> Option<Vec<String>> {
    texts.map(|texts| texts.into_iter().map(Cow::into_owned).collect())
}

fn attempt(task: Task<'_>) -> Attempt {
    Attempt {
        number: task.attempt.into(),
        session_id: owned(task.session_id),
        outcome: owned(task.outcome),
        why: owned(task.why),
        cost_usd: task.cost_usd,
        num_turns: task.num_turns,
        started_at: owned(task.started_at),
        ended_at: owned(task.ended_at),
        run_dir: owned(task.run_dir),
    }
}

fn git(end: GitEnd<'_>) -> Git {
    Git {
        start_sha: owned(end.start_sha),
        end_sha: owned(end.end_sha),
        commits: all_owned(end.commits),
        commits_by: end.commits_by.map(|by| by.into_iter().map(owned).collect()),
        commits_more: end.commits_more,
        changed_files: end.changed_files,
        insertions: end.insertions,
        deletions: end.deletions,
        uncommitted_changes: end.uncommitted_changes,
        branch: owned(end.branch),
        dirty_before: end.dirty_before,
        rewritten: end.rewritten,
        rewound: end.rewound,
        agent_commits: all_owned(end.agent_commits),
        error: owned(end.error),
    }
}
