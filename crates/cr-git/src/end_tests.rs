//! The stream passes unchanged, for all contents and all ways to cut it.

use std::io::{self, Read};
use std::time::Duration;

use super::{EndOptions, pass};
use crate::agent_commits::AgentCommits;
use crate::compare::{Base, RunStart};

/// Hands out the bytes in pieces of any size.
struct Pieces<'a> {
    bytes: &'a [u8],
    chance: Chance,
    largest: usize,
}

impl Read for Pieces<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.chance.below(8) == 0 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let most = 1 + self.chance.below(self.largest);
        let n = most.min(buf.len()).min(self.bytes.len());
        buf[..n].copy_from_slice(&self.bytes[..n]);
        self.bytes = &self.bytes[n..];
        Ok(n)
    }
}

/// Numbers that look random and are the same every time.
#[derive(Clone)]
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("31 bits") % end
    }

    fn line(&mut self) -> Vec<u8> {
        let any = |chance: &mut Self, length: usize| -> Vec<u8> {
            let byte = |_| u8::try_from(chance.below(256)).expect("a byte");
            (0..length).map(byte).filter(|&b| b != b'\n').collect()
        };
        match self.below(12) {
            0 => Vec::new(),
            1 => b"\r".to_vec(),
            2 => br#"{"type":"assistant","message":{"text":"\ud83d \"cr\""}}"#.to_vec(),
            3 => br#"{"type":"cr","subtype":"git","phase":"start","cwd":1}"#.to_vec(),
            4 => br#"{"type":"cr","subtype":"start","run_id":"r"}"#.to_vec(),
            5 => br#"{"type":"cr","subtype":"exit","reason":"exited"}"#.to_vec(),
            6 => br#"{"type":"cr","subtype":"exi"#.to_vec(),
            7 => {
                let length = (100 << 10) + self.below(200 << 10);
                let start: &[u8] = match self.below(3) {
                    0 => br#"{"type":"cr","subtype":"noise","line":""#,
                    1 => br#"{"type":"user","x":""#,
                    _ => b"",
                };
                [start, &vec![b'x'; length]].concat()
            }
            _ => {
                let length = self.below(300);
                any(self, length)
            }
        }
    }
}

/// What `end` makes of `input`, with no repository to ask about.
fn passed(input: impl Read) -> Vec<u8> {
    let options = EndOptions {
        began: RunStart {
            base: Base::Unknown,
            seen: None,
        },
        cwd: "/nonexistent/directory".into(),
        agent_commits: AgentCommits::new(None),
        run_id: None,
        run_dir: None,
        limit: Duration::MAX,
    };
    let mut out = Vec::new();
    pass(options, input, &mut out, io::sink()).expect("passed");
    out
}

/// `out` without the lines of ours that are not in the input, and how many
/// there were.
fn without_ours(out: &[u8]) -> (Vec<u8>, usize) {
    let lines = out.split_inclusive(|&b| b == b'\n');
    let ours = |line: &[u8]| {
        let head = br#"{"type":"cr","subtype":"git","at":""#;
        line.starts_with(head) && line.ends_with(b"\n")
    };
    let (mut rest, mut count) = (Vec::new(), 0);
    for line in lines {
        if ours(line) {
            count += 1;
        } else {
            rest.extend_from_slice(line);
        }
    }
    (rest, count)
}

#[test]
fn a1_every_stream_passes_byte_for_byte_and_gets_its_line() {
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    for round in 0..600 {
        let mut input = Vec::new();
        for _ in 0..chance.below(12) {
            input.extend(chance.line());
            input.push(b'\n');
        }
        let tail = if chance.below(2) == 0 {
            chance.line()
        } else {
            Vec::new()
        };
        input.extend(&tail);
        let largest = [1, 7, 100, 4096, 1 << 20][chance.below(5)];
        let largest = if input.len() > 10_000 {
            largest.max(4096)
        } else {
            largest
        };
        let pieces = Pieces {
            bytes: &input,
            chance: chance.clone(),
            largest,
        };
        let out = passed(pieces);
        let (rest, count) = without_ours(&out);
        assert_eq!(count, 1, "round {round}");
        // A long tail has left before its end is seen; ours needs a line.
        let mut expected = input.clone();
        let ends = rest.len() == input.len() + 1 && tail.len() > (128 << 10);
        expected.extend(ends.then_some(b'\n'));
        assert!(rest == expected, "round {round}");
    }
}

#[test]
fn the_line_comes_right_before_the_exit_or_at_the_end() {
    let exit = r#"{"type":"cr","subtype":"exit"}"#;
    let cases = [
        (format!("a\n{exit}\n"), "a\n", format!("{exit}\n")),
        (format!("a\n{exit}"), "a\n", exit.to_owned()),
        (format!("{exit}\nlate\n"), "", format!("{exit}\nlate\n")),
        (format!("{exit}\n{exit}\n"), "", format!("{exit}\n{exit}\n")),
        ("a\nb\n".to_owned(), "a\nb\n", String::new()),
        ("a\ntorn".to_owned(), "a\n", "torn".to_owned()),
        (String::new(), "", String::new()),
    ];
    for (input, before, after) in cases {
        let out = String::from_utf8(passed(input.as_bytes())).expect("text");
        let rest = out.strip_prefix(before).expect("the start");
        let ours = rest.strip_suffix(&*after).expect("the end");
        assert!(
            ours.starts_with(r#"{"type":"cr","subtype":"git""#),
            "{ours}"
        );
        assert_eq!(ours.matches('\n').count(), 1, "{ours}");
        assert!(ours.ends_with("}\n"), "{ours}");
    }
}
