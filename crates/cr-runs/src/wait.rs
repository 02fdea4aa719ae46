//! `cr-runs wait`.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use cr_io::{Exit, Out};

use crate::args::WaitArgs;
use crate::find;
use crate::verdict::{self, Verdict};
use crate::watch::Watch;
use cr_rundir::Run;
use cr_status::Status;

/// Waits, prints each summary as it comes, and ends with the verdict: of one
/// run its own, of several the first, as they were named, that is not 0.
pub(crate) fn wait(
    args: &WaitArgs,
    out: impl Write,
    mut notes: impl Write,
) -> anyhow::Result<Exit> {
    let runs = if args.last {
        vec![find::last()?]
    } else {
        let named = args.runs.iter().map(|name| find::named(name));
        named.collect::<anyhow::Result<Vec<Run>>>()?
    };
    let deadline = (!args.timeout.is_zero()).then(|| Instant::now() + args.timeout);
    let watch = Watch::new(runs.iter().map(|run| Path::new(&run.dir)));
    let mut codes = vec![None; runs.len()];
    let mut out = Out::new(out);
    loop {
        for (run, code) in runs.iter().zip(&mut codes) {
            if code.is_some() {
                continue;
            }
            if let Some(verdict) = ended(run)? {
                out.line(&verdict.line)?;
                out.flush()?;
                *code = Some(verdict.code);
                if args.any {
                    return Ok(Exit::Code(verdict.code));
                }
            }
        }
        if codes.iter().all(Option::is_some) {
            let bad = codes.into_iter().flatten().find(|&code| code != 0);
            return Ok(Exit::Code(bad.unwrap_or(0)));
        }
        if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            let open = runs.iter().zip(&codes).filter(|(_, code)| code.is_none());
            for (run, _) in open {
                let text = format!("cr-runs: {}\n", Status::of(run)?.line());
                let _ = notes.write_all(text.as_bytes());
            }
            return Ok(Exit::Retry);
        }
        watch.wait(deadline);
    }
}

/// The verdict of a run that is over, all of it.
fn ended(run: &Run) -> anyhow::Result<Option<Verdict>> {
    if run.state().is_over() {
        return verdict::of(run);
    }
    Ok(None)
}
