//! The end of a run: its last line and its exit code.

use std::time::Duration;

use cr_io::Exit;

use crate::cause::{self, Cause};
use crate::output::Fate;
use crate::poll_set::reader_left;
use crate::prepare::note;
use crate::record::{listed, millis};
use crate::supervisor::Supervisor;

/// How long a reader may take for the rest, if the end was not the agent's own.
const SLOW_READER_TIMEOUT: Duration = Duration::from_secs(1);

/// Between two looks at whether the reader has left or a signal came.
const DRAIN_STEP: Duration = Duration::from_millis(200);

/// What `cr/exit` will say.
pub(crate) fn exit_line<'a>(supervisor: &'a Supervisor<'_>) -> cr_stream::Exit<'a> {
    let Supervisor {
        context,
        streams,
        session,
        timing,
        progress,
        ..
    } = supervisor;
    let (counts, leftovers) = (streams.stdout.counts(), &progress.leftovers);
    let (cause, end) = (progress.state.cause.as_ref(), progress.state.end);
    let started = !matches!(cause, Some(Cause::NotStarted(..)));
    let error = cause.and_then(Cause::error);
    cr_stream::Exit {
        reason: Cause::reason(cause, end).into(),
        exit_code: end.and_then(|end| end.code),
        signal: end.and_then(|end| end.signal),
        killed: progress.state.killed && started,
        interrupted_by: cause.and_then(Cause::interrupted_by),
        parent_died: cause == Some(&Cause::Orphaned),
        spawn_code: cause.and_then(Cause::spawn_code),
        error: error.map(|text| context.redactor.redact(&text).into_owned().into()),
        result_seen: Some(timing.activity.result_is_error.is_some()),
        result_is_error: timing.activity.result_is_error,
        duration_ms: Some(millis(timing.started.elapsed())),
        stopped_ms: millis(timing.stopped),
        lines: counts.lines,
        bytes: counts.bytes,
        noise: counts.noise,
        forged: counts.forged,
        oversize: counts.oversize,
        stderr: streams.stderr.ends(),
        torn_tail: counts.torn,
        leaked: listed(&leftovers.leaked),
        leaked_total: Some(leftovers.leaked_total as u64),
        unkillable: listed(&leftovers.unkillable),
        children_kept: context.options.keep_children && leftovers.leaked_total > 0,
        recorded: Some(streams.output.is_recorded()),
        output_file: streams.output.output_file().map(Into::into),
        record_cut: streams.output.is_cut(),
        completed_by: session.completion.map(|how| how.as_str().into()),
        relay: None,
    }
}

/// Records the end, dismisses the guardian, and writes the last line.
///
/// In this order: a reader may block us for ever, and the record must not wait
/// for it. The end of file says that no process is left.
pub(crate) fn finish(mut supervisor: Supervisor<'_>, line: &[u8]) -> Exit {
    if let Some(dir) = supervisor.context.run_dir
        && let Err(err) = dir.write_once(cr_rundir::file::EXIT, line)
    {
        note(&format!("not recorded: {}", cr_io::message(&err)));
    }
    supervisor.streams.output.line(line.trim_ascii_end());
    let Supervisor {
        guardian,
        mut requests,
        streams,
        session,
        timing,
        progress,
        ..
    } = supervisor;
    let (mut output, state) = (streams.output, progress.state);
    guardian.dismiss();
    output.end();
    while !output.drain(DRAIN_STEP) && !reader_left(&std::io::stdout()) {
        let is_ours = state.cause.is_some();
        if requests.came() || (is_ours && !output.drain(SLOW_READER_TIMEOUT)) {
            break;
        }
    }
    let (fate, cause) = (output.fate(), state.cause.as_ref());
    let result = timing.activity.result_is_error;
    // The result of an earlier turn is not that of the one that was cut off.
    let result = result.filter(|_| !session.is_unfinished());
    let code = cause::code(cause, state.end, result, &fate);
    if let Fate::Failed(text) = &fate {
        note(&format!("write standard output: {text}"));
    } else if let Some(text) = cause.and_then(Cause::error) {
        note(&text);
    }
    if let Some(text) = output.output_file().and_then(|file| file.trouble()) {
        note(&text);
    }
    code
}
