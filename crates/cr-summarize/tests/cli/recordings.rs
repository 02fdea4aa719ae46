//! Every recording there is.

use crate::tool::{files, lines, of_file};

/// The codes that `--help` lists.
const CODES: [i32; 17] = [
    0, 1, 3, 4, 5, 6, 65, 75, 76, 77, 124, 125, 126, 127, 130, 137, 143,
];

#[test]
fn every_recording_ends_with_a_documented_code_and_counts_that_add_up() {
    let folders = [
        "captures",
        "session-logs",
        "transcripts/stream-json",
        "transcripts/session-log",
    ];
    let mut seen = 0;
    for folder in folders {
        let recordings = files(folder).into_iter().filter(|file| {
            let ending = file.extension().unwrap_or_default();
            ending != "exit" && ending != "stderr" && file.is_file()
        });
        for file in recordings {
            let (code, summary) = of_file(&file);
            let name = file.display();
            assert!(CODES.contains(&code), "{name}: {code}");
            assert_eq!(summary["code"], code, "{name}");
            assert_eq!(summary["ok"], code == 0, "{name}");
            let tools = summary["tools"].as_object().expect("tools").values();
            let calls: u64 = tools.map(|count| count.as_u64().expect("a count")).sum();
            assert_eq!(summary["tool_calls"], calls, "{name}");
            assert!(summary.to_string().len() < 4096, "{name}");
            assert!(!summary["why"].as_str().expect("why").is_empty(), "{name}");
            lines(&summary);
            seen += 1;
        }
    }
    assert!(seen > 220, "{seen} recordings");
}

#[test]
fn the_log_of_a_session_is_judged_by_its_end() {
    #[rustfmt::skip]
    let cases = [
        ("01-simple", "success"), ("02-tools", "success"), ("06-err400", "failed"),
        ("12-sigkill", "incomplete"), ("12-sigterm", "incomplete"), ("10-interrupt-tool", "success"),
    ];
    for (name, outcome) in cases {
        let path = crate::tool::fixture(&format!("session-logs/{name}.jsonl"));
        let (_, summary) = of_file(&path);
        assert_eq!(summary["outcome"], outcome, "{name}");
    }
}
