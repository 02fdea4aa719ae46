//! Both ways of reading find the same answer.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use super::*;

const FORMS: [Form; 5] = [
    Form::Auto,
    Form::Stream,
    Form::Summary,
    Form::Report,
    Form::Text,
];

/// Checks that `bytes` give the same answer from both ends, under small limits
/// too; returns it.
fn both(bytes: &[u8], place: &str) -> Answer {
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(bytes).expect("written");
    agree(&file, bytes, place)
}

fn agree(file: &File, bytes: &[u8], place: &str) -> Answer {
    for form in FORMS {
        compare(file, bytes, ReadOptions { form, limit: 300 }, place);
    }
    for limit in [10, 20_000] {
        let form = Form::Auto;
        compare(file, bytes, ReadOptions { form, limit }, place);
    }
    let (form, limit) = (Form::Auto, cr_io::MAX_LINE);
    compare(file, bytes, ReadOptions { form, limit }, place)
}

fn compare(mut file: &File, bytes: &[u8], options: ReadOptions, place: &str) -> Answer {
    file.rewind().expect("rewound");
    let forwards = in_stream(bytes, options).expect("read");
    let backwards = in_file(file, options).expect("read");
    let backwards = backwards.unwrap_or_else(|| forwards.clone());
    assert_eq!(backwards, forwards, "{place}: {options:?}");
    forwards
}

fn fixtures() -> Vec<PathBuf> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures");
    let folders = [
        "captures",
        "session-logs",
        "transcripts/stream-json",
        "transcripts/session-log",
    ];
    let entries = folders.map(|folder| fs::read_dir(format!("{root}/{folder}")).expect("a folder"));
    let paths = entries.into_iter().flatten();
    let mut paths: Vec<_> = paths.map(|entry| entry.expect("a file").path()).collect();
    paths.sort();
    paths
}

#[test]
fn every_recording_gives_the_same_answer_from_both_ends_wherever_it_is_cut() {
    let mut seed = 7_u64;
    let mut answers = 0;
    for path in fixtures() {
        let bytes = fs::read(&path).expect("a recording");
        let place = path.display().to_string();
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(&bytes).expect("written");
        let whole = agree(&file, &bytes, &place);
        answers += usize::from(whole.text.is_some() || whole.structured.is_some());
        let mut cuts: Vec<usize> = (0..6)
            .map(|_| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                usize::try_from(seed >> 33).expect("31 bits") % (bytes.len() + 1)
            })
            .collect();
        cuts.sort_unstable();
        for &cut in cuts.iter().rev() {
            file.set_len(cut as u64).expect("cut");
            agree(&file, &bytes[..cut], &format!("{place}, {cut} bytes"));
        }
    }
    assert!(answers > 150, "{answers} recordings have an answer");
}

#[test]
fn every_cut_of_a_small_stream_gives_the_same_answer_from_both_ends() {
    let report = "[00:00:00] Text: hi\n---CLAUDE-RUNNER-RESULT---\n{\n  \"schema\": 1,\n  \"ok\": true,\n  \
        \"outcome\": \"success\",\n  \"result\": \"one\"\n}\n";
    let stream = "noise\n{\"type\":\"assistant\",\"message\":{\"id\":\"a\",\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}}\n\
        {\"type\":\"assistant\",\"message\":{\"id\":\"a\",\"content\":[{\"type\":\"text\",\"text\":\"y\"}]}}\n\
        {\"type\":\"result\",\"subtype\":\"success\",\"result\":\"two\"}\n\
        {\"type\":\"result\",\"subtype\":\"error_during_execution\",\"num_turns\":0}\n";
    let attempt = "{\"type\":\"cr\",\"subtype\":\"task\",\"state\":\"running\"}\n";
    let tries = format!("{stream}{attempt}{stream}{attempt}noise\n");
    for to in 0..=tries.len() {
        both(&tries.as_bytes()[..to], &format!("..{to}"));
    }
    assert_eq!(both(tries.as_bytes(), "three attempts").text, None);
    let all = format!("{stream}{report}{stream}---CLAUDE-RUNNER-RESULT---\n{{\"a\":1}}\n{report}");
    for from in [0, stream.len(), stream.len() + report.len()] {
        for to in from..=all.len() {
            both(&all.as_bytes()[from..to], &format!("{from}..{to}"));
        }
    }
}

#[test]
fn a_long_line_is_the_same_from_both_ends() {
    for length in [100_000, 131_072, 262_143, 262_144, 262_145, 700_000] {
        let text = "x".repeat(length);
        let said = format!(
            r#"{{"message":{{"id":"m","content":[{{"type":"text","text":"{text}"}}]}},"type":"assistant"}}"#
        );
        let tool = format!(r#"{{"type":"user","message":{{"content":"{text}"}}}}"#);
        let result = r#"{"type":"result","subtype":"success","result":""}"#;
        let answer = both(
            format!("{said}\n{tool}\n{result}\n{tool}").as_bytes(),
            "long",
        );
        assert_eq!(answer.text.as_ref(), Some(&text));
        both(format!("{text}\n{tool}").as_bytes(), "long noise");
        both(text.as_bytes(), "long text");
    }
}

#[test]
fn a_summary_of_a_newer_version_is_refused() {
    let line = br#"{"schema":2,"outcome":"success","ok":{"yes":true},"result":"x"}"#;
    let answer = both(line, "newer");
    let missing = answer.missing.expect("refused");
    assert_eq!(missing.exit(), cr_io::Exit::Config, "{missing}");
}
