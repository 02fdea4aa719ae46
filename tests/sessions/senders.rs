//! Senders: each gives its messages in order, and sends a message again until it
//! is acknowledged.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use cr_test::until;
use serde_json::{Value, json};

use crate::place::{Place, Random};

/// A message, and what is needed to find it again.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) sender: usize,
}

/// The sender that writes to standard input; the others are processes of cr-send.
const STDIN: usize = 0;

/// The messages of `senders` senders, one list for each.
pub(crate) fn messages(random: &mut Random, senders: usize, each: usize) -> Vec<Vec<Sent>> {
    let mut message = |sender: usize, number: usize| {
        // Most turns are short: a message during a tool makes its turn longer.
        let work = match random.below(20) {
            0 | 1 => " tool:20ms",
            2 => " tool:80ms",
            3 | 4 => " text:10ms",
            _ => "",
        };
        Sent {
            id: random.uuid(),
            text: format!("message {number} of sender {sender}{work}"),
            sender,
        }
    };
    let all = (0..senders).map(|sender| (0..each).map(|it| message(sender, it)).collect());
    all.collect()
}

/// Sends all messages of one sender, each after a random time; `acked` counts
/// those of all.
pub(crate) fn send_all(place: &Place, messages: &[Sent], mut random: Random, acked: &AtomicUsize) {
    for message in messages {
        thread::sleep(Duration::from_millis(random.below(place.longest_pause())));
        if message.sender == STDIN {
            write(place, message);
        } else {
            let what = format!("{} is acknowledged", message.text);
            until(&what, || send(place, message));
        }
        acked.fetch_add(1, Ordering::Relaxed);
    }
}

/// Sends one message; returns whether it was acknowledged.
fn send(place: &Place, message: &Sent) -> bool {
    let from = format!("sender {}", message.sender);
    let output = place
        .outside("cr-send")
        .args([&place.latest(), "--id", &message.id, "--from", &from])
        .args(["--timeout", "5", &message.text])
        .output()
        .expect("cr-send");
    // A refusal for good would be tried again without an end.
    assert_ne!(output.status.code(), Some(65), "{output:?}");
    output.status.success()
}

/// Writes one message to standard input, again if the run ends before it says
/// that the message is queued.
fn write(place: &Place, message: &Sent) {
    let line = json!({"text": message.text, "id": message.id}).to_string();
    let mut run = String::new();
    until(&format!("{} is queued", message.text), || {
        let current = place.latest();
        if current != run && place.write(&line) {
            run = current;
        }
        let lines = place.lines_of(&run, "stream.ndjson");
        lines.iter().any(|it| is_taken(it, &message.id))
    });
}

/// Whether the line says that a run has the message.
fn is_taken(line: &Value, id: &str) -> bool {
    let is_known = line["reason"]
        .as_str()
        .is_some_and(|why| why.contains("used before"));
    line["subtype"] == "input" && line["id"] == id && (line["state"] != "rejected" || is_known)
}
