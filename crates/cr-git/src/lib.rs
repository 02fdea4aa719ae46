//! What a run changes in a git repository: its state before the run, the
//! difference after it, and a lock for concurrent committers.
//!
//! All facts come from the real git. No program that the repository configures
//! is ever run.

mod agent_commits;
mod args;
mod compare;
mod dirty;
mod end;
mod history;
mod lock;
mod own_lines;
mod reflog;
mod scope;
mod stale;
mod start;
mod start_record;
mod text;
mod trace;

use std::env;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use cr_glob::Glob;
use cr_io::{Exit, Input, Out};
use cr_repository::Repo;
use cr_rundir::{RunDir, RunId, file};
use cr_signal::{SIGINT, Signals};

pub use args::Args;
use args::{Command, EndArgs, LockArgs, ScopeArgs, StartArgs};
use compare::{Base, RunStart};

/// Runs the subcommand of `args`; lines go to `out`, messages to `notes`.
pub fn run(args: &Args, out: impl Write, notes: impl Write) -> anyhow::Result<Exit> {
    match &args.command {
        Command::Start(args) => start(args, out, notes),
        Command::End(args) => end(args, out, notes),
        Command::Scope(args) => scope(args, out),
        Command::Lock(args) => lock(args, notes),
    }
}

fn start(args: &StartArgs, out: impl Write, mut notes: impl Write) -> anyhow::Result<Exit> {
    let given = RunId::given().context("CR_RUN_ID").context(Exit::Config)?;
    let run_id = given.unwrap_or_default();
    let start = start::observe(
        &directory(args.location.cwd.as_deref()),
        args.location.limit(),
    );
    let line = cr_stream::compose(Some(&run_id.to_string()), &start);
    let mut out = Out::new(out);
    out.line(&line)?;
    out.flush()?;
    if let Some(dir) = &args.location.run_dir {
        write_to_run_dir(dir, file::GIT_START, &line, &mut notes);
    }
    Ok(Exit::Ok)
}

fn end(args: &EndArgs, out: impl Write, notes: impl Write) -> anyhow::Result<Exit> {
    // Held, not read: the first Ctrl-C is for the agent. Its last lines, and
    // ours, are still to come. The live input counts the second one.
    let _interrupts = Signals::take(&[SIGINT])
        .context("signals")
        .context(Exit::Tool)?;
    let cwd = directory(args.location.cwd.as_deref());
    let mut began = RunStart {
        base: Base::Unknown,
        seen: None,
    };
    if let Some(sha) = &args.start_sha {
        let commit = Repo::open(&cwd, args.location.limit()).and_then(|repo| repo.commit(sha));
        began.base = commit.map_or(Base::Unknown, Base::Commit);
    }
    if let Some(file) = &args.start {
        let start = scope::read_start(&Input::File(file.clone()))?;
        began = start.map_or(began, RunStart::seen);
    }
    // A wrong CR_RUN_ID is refused where a run begins; it ends in any case.
    let run_id = RunId::given().ok().flatten().map(|id| id.to_string());
    let options = end::EndOptions {
        began,
        cwd,
        agent_commits: agent_commits::AgentCommits::new(args.noted.clone()),
        run_id,
        run_dir: args.location.run_dir.clone(),
        limit: args.location.limit(),
    };
    end::pass(options, Input::Stdin.open()?, out, notes)
}

fn scope(args: &ScopeArgs, out: impl Write) -> anyhow::Result<Exit> {
    let mut cwd = directory(args.cwd.as_deref());
    let limit = args::limit(args.git_timeout);
    let began = if let Some(base) = &args.base {
        let commit = scope::repository(&cwd, limit)?.commit(base);
        RunStart {
            base: Base::Commit(commit.context(Exit::Usage)?),
            seen: None,
        }
    } else {
        let input = match &args.stream {
            Some(file) if file.as_os_str() != "-" => Input::File(file.clone()),
            _ => Input::Stdin,
        };
        let start = scope::read_start(&input)?;
        let start = start.ok_or_else(|| anyhow!("no cr/git start line; --base names a commit"));
        RunStart::seen(start.context(Exit::Data)?)
    };
    if let (Some(seen), None) = (&began.seen, &args.cwd) {
        cwd = start_record::directory(seen);
    }
    if began.base == Base::Unknown {
        let text = "the start line names no commit: no repository, or git failed";
        return Err(anyhow!(text).context(Exit::Data));
    }
    let globs = args.allow.iter().map(|glob| Glob::new(glob.as_bytes()));
    let globs: Vec<Glob> = globs.collect();
    scope::check(&scope::repository(&cwd, limit)?, &began, &globs, out)
}

fn lock(args: &LockArgs, mut notes: impl Write) -> anyhow::Result<Exit> {
    let cwd = directory(args.cwd.as_deref());
    let repo = scope::repository(&cwd, args::limit(args.git_timeout))?;
    let held = cr_repository::take_lock(&repo.shared, args.wait.filter(|wait| !wait.is_zero()))?;
    if let Some(found) = stale::index_lock(&repo) {
        let broken = args.break_stale_lock && stale::break_lock(&repo).context(Exit::Io)?;
        let holder = found
            .holder
            .map_or("none".to_owned(), |pid| format!("process {pid}"));
        // A closed standard error is no reason to stop.
        let _ = writeln!(
            notes,
            "cr-git: {}: {} s old, holder: {holder}{}",
            repo.own.join("index.lock").display(),
            found.age_seconds,
            if broken { "; removed" } else { "" }
        );
    }
    let exit = lock::run(&args.command);
    drop(held);
    exit
}

/// `given`, else the current directory.
fn directory(given: Option<&Path>) -> PathBuf {
    let here = env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    given.map_or(here.clone(), |dir| here.join(dir))
}

/// Writes `line` as the file `name` into the run directory. A failure is
/// reported and never stops a run.
fn write_to_run_dir(dir: &Path, name: &str, line: &[u8], notes: &mut impl Write) {
    let text = [line, b"\n"].concat();
    let written = RunDir::at(dir).and_then(|dir| dir.write(name, &text));
    if let Err(err) = written {
        let _ = writeln!(notes, "cr-git: {}", cr_io::message(&err));
    }
}
