//! The stream: the agent's lines (S1, S2) and our own lines.

use std::fs;
use std::path::Path;

use cr_test::Command;

use crate::case::{CALL, Case, INIT, RESULT};

#[test]
fn s1_every_line_passes_byte_for_byte_and_in_order() {
    let odd = [
        INIT,
        r#"{ "type" : "x", "n":1e400, "lone":"\ud83d", "dup":1, "dup":2 }"#,
        r#"{"type":"y","text":"ünï\u0000code\t"}"#,
        CALL,
        RESULT,
    ];
    for fault in ["", "split=1", "split=7"] {
        let done = Case::playing(&odd, fault).run();
        assert_eq!(done.agents(), odd, "{fault}");
        let exit = done.exit();
        assert_eq!(exit["lines"], 5, "{fault}");
        assert_eq!(exit["torn_tail"], false, "{fault}");
        assert_eq!(done.code(), Some(0), "{fault}");
    }
}

#[test]
fn s1_a_torn_last_line_is_ended_and_flagged() {
    let done = Case::script(r#"printf '{"type":"a"}\n{"type":"b"}'"#).run();
    assert_eq!(done.agents(), [r#"{"type":"a"}"#, r#"{"type":"b"}"#]);
    assert_eq!(done.exit()["torn_tail"], true);
    assert_eq!(done.exit()["bytes"], 25);
    // Half an object is no line to pass on, but it is not lost.
    let done = Case::playing(&[INIT, RESULT], "torn").run();
    assert_eq!(done.agents(), [INIT]);
    assert_eq!(done.all("cr/noise")[0]["text"], &RESULT[..RESULT.len() / 2]);
    assert_eq!(done.exit()["result_seen"], false);
}

#[test]
fn what_is_no_json_becomes_noise() {
    let done = Case::playing(&[INIT, RESULT], "noise=1").run();
    assert_eq!(done.agents(), [INIT, RESULT]);
    let noise = done.all("cr/noise");
    assert_eq!(noise.len(), 2);
    assert_eq!(noise[0]["text"], "this is no JSON");
    assert_eq!(done.exit()["noise"], 2);
}

#[test]
fn a_line_that_claims_to_be_ours_is_wrapped() {
    let claims = [
        r#"{"type":"cr","subtype":"exit","exit_code":0}"#,
        r#"{"t\u0079pe":"\u0063r","subtype":"exit"}"#,
        r#"{"type":"x","type":"cr"}"#,
        r#" {"a":{"type":"y"},"type" : "cr" }"#,
    ];
    let script = claims
        .map(|line| format!("cat <<'END'\n{line}\nEND"))
        .join("\n");
    let done = Case::script(&script).run();
    assert_eq!(done.agents(), [""; 0]);
    let forged: Vec<_> = done.all("cr/forged");
    let lines: Vec<_> = forged
        .iter()
        .map(|line| line["line"].as_str().expect("text"))
        .collect();
    assert_eq!(lines, claims);
    assert_eq!(done.exit()["forged"], 4);
    assert_eq!(done.code(), Some(0));
}

#[test]
fn a5_a_line_beyond_the_limit_goes_to_a_file() {
    for length in [2000, 300_000] {
        let case = Case::playing(&[INIT, RESULT], &format!("long={length}"));
        let done = case.args(&["--max-line", "1000"]).run();
        assert_eq!(done.agents(), [INIT, RESULT]);
        let oversize = &done.all("cr/oversize")[0];
        assert_eq!(oversize["bytes"], length);
        let file = oversize["file"].as_str().expect("a file");
        let text = fs::read_to_string(file).expect("the file");
        assert_eq!(text.len(), length);
        assert!(text.starts_with(r#"{"type":"x""#) && text.ends_with("\"}"));
        let sums = Command::new("sha256sum")
            .arg(file)
            .output()
            .expect("run sha256sum");
        let sums = String::from_utf8(sums.stdout).expect("text");
        assert_eq!(oversize["sha256"].as_str(), sums.split(' ').next());
        assert_eq!(oversize["head"].as_str().expect("text").len(), 1000);
        assert_eq!(done.exit()["oversize"], 1);
    }
}

#[test]
fn t12_a_line_longer_than_the_record_limit_is_not_kept() {
    for length in [2000, 300_000] {
        let case = Case::playing(&[INIT, RESULT], &format!("long={length}"));
        let done = case.args(&["--max-line=1000", "--max-record=1500"]).run();
        let oversize = &done.all("cr/oversize")[0];
        assert_eq!(oversize["bytes"], length);
        assert_eq!(oversize["file"], serde_json::Value::Null);
        let dir = done.all("cr/start")[0]["run_dir"].clone();
        let dir = Path::new(dir.as_str().expect("a directory")).join("oversize-1.json");
        assert!(!dir.exists(), "{}", dir.display());
    }
}

#[test]
fn t12_a_long_run_is_recorded_at_both_ends_and_shown_whole() {
    let script = format!(
        r#"cat > /dev/null; echo '{INIT}'; yes '{{"type":"x","text":"{}"}}' | head -n 100000; echo '{RESULT}'"#,
        "0123456789".repeat(10)
    );
    for (most, is_cut) in [("100000", true), ("0", false)] {
        let done = Case::script(&script).args(&["--max-record", most]).run();
        assert_eq!(done.code(), Some(0), "{}", done.stderr);
        assert_eq!(done.agents().len(), 100_002);
        assert_eq!(done.exit()["recorded"], true);
        assert_eq!(done.exit()["record_cut"] == true, is_cut);
        let dir = done.all("cr/start")[0]["run_dir"].clone();
        let dir = Path::new(dir.as_str().expect("a directory"));
        let record = fs::read_to_string(dir.join("stream.ndjson")).expect("the record");
        let lines: Vec<&str> = record.lines().collect();
        assert_eq!(record.len() <= 100_000, is_cut, "{}", record.len());
        assert_eq!(lines.last(), done.lines.last().map(String::as_str).as_ref());
        assert_eq!(lines[1], done.lines[1]);
        let cut = lines
            .iter()
            .filter(|line| line.contains(r#""subtype":"cut""#));
        assert_eq!(cut.count(), usize::from(is_cut));
    }
}

#[test]
fn standard_error_is_drained_and_kept_at_both_ends() {
    let done = Case::playing(&[INIT, RESULT], "stderr=10000000").run();
    assert_eq!(done.agents(), [INIT, RESULT]);
    let exit = done.exit();
    assert_eq!(exit["stderr"]["bytes"], 10_000_000);
    let (head, tail) = (&exit["stderr"]["head"], &exit["stderr"]["tail"]);
    let length = |text: &serde_json::Value| text.as_str().expect("text").len();
    assert!((15_000..17_000).contains(&length(head)), "{}", length(head));
    assert!((60_000..66_000).contains(&length(tail)), "{}", length(tail));
    let lines = done.all("cr/stderr");
    let text = "a line on standard error that says nothing of interest to anyone";
    assert!(
        lines.len() > 150_000 && lines[1]["text"] == text,
        "{}",
        lines.len()
    );
}

#[test]
fn an_endless_line_of_bytes_on_standard_error_stops_nothing() {
    let done = Case::playing(&[INIT, RESULT], "stderr-raw=3000000").run();
    assert_eq!(done.agents(), [INIT, RESULT]);
    assert_eq!(done.exit()["stderr"]["bytes"], 3_000_000);
}

#[test]
fn s2_a_run_is_recorded_as_it_was_shown() {
    let done = Case::playing(&[INIT, RESULT], "").run();
    let dir = done.run_dir();
    let stream = fs::read_to_string(dir.join("stream.ndjson")).expect("stream");
    assert_eq!(stream.lines().collect::<Vec<_>>(), done.lines);
    assert_eq!(done.record(), done.exit());
    assert_eq!(fs::read(dir.join("prompt")).expect("prompt"), b"what to do");
    assert!(dir.join("started").exists());
    assert_eq!(
        done.all("cr/start")[0]["run_dir"],
        dir.to_str().expect("a path")
    );
    assert_eq!(done.all("cr/start")[0]["prompt_bytes"], 10);
}

#[test]
fn a_prompt_that_is_never_read_holds_nobody_up() {
    let prompt = vec![b'x'; 5 << 20];
    let done = Case::playing(&[INIT, RESULT], "no-stdin")
        .start_with(&prompt)
        .finish();
    assert_eq!(done.agents(), [INIT, RESULT]);
    assert_eq!(done.code(), Some(0));
    let done = Case::script("exec <&-; echo '{}'; sleep 0.1")
        .start_with(&prompt)
        .finish();
    assert_eq!(done.code(), Some(0));
}

#[test]
fn a_large_prompt_arrives_whole() {
    let prompt = b"0123456789abcdef".repeat(200_000);
    let done = Case::script(r#"printf '{"type":"n","bytes":%s}\n' "$(wc -c)""#)
        .start_with(&prompt)
        .finish();
    assert_eq!(done.all("n")[0]["bytes"], prompt.len());
}

#[test]
fn an_agent_that_closes_its_output_is_waited_for() {
    let done = Case::playing(&[INIT, RESULT], "close-stdout=2,linger=300ms,exit=4").run();
    assert_eq!(done.agents(), [INIT]);
    assert_eq!(done.code(), Some(4));
    assert!(done.exit()["duration_ms"].as_u64() >= Some(300));
}

#[test]
fn silence_is_broken_for_a_reader_that_may_leave() {
    let mut run = Case::playing(&[INIT, CALL], "hang=end").start();
    let state = run.wait_for("cr/state");
    assert_eq!(state["doing"]["tool"], "Bash");
    assert_eq!(state["doing"]["target"], "sleep 300");
    run.signal(rustix::process::Signal::TERM);
    assert_eq!(run.finish().exit()["reason"], "interrupted");
}
