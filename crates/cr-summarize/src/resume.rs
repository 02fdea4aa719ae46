//! How to resume a session: as a command to paste, and as arguments.
//!
//! A resumed run has the settings of the run that it resumes. They are in its run
//! directory, or in its `cr/start` line; where they are not known there is no
//! command, because one without them could permit more than the run had.

use std::borrow::Cow;

use cr_io::{Redactor, quote};
use cr_rundir::{StateDir, file};
use cr_summary::Summary;

use crate::collector::Collector;

/// The program that resumes.
const RUNNER: &str = "claude-runner";

/// Fills in the command, or why there is none.
pub(crate) fn resumption(summary: &mut Summary, collector: &Collector, redactor: &Redactor) {
    let found = session(collector).and_then(|id| {
        summary.resumable = true;
        let argv = argv(id, collector, redactor)?;
        let command: Option<Vec<String>> = argv.iter().map(|arg| quote(arg)).collect();
        let command = command.ok_or("A setting holds a NUL character.")?;
        Ok((command.join(" "), argv))
    });
    match found {
        Ok((command, argv)) => {
            summary.resume_command = Some(command);
            summary.resume_argv = Some(argv);
        }
        Err(why) => summary.resume_why_null = Some(why),
    }
}

/// The session, if it is on disk and has an id that a shell may see: the agent
/// wrote it, and a user pastes the command.
fn session(collector: &Collector) -> Result<&str, Cow<'static, str>> {
    let never_began =
        collector.turns.last.as_ref().is_some_and(|last| {
            last.subtype == "error_during_execution" && last.num_turns == Some(0)
        });
    let id = collector.session.session_id.as_deref();
    match id {
        _ if never_began => Err("The session was not found.".into()),
        _ if collector.run_facts.unsaved => Err("The session was not saved.".into()),
        None => Err("There is no session yet.".into()),
        Some(id) if is_uuid(id) => Ok(id),
        Some(_) => Err("The id of the session is not a UUID.".into()),
    }
}

fn argv(
    id: &str,
    collector: &Collector,
    redactor: &Redactor,
) -> Result<Vec<String>, Cow<'static, str>> {
    let run = &collector.run_facts;
    let words = |words: [&str; 3]| words.map(str::to_owned).to_vec();
    if let Some(options) = &run.options {
        let mut argv = words([RUNNER, "--resume", id]);
        argv.extend_from_slice(options);
        return Ok(argv);
    }
    if let Some(dir) = &run.run_dir {
        let recorded = recorded_run(run.run_id.as_deref(), dir, redactor)?;
        return Ok(words([RUNNER, "--resume-run", &recorded]));
    }
    Err(if run.has_start {
        "The run was not recorded, and the stream does not have all its settings.".into()
    } else {
        let text = "The input does not have the settings of the run. Give them with";
        format!("{text}: claude --resume {id}").into()
    })
}

/// What `--resume-run` finds the run by: its id if its directory `dir` is where
/// runs are kept, else the directory.
fn recorded_run(
    id: Option<&str>,
    dir: &str,
    redactor: &Redactor,
) -> Result<String, Cow<'static, str>> {
    let by_id = id.filter(|id| {
        let kept = StateDir::from_env().map(|state| state.path().join(file::RUNS).join(id));
        kept.is_some_and(|kept| kept.to_string_lossy() == dir)
    });
    match by_id {
        Some(id) => Ok(id.to_owned()),
        None if dir.contains('\u{fffd}') => {
            Err("The path of the run directory is not UTF-8.".into())
        }
        None if redactor.redact(dir) != dir => {
            Err("The path of the run directory looks like a secret.".into())
        }
        None => Ok(dir.to_owned()),
    }
}

/// Whether `id` is what the CLI takes for a session: 8-4-4-4-12 hex digits.
fn is_uuid(id: &str) -> bool {
    let groups = id.split('-').map(str::len);
    let digits = id.bytes().filter(u8::is_ascii_hexdigit).count();
    groups.eq([8, 4, 4, 4, 12]) && digits == 32
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "80f8ae6e-b027-4253-8e9c-1ffd717366a1";

    #[test]
    fn t6_only_a_uuid_is_an_id() {
        let line = format!("{ID}\n");
        let wrong = [
            "",
            "abc-123",
            "$(reboot)",
            "--dangerous",
            &ID[1..],
            &line,
            "80f8ae6e-b027-4253-8e9c-1ffd71736é1",
            "80f8ae6eb02742538e9c1ffd717366a1----",
        ];
        for id in wrong {
            assert!(!is_uuid(id), "{id}");
        }
        assert!(is_uuid(ID));
    }
}
