//! The texts of the help that are longer than a line.

pub(super) const AFTER: &str = "\
A PLAN is NDJSON, a JSON array, {\"tasks\": [...]}, YAML, or a folder of *.md files. In
such a file the front matter has the fields and the body is the prompt. A task has an
id and a prompt or prompt_file; cr-tasks(5) describes all its fields.

What a running attempt may still use of the run's budget is set aside. An attempt whose
cost is not known counts as all that it was allowed. A task without a budget of its own
gets a share of what is left in dollars. No agent has a limit of tokens or per cent:
attempts that run can exceed such a budget. When nothing more fits, a terminal is asked
whether to continue with half as much again; otherwise the run ends with 3.

If the run directory has a file called PAUSE, the run ends before the next attempt. If
several exit codes apply, the first of 77, 4, 75, 3 and 1 is used.

With --isolation worktree each attempt works in a git worktree of its own, below the
run directory, on a branch cr-task/RUN/TASK.N. It has the files of the last merged
commit, copies of what .worktreeinclude names, and what `setup` makes. Finished work
is merged one task at a time into the branch cr/RUN, if `verify` of the task and of
the plan succeeds on the merged tree. What conflicts or fails there goes back to its
task, which begins again from the merged work. Your branch, index and work tree stay
as they are; the report ends with the `git merge` line. A worktree is removed when its
work is merged, and stays when it failed, until `cr-orchestrate gc`. Only commits are
merged. A note (git log --notes=cr) on each merge commit says what was verified. If the work changes a script
that `verify` runs, it must also be green with that script of the base commit, unless
`files` names the script. In their environment, agents, `setup` and `verify` have
CR_PORT, the first of 10 ports for their slot.

Before the first agent, the plan's `verify` must succeed on the base commit.

With --sandbox each agent runs in bubblewrap (`bwrap`, as root 0.8 or newer), in a
worktree of its own. It writes its worktree, a private home (kept for the next attempt
of the task), a private /tmp, and its session log, which is where it is without a
sandbox. Its commits go to an object store of its own; when it ends, they are checked
and its branch, no other ref, is moved. It reads the system's programs, the
repository, ~/.gitconfig and its credentials, and writes none of them. It sees no
other file of your home, no process and no variable of the host, except those that the
agent itself uses (ANTHROPIC_*, proxies, the locale) and `env` of its task.

Programs and files elsewhere, such as ~/.nvm, need --sandbox-read. With the network of
the host it also reaches services on loopback; --sandbox-network none leaves no
connection at all, also none to the model unless that is in the sandbox. As root it
has no capability. Each command of `setup` and `verify` runs in a sandbox too, because
it runs what the agent has written: with an empty home, without the credentials, and
with a repository that it can only read. The command of --on-merged runs outside. A
run keeps its sandbox when it is resumed.

The command of --on-merged gets CR_RUN_ID, CR_BRANCH, CR_BASE (a commit), CR_INTO and
CR_REPORT_DIR. It runs at the top of your work tree. Its output is in on-merged.1.log.

Examples:
  cr-orchestrate --dry-run plan.yaml
  cr-orchestrate plan.yaml --retries 3 --max-wait 6h
  cr-orchestrate plan.yaml --budget 20 --models haiku,sonnet,opus
  cr-orchestrate -j 4 tasks/ && git merge cr/RUN
  cr-orchestrate -j 4 --sandbox --sandbox-read ~/.nvm tasks/
  cr-orchestrate -j 4 --into main --on-merged 'make deploy' plan.yaml
  cr-orchestrate --resume-run 20261118T031500Z-1f0c22ab
  cr-orchestrate --resume-run 20261118T031500Z-1f0c22ab --again 'api=Use port 8080'
  cr-orchestrate status
  cr-orchestrate gc --older-than 2d

Environment:
  CR_CLAUDE           the agent's program (default: claude)
  CR_CONFIG           the configuration file
  CR_STATE_DIR        the state directory (default: $XDG_STATE_HOME/claude-runner)
  CR_PERMISSION_MODE  as --permission-mode

Exit status:
  0    every task is done
  1    a task failed
  2    the command line or the plan is wrong; nothing was started
  3    the budget of the run, or one of cr-ledger, is used up; nothing more was started
  4    a task needs a person, a breakpoint was reached, or --into is not possible now
  65   the plan's verification fails before the first task; nothing was started
  66   the plan or the run cannot be read, or there is no repository
  74   the state or standard output cannot be written
  75   try again later: the wait is longer than --max-wait, the run is paused, work
       cannot be merged now, or another process runs it
  77   not logged in, or no credit
  78   unsafe run directory, wrong configuration, no sandbox possible, or a run of a newer
       version
  125  cr-orchestrate itself failed
  126, 127  the agent's program cannot be run, or was not found; nothing was started
  128+n  stopped by signal n; no agent is left running";
