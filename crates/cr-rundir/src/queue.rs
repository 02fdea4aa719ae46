//! The messages of a run.

use std::collections::HashMap;

use crate::questions::lines;
use crate::{QueueLine, RunDir, file};

/// How many messages wait: they were accepted, and the agent has not taken them
/// up.
pub fn waiting_messages(dir: &RunDir) -> anyhow::Result<u64> {
    let mut waits: HashMap<String, bool> = HashMap::new();
    for line in lines::<QueueLine>(dir, file::QUEUE)? {
        let is_waiting = matches!(&*line.state, "queued" | "sent");
        waits.insert(line.id, is_waiting);
    }
    Ok(waits.into_values().filter(|waits| *waits).count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_waits_until_the_agent_takes_it_up() {
        let top = tempfile::tempdir().expect("a directory");
        let text = concat!(
            r#"{"schema":1,"id":"a","at":"t","state":"queued"}"#,
            "\n",
            r#"{"schema":1,"id":"b","at":"t","state":"queued"}"#,
            "\n",
            r#"{"schema":1,"id":"c","at":"t","state":"queued"}"#,
            "\n",
            r#"{"schema":1,"id":"a","at":"t","state":"started"}"#,
            "\n",
            r#"{"schema":1,"id":"b","at":"t","state":"sent"}"#,
            "\n",
            r#"{"schema":1,"id":"c","at":"t","sta"#,
        );
        let dir = RunDir::existing(top.path()).expect("opened");
        assert_eq!(waiting_messages(&dir).expect("read"), 0);
        std::fs::write(top.path().join(file::QUEUE), text).expect("written");
        assert_eq!(waiting_messages(&dir).expect("read"), 2);
    }
}
