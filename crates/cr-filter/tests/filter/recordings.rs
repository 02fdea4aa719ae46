//! Every recording there is.

use std::path::{Path, PathBuf};

use crate::cr_filter;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures")
}

fn recordings() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![fixtures()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path
                .extension()
                .is_some_and(|e| e == "ndjson" || e == "jsonl")
            {
                found.push(path);
            }
        }
    }
    assert!(found.len() > 200, "{} recordings", found.len());
    found
}

/// The numbers of `--stats`: lines, then the fates.
fn stats(stderr: &str) -> Vec<u64> {
    let line = stderr.lines().last().expect("statistics");
    let counts = line.split(';').next().expect("counts");
    let words = counts.split([' ', ',', ':']);
    words.filter_map(|word| word.parse().ok()).collect()
}

#[test]
fn f1_every_line_of_every_recording_has_one_fate() {
    for path in recordings() {
        for format in ["text", "json"] {
            let run = cr_filter(&["--stats", "--format", format])
                .arg(&path)
                .output()
                .expect("run cr-filter");
            let place = path.display();
            let summary = cr_test::tool("cr-summarize").arg(&path).output();
            let summary = summary.expect("run cr-summarize");
            // Lines in a wrong order are shown all the same.
            let text = String::from_utf8_lossy(&summary.stdout);
            let is_ordered = !text.contains(r#""stream_error":"#);
            let is_foreign = summary.status.code() == Some(65) && is_ordered;
            let code = if is_foreign { 65 } else { 0 };
            assert_eq!(run.status.code(), Some(code), "{place}");
            let stderr = String::from_utf8_lossy(&run.stderr);
            let numbers = stats(stderr.lines().next().unwrap_or_default());
            let bytes = std::fs::read(&path).expect("read");
            let ends = bytes.split(|&b| b == b'\n').count() - 1;
            let torn = usize::from(bytes.last().is_some_and(|&b| b != b'\n'));
            assert_eq!(numbers.len(), 6, "{place}: {stderr}");
            assert_eq!(numbers[0], (ends + torn) as u64, "{place}");
            assert_eq!(
                numbers[0],
                numbers[1..].iter().sum::<u64>(),
                "{place}: {stderr}"
            );
        }
    }
}

#[test]
fn f2_no_line_of_any_recording_holds_a_control_character() {
    for path in recordings() {
        let run = cr_filter(&["-v"])
            .arg(&path)
            .output()
            .expect("run cr-filter");
        let text = String::from_utf8(run.stdout).expect("text is UTF-8");
        let odd = text.chars().find(|&c| c != '\n' && c.is_control());
        assert_eq!(odd, None, "{}", path.display());
        assert!(
            text.lines().all(|line| line.starts_with('[')),
            "{}",
            path.display()
        );
        let run = cr_filter(&["--format", "json"])
            .arg(&path)
            .output()
            .expect("run cr-filter");
        let rows = String::from_utf8(run.stdout).expect("rows are UTF-8");
        let odd = rows.chars().find(|&c| c != '\n' && c.is_control());
        assert_eq!(odd, None, "{}", path.display());
        for row in rows.lines() {
            let row: Result<serde_json::Value, _> = serde_json::from_str(row);
            assert!(row.is_ok_and(|row| row.is_object()), "{}", path.display());
        }
    }
}

#[test]
fn the_tools_of_a_log_are_those_of_its_stream() {
    let tools = |path: PathBuf| {
        let run = cr_filter(&["--time", "none"])
            .arg(path)
            .output()
            .expect("run cr-filter");
        let text = String::from_utf8(run.stdout).expect("text is UTF-8");
        let calls = [
            "Read: ", "Edit: ", "Write: ", "Bash: ", "Search: ", "Commit: ",
        ];
        let lines = text
            .lines()
            .filter(|line| calls.iter().any(|call| line.starts_with(call)));
        let mut lines: Vec<_> = lines.map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let stream = tools(fixtures().join("captures/02-tools.ndjson"));
    let log = tools(fixtures().join("session-logs/02-tools.jsonl"));
    assert_eq!(stream, log);
    assert_eq!(stream.len(), 13);
}

#[test]
fn a_tool_run_reads_as_a_person_would_tell_it() {
    let path = fixtures().join("captures/02-tools.ndjson");
    let run = cr_filter(&["--time", "none"])
        .arg(path)
        .output()
        .expect("run cr-filter");
    let text = String::from_utf8(run.stdout).expect("text is UTF-8");
    let lines: Vec<_> = text.lines().collect();
    #[rustfmt::skip]
    let expected = [
        "Session: 3407cbdb-bbd7-4710-b078-c823a7afe6bf | model: claude-opus-5-5 | permissions: bypassPermissions | cwd: /home/dev/repo",
        "Read: /home/dev/repo/a.txt",
        "Edit: /home/dev/repo/a.txt",
        "Write: /home/dev/repo/new.txt",
        "Bash: ls -la && echo err >&2",
        "Bash: cat a.txt",
        "Read: /home/dev/repo/src/main.rs",
        "Bash: git add -A && git commit -m \"feat: first 'quoted' commit\"",
        "Commit: feat: first 'quoted' commit",
        r#"Bash: echo x >> a.txt && git commit -qam "$(cat <<'EOM'\nfix: heredoc "subject" line\n\nB..."#,
        "Bash: exit 3",
        "Failed: Bash: exit 3 | code 3",
        "Read: /home/dev/repo/does-not-exist.txt",
        "Search: alpha",
        "Search: **/*.rs",
        "TodoWrite: 0 of 1 done, next: a",
        r"Text: All done.\nSecond line.",
        "Done: success | 14 turns | 1s | $0.0236 | context 0% of 1000000",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn an_array_of_events_reads_like_the_stream_pretty_or_not() {
    let path = fixtures().join("captures/08-json-verbose.ndjson");
    let array = std::fs::read_to_string(&path).expect("read");
    let tree: serde_json::Value = serde_json::from_str(&array).expect("an array");
    let events = tree.as_array().expect("an array").iter();
    let stream = events
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("\n");
    let pretty = serde_json::to_string_pretty(&tree).expect("JSON");
    // A tool nobody knows is shown with its arguments as written, and the tree
    // writes them in another order.
    let shown = |input: &str| -> Vec<String> {
        let text = crate::shown(&["--time", "none"], input);
        let lines = text.lines().filter(|line| !line.starts_with("TodoWrite"));
        lines.map(str::to_owned).collect()
    };
    let expected = shown(&stream);
    assert!(expected.len() > 10, "{expected:?}");
    assert_eq!(shown(&array), expected);
    assert_eq!(shown(&pretty), expected);
}
