//! The last word on a run.

use std::time::Duration;

use cr_io::Exit;
use rustix::event::{PollFd, PollFlags};

use crate::cause::{self, Cause};
use crate::output::Fate;
use crate::prepare::note;
use crate::record::{listed, millis};
use crate::start::spawn_code;
use crate::supervisor::Supervisor;

/// How long a reader may take for the rest, if the end was not the agent's own.
const PATIENCE: Duration = Duration::from_secs(1);

/// What `cr/exit` will say.
pub(crate) fn facts<'a>(front: &'a Supervisor<'_>) -> cr_stream::Exit<'a> {
    let (counts, cause) = (front.stdout.counts(), front.cause.as_ref());
    let started = !matches!(cause, Some(Cause::NotStarted(..)));
    let error = cause.and_then(Cause::error);
    cr_stream::Exit {
        reason: Cause::reason(cause, front.end).into(),
        exit_code: front.end.and_then(|end| end.code),
        signal: front.end.and_then(|end| end.signal),
        killed: front.killed && started,
        interrupted_by: match cause {
            Some(Cause::Signal(number)) => Some(*number),
            Some(Cause::Orphaned) => Some(signal_hook::consts::SIGTERM),
            _ => None,
        },
        parent_died: cause == Some(&Cause::Orphaned),
        spawn_code: cause.and_then(spawn_code),
        error: error.map(|text| front.redactor.redact(&text).into_owned().into()),
        result_seen: Some(front.activity.result_is_error.is_some()),
        result_is_error: front.activity.result_is_error,
        duration_ms: Some(millis(front.started.elapsed())),
        stopped_ms: millis(front.stopped),
        lines: counts.lines,
        bytes: counts.bytes,
        noise: counts.noise,
        forged: counts.forged,
        oversize: counts.oversize,
        stderr: front.stderr.ends(),
        torn_tail: counts.torn,
        leaked: listed(&front.swept.leaked),
        leaked_total: Some(front.swept.leaked.len() as u64),
        unkillable: listed(&front.swept.unkillable),
        children_kept: front.args.keep_children && !front.swept.leaked.is_empty(),
        recorded: Some(front.out.is_recorded()),
        output_file: front.out.copy().map(Into::into),
        record_cut: front.out.is_cut(),
    }
}

/// Records the end, lets the guardian go, and says the last word.
///
/// In this order: a reader may keep us waiting for ever, and the record must
/// not wait with us. Whoever sees the end of the file knows that nobody is left.
pub(crate) fn finish(mut front: Supervisor<'_>, line: &[u8]) -> Exit {
    if let Some(dir) = front.run_dir
        && let Err(err) = dir.write_once("exit.json", line)
    {
        note(&format!("not recorded: {}", cr_io::message(&err)));
    }
    front.out.line(line.trim_ascii_end());
    let Supervisor {
        guard,
        mut out,
        mut signals,
        cause,
        end,
        activity,
        ..
    } = front;
    guard.dismiss();
    out.end();
    loop {
        if out.drain(Duration::from_millis(200)) || reader_left() {
            break;
        }
        let is_told = !signals.pending().is_empty();
        if is_told || (cause.is_some() && !out.drain(PATIENCE)) {
            break;
        }
    }
    let fate = out.fate();
    let code = cause::code(cause.as_ref(), end, activity.result_is_error, &fate);
    if let Fate::Failed(text) = &fate {
        note(&format!("write standard output: {text}"));
    } else if let Some(text) = cause.as_ref().and_then(Cause::error) {
        note(&text);
    }
    if let Some(text) = out.copy().and_then(|copy| copy.trouble()) {
        note(&text);
    }
    code
}

fn reader_left() -> bool {
    let stdout = std::io::stdout();
    let mut fds = [PollFd::new(&stdout, PollFlags::empty())];
    crate::poll_set::polled(&mut fds, Duration::ZERO);
    fds[0].revents().contains(PollFlags::ERR)
}
