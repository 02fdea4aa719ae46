//! Lines that nobody should write.

use std::io::{self, Read};

use cr_session_log::{FactOf, Resume, scan};

use crate::support::{Random, facts, recorded, scanned};

const ANSWER: &str = r#"{"type":"assistant","message":{"id":"m","usage":{"input_tokens":5}}}"#;

#[test]
fn lines_that_are_no_objects_are_counted_and_stop_nothing() {
    let deep = "[".repeat(100_000);
    let nested = format!("{{\"a\":{}{}}}", "[".repeat(500), "]".repeat(500));
    let cut = &ANSWER[..ANSWER.len() - 1];
    let twice = format!("{ANSWER}{ANSWER}");
    let bad = [
        "x",
        "7",
        "[]",
        "\0\0\0",
        "{",
        "{}}",
        cut,
        &twice,
        &deep,
        "\u{feff}x",
        "{\"type\":}",
    ];
    let good = ["", "  ", "{}", "\u{feff}{}", &nested];
    let mut log = String::new();
    for line in bad.iter().chain(&good) {
        log.push_str(&format!("{line}\n{ANSWER}\r\n"));
    }
    let (facts, scanned) = scanned(log.as_bytes(), &Resume::default());
    assert_eq!(facts.len(), bad.len() + good.len());
    assert_eq!(scanned.bad_lines, bad.len() as u64);
    assert_eq!(scanned.offset, log.len() as u64);
}

#[test]
fn values_of_another_type_are_missing_values() {
    let lines = [
        r#"{"type":7,"message":{"usage":{}}}"#,
        r#"{"type":"assistant","message":"x"}"#,
        r#"{"type":"assistant","message":{"usage":null}}"#,
        r#"{"type":"assistant","message":{"content":[7,"x",null,{"type":"tool_use","id":7,"name":"x"}]}}"#,
        r#"{"type":"user","message":{"content":[{"type":"tool_result","is_error":true,"tool_use_id":null}]}}"#,
        r#"{"type":"progress","data":{"type":"agent_progress","message":7}}"#,
        r#"{"type":"progress","data":{"type":"agent_progress","message":{"type":"progress"}}}"#,
        r#"{"subtype":"compact_boundary"}"#,
    ];
    for line in lines {
        assert_eq!(facts(format!("{line}\n").as_bytes()), [], "{line}");
    }
    let odd = r#"{"type":"assistant","timestamp":7,"uuid":[],"message":{"id":{},"usage":{"input_tokens":-1,"output_tokens":1e30}}}"#;
    let facts = facts(format!("{odd}\n").as_bytes());
    let [FactOf::Message(message)] = &facts[..] else {
        panic!("{facts:?}");
    };
    assert_eq!(
        (&*message.message_id, message.at),
        ("line::0:0:18446744073709551615:0:0", None)
    );
    assert_eq!((message.usage.input, message.usage.output), (0, u64::MAX));
}

#[test]
fn text_that_looks_like_a_fact_is_none() {
    let text = serde_json::Value::from(ANSWER);
    let lines = [
        format!(
            r#"{{"type":"attachment","attachment":{{"type":"assistant","message":{ANSWER}}}}}"#
        ),
        format!(r#"{{"type":"summary","text":{text}}}"#),
        format!(
            r#"{{"type":"queue-operation","message":{{"id":"m","usage":{{"input_tokens":1}}}},"x":{text}}}"#
        ),
    ];
    for line in lines {
        assert_eq!(facts(format!("{line}\n").as_bytes()), [], "{line}");
    }
    let hidden = r#"{"\u0074ype":"\u0061ssistant","m\u0065ssage":{"\u0069d":"\u006d","us\u0061ge":{"input\u005ftokens":5}}}"#;
    let facts = facts(format!("{hidden}\n").as_bytes());
    assert!(
        matches!(&facts[..], [FactOf::Message(m)] if m.message_id == "m" && m.usage.input == 5)
    );
}

#[test]
fn no_byte_that_is_changed_or_missing_makes_it_fail() {
    let mut random = Random(7);
    for (_, log) in recorded() {
        for line in log.split(|&b| b == b'\n').filter(|line| line.len() < 5000) {
            let mut line = line.to_vec();
            for _ in 0..random.below(4) {
                if !line.is_empty() {
                    let place = random.below(line.len());
                    line[place] = b"\"\\{}[],:u\x00\xff0"[random.below(12)];
                }
            }
            line.truncate(random.below(line.len() + 1).max(line.len() / 2));
            line.push(b'\n');
            let _ = facts(&line);
        }
    }
}

/// One line of so many bytes that it is not to be held.
struct LongLine {
    left: usize,
}

impl Read for LongLine {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let length = buf.len().min(self.left);
        buf[..length].fill(b'x');
        self.left -= length;
        Ok(length)
    }
}

#[test]
fn a_line_over_64_mib_is_passed_and_the_next_one_is_read() {
    let length = (64 << 20) + 1;
    let tail = format!("\n{ANSWER}\n");
    let reader = LongLine { left: length }.chain(tail.as_bytes());
    let mut count = 0;
    let mut sink = |_: cr_session_log::Fact<'_>| count += 1;
    let scanned = scan(reader, &Resume::default(), &mut sink).expect("scanned");
    assert_eq!((count, scanned.long_lines, scanned.lines), (1, 1, 2));
    assert_eq!(scanned.offset, (length + tail.len()) as u64);
    let torn = LongLine { left: length };
    let mut ignored = |_: cr_session_log::Fact<'_>| ();
    let scanned = scan(torn, &Resume::default(), &mut ignored).expect("scanned");
    assert_eq!((scanned.offset, scanned.lines), (0, 0));
}
