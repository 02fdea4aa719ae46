//! Many logs: how they are found and read in threads.

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use cr_session_log::{FactOf, FileToScan, Report, Scanned, find_logs, scan_files};

use crate::support::{Owned, facts, recorded};

fn answer(id: usize, output: usize) -> String {
    format!(
        "{{\"type\":\"assistant\",\"sessionId\":\"s\",\"requestId\":\"r\",\"message\":{{\"id\":\"m{id}\",\
         \"usage\":{{\"output_tokens\":{output}}},\"content\":[{{\"type\":\"tool_use\",\"id\":\"t{id}-{output}\",\"name\":\"Read\"}}]}}}}\n"
    )
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    fs::write(path, text).expect("written");
}

/// The facts of each file, and how far it was read.
fn read_all(files: &[FileToScan], threads: usize) -> Vec<(Vec<Owned>, Option<Scanned>)> {
    let mut all = vec![(Vec::new(), None); files.len()];
    scan_files(files, threads, |index, report| {
        let (facts, end) = &mut all[index];
        assert!(end.is_none(), "facts after the end");
        match report {
            Report::Facts(batch) => facts.extend(batch.facts().map(|fact| fact.map(str::to_owned))),
            Report::Scanned(scanned) => *end = Some(scanned),
            Report::Waiting => {}
            Report::Failed(err) => panic!("{err:#}"),
        }
        Ok::<(), ()>(())
    })
    .expect("taken");
    all
}

#[test]
fn logs_are_found_by_name_and_know_the_session_and_the_subagent_of_their_path() {
    let dir = tempfile::tempdir().expect("a folder");
    let root = dir.path();
    for name in [
        "p/s1.jsonl",
        "p/s1/subagents/agent-a1.jsonl",
        "p/agent-a2.jsonl",
        "p/s2.jsonl.gz",
        "p/notes.json",
    ] {
        put(&root.join(name), "{}\n");
    }
    symlink(root, root.join("p/loop")).expect("a link");
    symlink(root.join("gone"), root.join("p/gone.jsonl")).expect("a link");
    let logs = find_logs(&[root.to_owned(), root.join("p/s1.jsonl")]).expect("found");
    let found: Vec<_> = logs
        .iter()
        .map(|log| {
            let path = log.path.strip_prefix(root).expect("below");
            let path = path.to_str().expect("text");
            (
                path,
                log.is_subagent,
                log.agent_id.as_deref(),
                log.session_id.as_deref(),
            )
        })
        .collect();
    let expected = [
        ("p/agent-a2.jsonl", true, Some("a2"), None),
        (
            "p/s1/subagents/agent-a1.jsonl",
            true,
            Some("a1"),
            Some("s1"),
        ),
        ("p/s1.jsonl", false, None, Some("s1")),
        ("p/s2.jsonl.gz", false, None, Some("s2")),
    ];
    assert_eq!(found, expected);
    assert!(logs.iter().all(|log| log.len == 3 && log.mtime_ns > 0));
    assert!(find_logs(&[root.join("gone")]).is_err());
}

#[test]
fn threads_give_the_facts_that_one_scan_gives_with_the_lines_of_a_message_merged() {
    let dir = tempfile::tempdir().expect("a folder");
    let long: String = (0..5000)
        .flat_map(|id| [answer(id, 1), answer(id, 7), answer(id, 3)])
        .collect();
    put(&dir.path().join("long.jsonl"), &long);
    for (number, (_, log)) in recorded().iter().enumerate() {
        fs::write(dir.path().join(format!("{number}.jsonl")), log).expect("written");
    }
    let logs = find_logs(&[dir.path().to_owned()]).expect("found");
    let files: Vec<FileToScan> = logs.into_iter().map(FileToScan::from).collect();
    for threads in [1, 2, 5] {
        for (file, (found, end)) in files.iter().zip(read_all(&files, threads)) {
            let bytes = fs::read(&file.log.path).expect("read");
            let (found, expected) = (merged(found), merged(facts(&bytes)));
            assert_eq!(found, expected, "{}", file.log.path.display());
            let end = end.expect("an end").offset;
            assert!(end <= file.log.len, "{end}");
        }
    }
}

/// Merges the messages of one key, in the order of the first line of each.
fn merged(facts: Vec<Owned>) -> Vec<Owned> {
    let mut all: Vec<Owned> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for fact in facts {
        if let FactOf::Message(line) = &fact {
            let key = (
                line.message_id.clone(),
                line.request_id.clone(),
                line.is_fork,
            );
            if let Some(&place) = places.get(&key)
                && let FactOf::Message(first) = &mut all[place]
            {
                first.usage = first.usage.max(line.usage);
                first.is_final |= line.is_final;
                first.at = first.at.min(line.at);
                if (line.last_at, &line.uuid) > (first.last_at, &first.uuid) {
                    first.last_at = line.last_at;
                    first.uuid.clone_from(&line.uuid);
                }
                continue;
            }
            places.insert(key, all.len());
        }
        all.push(fact);
    }
    all
}

#[test]
fn lines_of_one_message_are_one_fact_of_a_batch() {
    let dir = tempfile::tempdir().expect("a folder");
    let log = answer(1, 5) + &answer(1, 9) + &answer(1, 2) + &answer(2, 1);
    put(&dir.path().join("a.jsonl"), &log);
    let logs = find_logs(&[dir.path().to_owned()]).expect("found");
    let all = read_all(&[logs[0].clone().into()], 2);
    let outputs: Vec<u64> = all[0]
        .0
        .iter()
        .filter_map(|fact| match fact {
            FactOf::Message(message) => Some(message.usage.output),
            _ => None,
        })
        .collect();
    assert_eq!(outputs, [9, 1]);
    assert_eq!(all[0].0.len(), 6);
}

#[test]
fn a_file_is_read_on_where_it_was_left_also_a_compressed_one() {
    let dir = tempfile::tempdir().expect("a folder");
    put(&dir.path().join("a.jsonl"), &(answer(1, 1) + &answer(2, 1)));
    let mut zipped = GzEncoder::new(Vec::new(), Compression::fast());
    write!(zipped, "{}{}", answer(1, 1), answer(2, 1)).expect("zipped");
    let zipped = zipped.finish().expect("zipped");
    fs::write(dir.path().join("b.jsonl.gz"), zipped).expect("written");
    let logs = find_logs(&[dir.path().to_owned()]).expect("found");
    let mut files: Vec<FileToScan> = logs.into_iter().map(FileToScan::from).collect();
    for file in &mut files {
        file.resume.offset = answer(1, 1).len() as u64;
    }
    for (facts, end) in read_all(&files, 2) {
        assert_eq!(facts.len(), 2, "{facts:?}");
        assert_eq!(end.expect("an end").offset, 2 * answer(1, 1).len() as u64);
    }
}

#[test]
fn a_file_that_cannot_be_read_is_reported_and_an_error_of_the_writer_ends_the_scan() {
    let dir = tempfile::tempdir().expect("a folder");
    for number in 0..50 {
        put(
            &dir.path().join(format!("{number:02}.jsonl")),
            &answer(number, 1),
        );
    }
    let logs = find_logs(&[dir.path().to_owned()]).expect("found");
    let files: Vec<FileToScan> = logs.into_iter().map(FileToScan::from).collect();
    fs::remove_file(&files[7].log.path).expect("removed");
    let mut failed = Vec::new();
    let mut read = 0;
    let taken = scan_files(&files, 2, |index, report| {
        match report {
            Report::Failed(_) => failed.push(index),
            Report::Scanned(_) => read += 1,
            Report::Facts(_) | Report::Waiting => {}
        }
        Ok::<(), ()>(())
    });
    assert_eq!((taken, failed, read), (Ok(()), vec![7], 49));
    let mut calls = 0;
    let stopped = scan_files(&files, 2, |_, _| {
        calls += 1;
        Err("full")
    });
    assert_eq!((stopped, calls), (Err("full"), 1));
}
