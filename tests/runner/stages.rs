//! One of the processes of a run is killed.

use crate::case::{Case, HANG, INIT, SHELLS};

/// The processes, each by its name and an argument.
const STAGES: [(&str, &str); 5] = [
    ("cr-spawn", "--control-fd"),
    ("cr-spawn", "--guardian:"),
    ("cr-git", "end"),
    ("cr-filter", "--tee"),
    ("cr-summarize", "--delimiter"),
];

#[test]
fn whichever_stage_is_killed_there_is_one_summary_and_nobody_left() {
    for shell in SHELLS {
        for (name, argument) in STAGES {
            let case = Case::new(&[INIT, HANG].concat()).shell(shell);
            let mut run = case.start(&["go", "--grace", "2"]);
            run.wait_for("Session:");
            crate::case::kill(run.stage(name, argument), "KILL");
            let done = run.end();
            let what = format!("{shell} {name} {argument}: {done:?}");
            assert_eq!(done.summaries(), 1, "{what}");
            assert_ne!(done.code(), Some(0), "{what}");
            assert_eq!(done.summary()["ok"], false, "{what}");
            assert_eq!(
                Some(&done.summary()["code"]),
                done.code().map(Into::into).as_ref(),
                "{what}"
            );
            case.wait_for_nobody();
        }
    }
}
