//! The far end: what the command starts on the other machine.
//!
//! It says who it is, learns which attempt it is about, and then either begins
//! it or sends what an earlier far end has left of it. The agent runs under
//! cr-spawn, whose control channel this process holds: when this process dies,
//! cr-spawn ends the agent.

mod agent;
mod attempt;
mod link;
mod work;

use std::time::Duration;

use anyhow::{Context, anyhow};
use cr_io::{Exit, exit_of, message as text_of};
use cr_signal::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, Signals};

use crate::frame::{Kind, PROTOCOL};
use crate::message::{Done, Hello, Ready, Refused, Start, decode, encode};
use attempt::{Attempt, Known};
use link::{Link, Taken};

/// How long another process can keep this one stopped.
const WAKE_INTERVAL: Duration = Duration::from_millis(100);

/// How long the near end has to say who it is.
const HELLO_LIMIT: Duration = Duration::from_mins(1);

/// Runs the far end.
pub(crate) fn run() -> anyhow::Result<Exit> {
    cr_sys::keep_descriptors().context(Exit::Tool)?;
    // An agent may stop us; the lease must run out all the same.
    cr_signal::ignore_here(SIGCONT)?;
    let _ = cr_sys::wake_every(WAKE_INTERVAL);
    cr_proc::adopt_orphans()?;
    let mut signals = Signals::take(&[SIGHUP, SIGINT, SIGQUIT, SIGTERM])?;
    let mut link = Link::open()?;
    let done = serve(&mut link, &mut signals);
    if let Err(err) = &done {
        let refused = Refused {
            code: match exit_of(err) {
                exit @ (Exit::Retry | Exit::CannotExec | Exit::NotFound) => exit.code(),
                _ => Exit::Tool.code(),
            },
            text: text_of(err),
        };
        link.send(Kind::Refused, encode(&refused));
    }
    link.finish();
    done
}

fn serve(link: &mut Link, signals: &mut Signals) -> anyhow::Result<Exit> {
    let Some(hello) = hello(link)? else {
        return Ok(Exit::Ok);
    };
    work::check_git()?;
    let attempt = Attempt::open(&hello, link)?;
    let known = attempt.known()?;
    if known == Known::No {
        let have = work::cached(attempt.state(), &hello.root)?;
        let is_known = false;
        link.send(Kind::Ready, encode(&Ready { is_known, have }));
        let Some(start) = attempt.receive(link)? else {
            // Nothing has begun, so nothing is left to keep.
            attempt.forget();
            return Ok(Exit::Ok);
        };
        begin(&attempt, &hello, &start, link, signals)?;
    } else {
        link.send(
            Kind::Ready,
            encode(&Ready {
                is_known: true,
                have: Vec::new(),
            }),
        );
        if known == Known::Lost {
            let text = "the attempt is known here, and it is not known how it ended";
            return Err(anyhow!(text).context(Exit::Retry));
        }
        attempt.send_record(link)?;
    }
    let finished = attempt.finish(&hello)?;
    attempt.send_work(&finished, link)?;
    if let Some(done) = wait_for_done(link)?
        && done.is_complete
    {
        attempt.clean_up(&finished);
    }
    Ok(Exit::Ok)
}

/// The near end's first frame; `None` if there is no near end any more.
fn hello(link: &mut Link) -> anyhow::Result<Option<Hello>> {
    let hello: Hello = match link.take(HELLO_LIMIT) {
        Taken::Frame(frame) if frame.kind == Kind::Hello => decode(&frame.bytes)?,
        Taken::Ended => return Ok(None),
        _ => return Err(anyhow!("no near end answers").context(Exit::Tool)),
    };
    link.set_lease(Duration::from_millis(hello.lease_ms));
    if hello.protocol != PROTOCOL {
        let (near, far) = (&hello.version, env!("CARGO_PKG_VERSION"));
        let text = format!("the near end is version {near}, the far end {far}: install one");
        return Err(anyhow!(text).context(Exit::CannotExec));
    }
    Ok(Some(hello))
}

/// Prepares the work directory and runs the agent in it.
fn begin(
    attempt: &Attempt,
    hello: &Hello,
    start: &Start,
    link: &mut Link,
    signals: &mut Signals,
) -> anyhow::Result<()> {
    if let Err(err) = attempt.prepare(hello, start) {
        attempt.forget();
        return Err(err);
    }
    if link.is_lost() || signals.numbers().next().is_some() {
        attempt.forget();
        return Err(anyhow!("stopped before the agent began").context(Exit::Retry));
    }
    agent::run(attempt, hello, start, link, signals)
}

/// What the near end says about the work; nothing if it is gone.
fn wait_for_done(link: &mut Link) -> anyhow::Result<Option<Done>> {
    loop {
        match link.take(WAKE_INTERVAL) {
            Taken::Frame(frame) if frame.kind == Kind::Done => {
                return decode(&frame.bytes).map(Some);
            }
            Taken::Nothing if link.is_lost() => return Ok(None),
            Taken::Frame(_) | Taken::Nothing => {}
            Taken::Ended => return Ok(None),
        }
    }
}
