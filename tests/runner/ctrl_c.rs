//! A second Ctrl-C ends the agent at once, and the code is still 130.

use std::fs;
use std::thread;
use std::time::Duration;

use cr_test::Terminal;
use serde_json::Value;

use crate::case::{Case, HANG, INIT, SHELLS};

/// An agent that only SIGKILL ends.
fn stubborn() -> Case {
    Case::new(&["trap '' TERM INT\n", INIT, HANG].concat())
}

/// Types Ctrl-C twice, `pause` apart. This time is what is tested: a sooner one is
/// the same request again.
fn type_twice(terminal: &mut Terminal, pause: Duration) {
    terminal.wait_for("Session:");
    terminal.type_keys(b"\x03");
    thread::sleep(pause);
    terminal.type_keys(b"\x03");
}

/// The code in the record, if there is one.
fn recorded(case: &Case) -> Option<Value> {
    let run = case.runs().into_iter().next()?;
    assert!(run.join("exit.json").exists());
    let text = fs::read(run.join("summary.json")).expect("a summary");
    let summary: Value = serde_json::from_slice(&text).expect("JSON");
    Some(summary["code"].clone())
}

fn check(shell: &'static str, options: &[&str], pause: u64) {
    let case = stubborn().shell(shell);
    let args = [&["go", "--grace", "10m"], options].concat();
    let (mut terminal, mut child) = Terminal::start(&case.runner(&args));
    type_twice(&mut terminal, Duration::from_millis(pause));
    let text = terminal.finish();
    let what = format!("{shell} {options:?} {pause} ms: {text}");
    assert_eq!(child.wait().expect("ended").code(), Some(130), "{what}");
    let is_recorded = !options.contains(&"--no-record");
    assert_eq!(recorded(&case), is_recorded.then_some(130.into()), "{what}");
    case.wait_for_nobody();
}

#[test]
fn it_is_130_for_every_output_from_half_a_second_to_three() {
    let outputs = ["report", "summary", "answer", "stream"];
    let kinds: [&[&str]; 3] = [&[], &["--no-record"], &["--retry", "1"]];
    thread::scope(|scope| {
        for output in outputs {
            scope.spawn(move || {
                for kind in kinds {
                    for pause in [450, 1000] {
                        check("dash", &[&["--output", output], kind].concat(), pause);
                    }
                }
            });
        }
        scope.spawn(|| {
            for shell in SHELLS {
                check(shell, &[], 500);
                check(shell, &["--output", "stream"], 3000);
            }
        });
    });
}

#[test]
fn the_stages_of_a_typed_pipeline_wait_for_the_last_line() {
    // Not the verdict: there is no answer, and the progress was shown.
    let last = [
        ("cr-summarize", 130),
        ("cr-summarize --tee", 130),
        ("cr-extract", 1),
        ("cr-filter", 0),
    ];
    for pause in [450, 1000] {
        for (last, code) in last {
            let case = stubborn();
            let line = format!(
                "trap : INT; {{ cr-git start; cr-spawn --grace 10m --no-record --prompt go; }} \
                 | cr-git end | cr-filter --tee | {last}; echo code=$?"
            );
            let (mut terminal, mut child) = Terminal::start(&case.line(&line));
            type_twice(&mut terminal, Duration::from_millis(pause));
            let text = terminal.finish();
            child.wait().expect("ended");
            assert!(
                text.contains(&format!("code={code}\r\n")),
                "{last} {pause}: {text}"
            );
            case.wait_for_nobody();
        }
    }
}
