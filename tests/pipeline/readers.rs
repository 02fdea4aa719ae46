//! The three readers on inputs that are compressed, or not Claude Code's.

use std::fs;
use std::path::Path;
use std::process::Output;

use cr_test::{fixture, gzip, tool};

const READERS: [&str; 3] = ["cr-summarize", "cr-filter", "cr-extract"];

/// Runs a reader on a file; cr-extract prints the text.
fn on_file(name: &str, file: &Path) -> Output {
    let mut command = tool(name);
    if name == "cr-extract" {
        command.arg("--text");
    }
    command.arg(file).output().expect("run")
}

/// The same on standard input.
fn on_stdin(name: &str, bytes: &[u8]) -> Output {
    let mut command = tool(name);
    if name == "cr-extract" {
        command.arg("--text");
    }
    command.write_stdin(bytes).output().expect("run")
}

/// What a reader says, without the name of the file.
fn told(output: &Output) -> (Option<i32>, String) {
    let text = String::from_utf8_lossy(&output.stdout);
    let transcript = text.find("\"transcript\":").map(|at| {
        let end = at + text[at..].find(",\"").expect("a further field");
        at..end
    });
    let mut text = text.clone().into_owned();
    if let Some(place) = transcript {
        text.replace_range(place, "");
    }
    (output.status.code(), text)
}

#[test]
fn a_compressed_recording_is_read_as_it_was_before() {
    let dir = tempfile::tempdir().expect("a directory");
    for name in ["captures/02-tools.ndjson", "session-logs/03-agent.jsonl"] {
        let plain = fixture(name);
        let bytes = fs::read(&plain).expect("a recording");
        let (head, tail) = bytes.split_at(bytes.len() / 3);
        let members = [gzip(head), gzip(tail)].concat();
        let padded = [&gzip(&bytes)[..], b"\0\0\0\0trailing garbage"].concat();
        for compressed in [gzip(&bytes), members, padded] {
            // The first bytes tell, and not the name.
            let file = dir.path().join("recording");
            fs::write(&file, &compressed).expect("written");
            for reader in READERS {
                let wanted = told(&on_file(reader, &plain));
                assert_eq!(told(&on_file(reader, &file)), wanted, "{reader} {name}");
                // Lines without a time have that of their arrival in a pipe.
                if reader != "cr-filter" {
                    let wanted = told(&on_stdin(reader, &bytes));
                    assert_eq!(told(&on_stdin(reader, &compressed)), wanted, "{reader}");
                }
            }
        }
    }
}

#[test]
fn a_directory_has_its_compressed_recordings_too() {
    let dir = tempfile::tempdir().expect("a directory");
    let stream = fs::read(fixture("captures/01-simple.ndjson")).expect("a recording");
    let log = fs::read(fixture("session-logs/02-tools.jsonl")).expect("a log");
    fs::write(dir.path().join("a.ndjson.gz"), gzip(&stream)).expect("written");
    fs::write(dir.path().join("b.jsonl.gz"), gzip(&log)).expect("written");
    fs::write(dir.path().join("c.txt.gz"), gzip(b"no recording")).expect("written");
    for reader in READERS {
        let output = on_file(reader, dir.path());
        assert_eq!(output.status.code(), Some(0), "{reader}: {output:?}");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            text.contains("a.ndjson.gz") && text.contains("b.jsonl.gz"),
            "{text}"
        );
        assert!(!text.contains("c.txt.gz"), "{text}");
    }
}

#[test]
fn f12_a_compressed_recording_that_is_cut_off_is_no_success() {
    let bytes = fs::read(fixture("captures/02-tools.ndjson")).expect("a recording");
    let compressed = gzip(&bytes);
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("run.ndjson.gz");
    // Without its last bytes only the checksum is missing.
    for missing in [1, 8, 9, 100, compressed.len() / 2, compressed.len() - 12] {
        let cut = &compressed[..compressed.len() - missing];
        fs::write(&file, cut).expect("written");
        for (reader, code) in [("cr-summarize", 6), ("cr-filter", 65), ("cr-extract", 65)] {
            for output in [on_file(reader, &file), on_stdin(reader, cut)] {
                let place = format!("{reader}, {missing} missing: {output:?}");
                assert_eq!(output.status.code(), Some(code), "{place}");
                let lines = String::from_utf8_lossy(&output.stdout).lines().count();
                let is_shown = reader != "cr-filter" || missing > 100 || lines > 10;
                assert!(is_shown, "{place}");
            }
        }
    }
}

#[test]
fn damaged_compressed_data_is_refused() {
    let bytes = fs::read(fixture("captures/02-tools.ndjson")).expect("a recording");
    let mut compressed = gzip(&bytes);
    let checksum = compressed.len() - 8;
    compressed[checksum] ^= 0xff;
    for reader in READERS {
        let output = on_stdin(reader, &compressed);
        assert_eq!(output.status.code(), Some(65), "{reader}: {output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("damaged gzip data"), "{said}");
    }
}

#[test]
fn recordings_of_other_programs_are_named_by_every_reader() {
    #[rustfmt::skip]
    let cases: [(&[u8], &str); 8] = [
        (b"{\"type\":\"thread.started\",\"thread_id\":\"t\"}\n{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"hi\"}}\n", "Codex"),
        (b"{\"timestamp\":\"2026-01-01T00:00:00Z\",\"type\":\"session_meta\",\"payload\":{\"id\":\"x\"}}\n", "Codex"),
        (b"{\"type\":\"step_start\",\"timestamp\":1,\"sessionID\":\"ses_1\",\"part\":{}}\n", "opencode"),
        (b"{\"type\":\"init\",\"session_id\":\"g\",\"model\":\"gemini\"}\n{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"hi\"}\n{\"type\":\"result\",\"status\":\"success\",\"stats\":{}}\n", "Gemini CLI"),
        (b"{\"type\":\"assistant\",\"sessionId\":\"q\",\"message\":{\"role\":\"model\",\"parts\":[{\"text\":\"hi\"}]}}\n", "Qwen Code"),
        // Its stream has Claude Code's lines, and calls an error of the API a good result.
        (b"{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"80f8ae6e-b027-4253-8e9c-1ffd717366a1\",\"model\":\"m\",\"qwen_code_version\":\"0.21.5\"}\n{\"type\":\"stream_event\",\"event\":{\"type\":\"goal_state\"}}\n{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"[API Error: 403]\"}]}}\n{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"[API Error: 403]\"}\n", "Qwen Code"),
        (b"\x28\xb5\x2f\xfd\x24\x00\x01\x00\x00", "a zstd file"),
        (b"\xfd7zXZ\x00\x00\x04", "an xz file"),
    ];
    for (bytes, name) in cases {
        for reader in READERS {
            let output = on_stdin(reader, bytes);
            let said = [&output.stdout[..], &output.stderr].concat();
            let said = String::from_utf8_lossy(&said);
            assert_eq!(output.status.code(), Some(65), "{reader}, {name}: {said}");
            assert!(said.contains(name), "{reader}: {said}");
        }
        let output = on_stdin("cr-extract", &[bytes, b"\n"].concat());
        assert_eq!(output.stdout, b"", "no answer is made up");
    }
}

#[test]
fn json_of_an_answer_is_no_recording_of_another_program() {
    let answers = [
        r#"{"payload":1}"#,
        r#"{"type":"message","text":"hi"}"#,
        r#"{"type":"init"}"#,
        r#"{"stats":{"a":1}}"#,
    ];
    for answer in answers {
        let output = tool("cr-extract")
            .write_stdin(answer)
            .output()
            .expect("run");
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim_end(), answer);
    }
}

#[test]
fn a_file_of_another_program_does_not_stop_the_others() {
    let dir = tempfile::tempdir().expect("a directory");
    let codex = b"{\"type\":\"thread.started\",\"thread_id\":\"t\"}\n";
    fs::write(dir.path().join("a.jsonl"), codex).expect("written");
    let good = fixture("captures/01-simple.ndjson");
    fs::copy(good, dir.path().join("b.ndjson")).expect("copied");
    let output = on_file("cr-filter", dir.path());
    assert_eq!(output.status.code(), Some(65));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("a.jsonl: no line is Claude Code's"), "{said}");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("Done: success"), "{text}");
}
