//! Random bytes cause no panic and no long sentence.

use super::{bare, error_of, exit, silent};
use cr_verdict::{Evidence, classify, judge, reset_time};
use jiff::Timestamp;

/// A small generator of its own: the same noise on every machine.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        let n = u64::try_from(n).expect("small");
        usize::try_from(self.next() % n).expect("small")
    }

    fn bytes(&mut self) -> String {
        let bytes: Vec<u8> = (0..self.below(200))
            .map(|_| self.next().to_le_bytes()[0])
            .collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Pieces of what is understood, in an order that nobody meant.
    fn pieces(&mut self) -> String {
        const PIECES: [&str; 32] = [
            "resets ",
            "reset",
            "at ",
            "in ",
            "3",
            "12",
            "pm",
            "am",
            ":",
            "30",
            "(",
            ")",
            "UTC",
            "+",
            "-",
            "99999999999",
            "Europe/Paris",
            "Dec ",
            "Feb ",
            "29",
            "Mon",
            "|",
            "1700000000",
            " ",
            ",",
            "é",
            "\u{202f}",
            "429",
            "HTTP ",
            "rate",
            "limit",
            "2026-02-",
        ];
        (0..self.below(24))
            .map(|_| PIECES[self.below(PIECES.len())])
            .collect()
    }
}

#[test]
fn noise_never_panics_and_every_sentence_stays_short() {
    let now: Timestamp = "2026-02-28T23:59:59Z".parse().expect("a timestamp");
    let mut noise = Noise(0x9e37_79b9_7f4a_7c15);
    for n in 0..5_000 {
        let text = if n % 2 == 0 {
            noise.bytes()
        } else {
            noise.pieces()
        };
        let _ = classify(&text);
        let _ = reset_time(&text, now);
        let failed = Evidence {
            stderr: &text,
            exit: Some(exit("exit", 1)),
            ..silent()
        };
        for evidence in [bare(error_of("error_during_execution", &text)), failed] {
            let verdict = judge(&evidence);
            for sentence in [&verdict.why, &verdict.next] {
                assert!(sentence.chars().count() <= 200, "{text:?}: {sentence}");
                assert!(!sentence.contains(char::is_control), "{text:?}: {sentence}");
            }
        }
    }
}

#[test]
fn a_huge_text_is_read_only_at_its_head() {
    let text = "é".repeat(10_000_000);
    let _ = classify(&text);
    let _ = reset_time(&text, Timestamp::UNIX_EPOCH);
    let verdict = judge(&bare(error_of("error_during_execution", &text)));
    assert!(verdict.why.chars().count() <= 200);
}
