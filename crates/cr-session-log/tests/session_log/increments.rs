//! A log that is read in parts.

use cr_io::Trickle;
use cr_session_log::{Fact, Resume, scan};

use crate::support::{Owned, recorded, scanned};

/// The facts of `log`, of which `length` bytes come at a time.
fn by_steps(log: &[u8], length: usize) -> (Vec<Owned>, u64) {
    let mut facts = Vec::new();
    let mut sink = |fact: Fact<'_>| facts.push(fact.map(str::to_owned));
    let trickle = Trickle::new(log, length);
    let scanned = scan(trickle, &Resume::default(), &mut sink).expect("scanned");
    (facts, scanned.offset)
}

#[test]
fn the_same_facts_however_the_input_is_cut_into_reads() {
    for (path, log) in recorded().into_iter().filter(|(_, log)| log.len() < 60_000) {
        let (facts, offset) = by_steps(&log, usize::MAX);
        for length in [1, 2, 7, 4096] {
            let cut = by_steps(&log, length);
            assert_eq!(cut, (facts.clone(), offset), "{} {length}", path.display());
        }
    }
}

/// The places before and behind each newline, and the end.
fn around_newlines(log: &[u8]) -> Vec<usize> {
    let newlines = (0..log.len()).filter(|&place| log[place] == b'\n');
    let around = newlines.flat_map(|place| [place.saturating_sub(1), place, place + 1]);
    around.chain([log.len()]).collect()
}

#[test]
fn a_last_line_is_read_once_it_is_whole_with_or_without_its_newline() {
    let line = r#"{"type":"user","sessionId":"s","message":{"content":"go"}}"#;
    for length in 0..line.len() {
        let (facts, scanned) = scanned(&line.as_bytes()[..length], &Resume::default());
        assert_eq!(
            (facts.len(), scanned.offset, scanned.lines),
            (0, 0, 0),
            "{length}"
        );
    }
    let (facts, scanned) = scanned(line.as_bytes(), &Resume::default());
    assert_eq!((facts.len(), scanned.lines), (1, 1));
    assert_eq!(scanned.offset, line.len() as u64);
}

#[test]
fn a_log_that_grows_gives_what_the_whole_gives_wherever_it_was_left() {
    let start = Resume::default();
    for (path, log) in recorded().into_iter().filter(|(_, log)| log.len() < 40_000) {
        let (facts, whole) = scanned(&log, &start);
        for cut in (0..log.len()).step_by(53).chain(around_newlines(&log)) {
            let (mut parts, first) = scanned(&log[..cut], &start);
            let left = usize::try_from(first.offset).expect("small");
            assert!(left <= cut);
            let rest = Resume {
                offset: first.offset,
                head: first.head,
                agent_id: None,
            };
            let (more, second) = scanned(&log[left..], &rest);
            parts.extend(more);
            assert_eq!(parts, facts, "{} {cut}", path.display());
            assert_eq!(second.offset, whole.offset);
            assert_eq!(second.head, whole.head);
            assert_eq!(first.lines + second.lines, whole.lines);
        }
    }
}

#[test]
fn the_head_says_the_session_the_first_time_and_the_directory() {
    let recorded = recorded();
    let fork = recorded
        .iter()
        .find(|(path, _)| path.ends_with("07-fork.jsonl"));
    let (_, scanned) = scanned(&fork.expect("a fork").1, &Resume::default());
    let session = scanned.head.session_id.as_deref();
    assert_eq!(session, Some("b5c7e93d-c21a-4fb5-be88-dfdc73334d3f"));
    assert_eq!(scanned.head.cwd.as_deref(), Some("/home/dev/res"));
    assert_eq!(scanned.head.first_at, Some(1_794_961_500_193));
    assert_eq!(scanned.bad_lines, 0);
}
