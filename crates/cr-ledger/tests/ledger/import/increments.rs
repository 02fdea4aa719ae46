//! What changed since the last import is read, and nothing else.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;

use super::logs::{answer, text};
use crate::case::Case;

fn append(path: &Path, text: &str) {
    let mut file = File::options().append(true).open(path).expect("opened");
    file.write_all(text.as_bytes()).expect("written");
}

#[test]
fn a_log_that_grew_is_read_from_where_it_was_left() {
    let case = Case::new();
    let path = case.put("p/s.jsonl", &[answer("s", "a", 1)]);
    case.import();
    let more = text(&[answer("s", "b", 2), answer("s", "a", 9)]);
    append(&path, &more);
    let said = case.import();
    assert_eq!(
        (&said["files"], &said["messages"]),
        (&json!(1), &json!(1)),
        "{said}"
    );
    assert_eq!(said["bytes"], more.len(), "{said}");
    assert_eq!(case.counted(), (2, 11));
    let said = case.import();
    assert_eq!(
        (&said["files"], &said["unchanged"]),
        (&json!(0), &json!(1)),
        "{said}"
    );
}

#[test]
fn a_log_that_did_not_change_is_not_opened() {
    let case = Case::new();
    let path = case.put("p/s.jsonl", &[answer("s", "a", 1)]);
    case.import();
    // Other bytes of the same length, in the same file, of the same time.
    let time = fs::metadata(&path)
        .expect("there")
        .modified()
        .expect("a time");
    fs::write(&path, text(&[answer("s", "z", 7)])).expect("written");
    let file = File::options().write(true).open(&path).expect("opened");
    file.set_modified(time).expect("set");
    assert_eq!(case.import()["unchanged"], 1);
    assert_eq!(case.counted(), (1, 1));
}

#[test]
fn a_log_that_was_replaced_or_cut_is_read_anew() {
    let case = Case::new();
    let first = [answer("s", "a", 1), answer("s", "b", 2)];
    let path = case.put("p/s.jsonl", &first);
    case.import();
    // Shorter.
    case.put("p/s.jsonl", &[answer("s", "c", 4)]);
    assert_eq!(case.import()["bytes"], text(&[answer("s", "c", 4)]).len());
    assert_eq!(case.counted(), (3, 7));
    // Another file, longer.
    let other = case.path("other");
    let lines = [
        answer("s", "d", 8),
        answer("s", "e", 16),
        answer("s", "a", 1),
    ];
    fs::write(&other, text(&lines)).expect("written");
    fs::rename(&other, &path).expect("replaced");
    assert_eq!(case.import()["bytes"], text(&lines).len());
    assert_eq!(case.counted(), (5, 31));
}

#[test]
fn what_was_imported_stays_when_the_log_is_deleted() {
    let case = Case::new();
    let path = case.put("p/s.jsonl", &[answer("s", "a", 1)]);
    case.put("p/t.jsonl", &[answer("t", "b", 2)]);
    case.import();
    fs::remove_file(path).expect("removed");
    assert_eq!(case.import()["unchanged"], 1);
    assert_eq!(case.counted(), (2, 3));
}

#[test]
fn a_line_that_is_not_whole_is_imported_when_it_is() {
    let case = Case::new();
    let whole = text(&[answer("s", "a", 1), answer("s", "b", 2)]);
    let path = case.log_path("p/s.jsonl");
    fs::write(&path, &whole[..whole.len() - 20]).expect("written");
    let said = case.import();
    assert_eq!(
        (&said["messages"], &said["bad_lines"]),
        (&json!(1), &json!(0)),
        "{said}"
    );
    append(&path, &whole[whole.len() - 20..]);
    assert_eq!(case.import()["messages"], 1);
    assert_eq!(case.counted(), (2, 3));
}

#[test]
fn a_compressed_log_is_read_and_counts_no_message_again() {
    let case = Case::new();
    let path = case.put("p/s.jsonl", &[answer("s", "a", 1)]);
    case.import();
    let log = text(&[answer("s", "a", 1), answer("s", "b", 2)]);
    let mut zipped = GzEncoder::new(Vec::new(), Compression::fast());
    zipped.write_all(log.as_bytes()).expect("written");
    let zipped = zipped.finish().expect("finished");
    fs::write(path.with_extension("jsonl.gz"), zipped).expect("written");
    fs::remove_file(path).expect("removed");
    let said = case.import();
    assert_eq!(
        (&said["messages"], &said["bytes"]),
        (&json!(1), &json!(log.len())),
        "{said}"
    );
    assert_eq!(case.counted(), (2, 3));
}

#[test]
fn a_dry_run_says_what_would_be_read_and_makes_no_ledger() {
    let case = Case::new();
    case.put("p/s.jsonl", &[answer("s", "a", 1)]);
    let done = case.ok(&["import", "--dry-run"]);
    assert!(done.out.starts_with("would read 1 log ("), "{done:?}");
    assert!(!case.path("ledger.db").exists());
    case.import();
    case.put("p/t.jsonl", &[answer("t", "b", 1)]);
    let said = case.ok(&["import", "--dry-run", "--json"]).rows().remove(0);
    assert_eq!(
        (&said["files"], &said["unchanged"]),
        (&json!(1), &json!(1)),
        "{said}"
    );
    assert_eq!(said["messages"], json!(null));
    assert_eq!(case.counted(), (1, 1));
}

#[test]
fn the_last_line_says_what_was_read() {
    let case = Case::new();
    let lines = [answer("s", "a", 1)];
    case.put("p/s.jsonl", &lines);
    let done = case.ok(&["import"]);
    let bytes = text(&lines).len();
    let expected = format!("read 1 log ({bytes} bytes), 0 unchanged: 1 new message, 1 session\n");
    assert_eq!((done.out, done.err.as_str()), (expected, ""));
}

#[test]
fn the_directory_of_the_agent_may_be_elsewhere() {
    let case = Case::new();
    let dir = case.path("agent");
    fs::create_dir_all(dir.join("projects/p")).expect("made");
    let log = text(&[answer("s", "a", 1)]);
    fs::write(dir.join("projects/p/s.jsonl"), log).expect("written");
    let mut command = case.command(&["import"]);
    command.env("CLAUDE_CONFIG_DIR", &dir);
    let done = crate::case::done(command, "");
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(case.counted(), (1, 1));
    // Without it there is nothing here.
    let done = case.run(&["import"]);
    assert_eq!(done.code, Some(66), "{done:?}");
    assert!(done.err.contains(".claude/projects"), "{done:?}");
}
