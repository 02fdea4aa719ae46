//! Values for our own lines.

use std::ffi::OsString;
use std::time::Duration;

use cr_io::Redactor;
use cr_proc::{Process, Swept};
use cr_stream::{Exit, LeftoverProcess, Reason};

use crate::guardian_protocol::End;

/// The most processes that are listed.
pub(crate) const MOST_PROCESSES: usize = 50;

/// `processes` as `cr/exit` lists them.
pub(crate) fn listed(processes: &[Process]) -> Vec<LeftoverProcess<'_>> {
    let listed = processes.iter().take(MOST_PROCESSES);
    let listed = listed.map(|process| LeftoverProcess {
        pid: process.pid,
        comm: process.comm.as_str().into(),
        age_ms: process.age_ms,
    });
    listed.collect()
}

/// What the guardian knows when the supervisor is gone.
pub(crate) fn exit_of_dead_supervisor(
    end: Option<End>,
    duration: Duration,
    swept: &Swept,
) -> Exit<'_> {
    Exit {
        error: Some("cr-spawn was killed".into()),
        exit_code: end.and_then(|end| end.code),
        signal: end.and_then(|end| end.signal),
        killed: true,
        duration_ms: Some(millis(duration)),
        leaked: listed(&swept.leaked),
        leaked_total: Some(swept.leaked.len() as u64),
        unkillable: listed(&swept.unkillable),
        recorded: Some(true),
        ..Exit::new(Reason::Internal)
    }
}

/// Milliseconds; what does not fit saturates.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Arguments as they may be shown, with secrets masked.
pub(crate) fn shown(argv: &[OsString], redactor: &Redactor) -> Vec<String> {
    let texts = argv.iter().map(|arg| arg.to_string_lossy());
    texts
        .map(|arg| redactor.redact(&arg).into_owned())
        .collect()
}
