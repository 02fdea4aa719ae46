//! Several senders at once.

use std::collections::HashSet;
use std::process::Stdio;

use crate::server::{FakeRun, text};

const SENDERS: usize = 8;
const MESSAGES: usize = 50;

#[test]
fn eight_senders_keep_their_orders_and_nothing_is_lost_or_mixed() {
    let run = FakeRun::new();
    let requests = run.acknowledge_all();
    let children: Vec<_> = (0..SENDERS)
        .map(|sender| {
            let lines = (0..MESSAGES).map(|n| format!("{{\"text\":\"{sender} {n}\"}}\n"));
            let input = run
                .world
                .write(format!("in.{sender}"), lines.collect::<String>());
            let name = format!("s{sender}");
            let mut command = run.send(&["docs", "--json", "--from", &name]);
            command.stdin(std::fs::File::open(input).expect("opened"));
            command.stdout(Stdio::piped()).spawn().expect("started")
        })
        .collect();
    let mut printed = HashSet::new();
    for child in children {
        let output = child.wait_with_output().expect("ended");
        assert_eq!(output.status.code(), Some(0));
        printed.extend(text(&output.stdout).lines().map(str::to_owned));
    }
    let all = requests.all();
    assert_eq!(all.len(), SENDERS * MESSAGES);
    assert_eq!(
        printed.len(),
        SENDERS * MESSAGES,
        "every message has its own id"
    );
    for sender in 0..SENDERS {
        let of_sender = all.iter().filter(|r| r["from"] == format!("s{sender}"));
        let texts: Vec<_> = of_sender.map(|r| r["message"]["content"].clone()).collect();
        let want: Vec<_> = (0..MESSAGES).map(|n| format!("{sender} {n}")).collect();
        assert_eq!(texts, want);
    }
}
