//! The names in the state directory and in a run directory; cr-rundir(5)
//! describes them.

/// In the state directory: one directory for each run of claude-runner.
pub const RUNS: &str = "runs";
/// In the state directory: one directory for each orchestrated run.
pub const ORCHESTRATED: &str = "orchestrate";

/// The prompt, as the agent gets it.
pub const PROMPT: &str = "prompt";
/// The text that is appended to the agent's system prompt.
pub const SYSTEM_PROMPT: &str = "system-prompt";
/// The `cr/start` line. It is there before the agent is.
pub const STARTED: &str = "started";
/// The stream, as far as cr-spawn wrote it.
pub const STREAM: &str = "stream.ndjson";
/// The `cr/exit` line.
pub const EXIT: &str = "exit.json";
/// The repository before the run: the line of `cr-git start`.
pub const GIT_START: &str = "start.json";
/// The repository after the run: the line of `cr-git end`.
pub const GIT: &str = "git.json";
/// What the agent's git commands wrote about themselves.
pub const GIT_TRACE: &str = "git-trace.ndjson";
/// The summary. It is the last file of a run.
pub const SUMMARY: &str = "summary.json";
/// Every setting in force, for a later run that resumes this one.
pub const SETTINGS: &str = "settings.json";
/// What a detached run writes to its standard output and error.
pub const OUTPUT: &str = "output";
/// Locked as long as the run is going on.
pub const LOCK: &str = "lock";
/// A run with this file is never removed by `cr-runs prune`.
pub const KEEP: &str = "keep";

/// Messages for the agent, see [`crate::QueueLine`].
pub const QUEUE: &str = "queue";
/// The agent's questions, see [`crate::QuestionLine`].
pub const QUESTIONS: &str = "questions";
/// Answers that came when no process waited for them, see
/// [`crate::AnswerLine`].
pub const ANSWERS: &str = "answers";
/// The socket of a running agent, see [`crate::ControlRequest`].
pub const CONTROL_SOCKET: &str = "control.sock";

/// An orchestrated run: its plan and settings.
pub const RUN: &str = "run.json";
/// An orchestrated run: its report for people.
pub const REPORT: &str = "report.md";
/// An orchestrated run: its report for programs.
pub const REPORT_JSON: &str = "report.json";
/// An orchestrated run: its report as XML of `JUnit`.
pub const REPORT_XML: &str = "report.xml";
/// An orchestrated run: one line for each decision.
pub const SESSION_LOG: &str = "session.log";
/// An orchestrated run: one directory for each task, with one directory for
/// each attempt in it.
pub const ATTEMPTS: &str = "attempts";
/// An attempt: what was asked for.
pub const ATTEMPT: &str = "attempt.json";
/// An attempt: its prompt.
pub const ATTEMPT_PROMPT: &str = "attempt.prompt";
/// An attempt: the mark that it was started. It is written once.
pub const ATTEMPT_STARTED: &str = "attempt.started";
/// An attempt: locked as long as its supervisor works on it.
pub const ATTEMPT_LOCK: &str = "attempt.lock";
/// An attempt: the process id of its supervisor.
pub const ATTEMPT_PID: &str = "attempt.pid";
/// An attempt: what its tools wrote to their standard error.
pub const ATTEMPT_STDERR: &str = "attempt.stderr";
/// An attempt: why it was ended as one that goes round in circles.
pub const ATTEMPT_LOOPING: &str = "looping";
/// An orchestrated run with this file ends before the next attempt.
pub const PAUSE: &str = "PAUSE";
/// An attempt: the task is to be tried again after it.
pub const ATTEMPT_AGAIN: &str = "again";
/// An attempt: the worktree that was made for it.
pub const ATTEMPT_WORKTREE: &str = "worktree.json";
/// An attempt: the program that runs its agent in a sandbox.
pub const ATTEMPT_SANDBOX: &str = "sandbox";
/// An attempt: its work is merged, with this commit; empty if there was none.
pub const ATTEMPT_MERGED: &str = "merged";
/// An attempt: why its work could not be checked or merged. That says nothing
/// about the work.
pub const ATTEMPT_STUCK: &str = "stuck";
/// An attempt: how it ended.
pub const ATTEMPT_END: &str = "end.json";
