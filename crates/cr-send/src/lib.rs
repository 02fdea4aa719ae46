//! `cr-send`: talks to a running agent through the control socket of its run.
//!
//! `message` reads what is to be sent, `target` finds the run and connects,
//! `conversation` sends and waits, and `show` prints replies.

mod args;
mod conversation;
mod message;
mod sender;
mod show;
mod target;
mod uuid;

use std::io::{Read, Write};

use cr_io::{Exit, Out};
use cr_rundir::{ControlOperation, ControlRequest};

pub use args::Args;

use conversation::Conversation;
use message::{JsonMessages, Message};
use show::Shown;
use target::{Ended, Target};

/// Does what `args` ask; messages come from `input` if they are not arguments.
pub fn run(
    args: &Args,
    input: impl Read,
    out: impl Write,
    mut notes: impl Write,
) -> anyhow::Result<Exit> {
    let request = args.request()?;
    let target = Target::find(args)?;
    let mut shown = Shown::new(Out::new(out), args);
    match request {
        None => send(args, &target, input, &mut shown),
        Some(request) if request.op == ControlOperation::Answer => {
            answer(args, &target, request, &mut shown, &mut notes)
        }
        Some(request) if request.op == ControlOperation::Asks && target.run.state().is_over() => {
            shown.questions(&cr_rundir::open_questions(&target.dir)?)
        }
        Some(request) => ask(args, &target, &request, &mut shown),
    }
}

/// Sends messages, each after the one before was acknowledged; with --wait, each
/// after the turn of the one before was a success.
fn send<W: Write>(
    args: &Args,
    target: &Target,
    input: impl Read,
    shown: &mut Shown<W>,
) -> anyhow::Result<Exit> {
    if target.run.state().is_over() {
        return Err(target.ended());
    }
    if args.json {
        let mut conversation = Conversation::open(args, target)?;
        let mut messages = JsonMessages::new(input);
        while let Some(message) = messages.next()? {
            let exit = conversation.send(message, shown)?;
            if exit != Exit::Ok {
                return Ok(exit);
            }
        }
        return Ok(Exit::Ok);
    }
    let text = match args.text()? {
        Some(text) => text.to_owned(),
        None => message::read_text(input)?,
    };
    let message = Message::of_text(&text, args.id.as_deref())?;
    Conversation::open(args, target)?.send(message, shown)
}

/// Makes one request and prints its reply.
fn ask<W: Write>(
    args: &Args,
    target: &Target,
    request: &ControlRequest,
    shown: &mut Shown<W>,
) -> anyhow::Result<Exit> {
    let reply = Conversation::open(args, target)?.request(request)?;
    shown.reply(request.op, &reply)
}

/// Answers a question. If nobody waits for the answer, it is kept.
fn answer<W: Write>(
    args: &Args,
    target: &Target,
    mut request: ControlRequest,
    shown: &mut Shown<W>,
    notes: &mut impl Write,
) -> anyhow::Result<Exit> {
    request.from = Some(sender::name(args.from.as_deref(), &target.runs));
    if !target.run.state().is_over() {
        match ask(args, target, &request, shown) {
            // The run has ended meanwhile. What it did with the answer is on disk.
            Err(err) if err.is::<Ended>() => {}
            done => return done,
        }
    }
    let (Some(id), Some(decision)) = (&request.id, request.decision) else {
        return Err(target.ended());
    };
    let (text, by) = (request.text.as_deref(), request.from.as_deref());
    cr_rundir::keep_answer(&target.dir, id, decision, text, by)
        .map_err(|err| conversation::with_name(err, target))?;
    let note = format!(
        "cr-send: {}: the run has ended; the answer is kept and given when it is resumed: {}\n",
        target.name(),
        target.resume_command(),
    );
    let _ = notes.write_all(note.as_bytes());
    Ok(Exit::Ok)
}
