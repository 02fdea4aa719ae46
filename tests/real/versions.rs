//! Options that not every version has: they work, or are refused before the start.

use crate::cli::each;
use crate::place::Place;
use crate::run::Ended;

const OPTIONS: [&[&str]; 4] = [
    &["--max-budget=1"],
    &["--no-session-persistence"],
    &["--json-schema={\"type\":\"object\"}"],
    // Every version has these.
    &[
        "--system-prompt=Be brief.",
        "--fallback-model=haiku",
        "--partial-messages",
        "--allowed-tools=Read",
        "--disallowed-tools=Write",
        "--session-id=11111111-1111-4111-8111-111111111111",
    ],
];

#[test]
fn an_option_works_or_is_refused_with_the_version_that_has_it() {
    each(|cli| {
        for options in OPTIONS {
            let place = Place::new();
            let run = place.run(cli, "hello").args(options);
            let (code, out, err) = run.text();
            let is_refused = code == Some(2) && err.contains(" needs claude 2.0.");
            let is_done =
                out.contains("\"type\":\"result\"") || out.contains("\"type\": \"result\"");
            let has_started = out.contains("\"subtype\":\"start\"");
            println!(
                "{options:?}: {}",
                if is_refused { err.trim() } else { "works" }
            );
            assert_ne!(
                is_refused,
                is_done && has_started,
                "{options:?} {code:?}: {err}{out}"
            );
            assert!(!out.contains("unknown option"), "{options:?}: {out}");
        }
    });
}

fn has_system_prompt(ended: &Ended, text: &str) -> bool {
    ended
        .requests
        .iter()
        .any(|request| request["system"].to_string().contains(text))
}

#[test]
fn a_resumed_session_gets_the_system_prompt_of_its_run() {
    each(|cli| {
        let place = Place::new();
        let first = place.run(cli, "hello").args(&["--system-prompt=Be brief."]);
        let ended = first.end();
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert!(has_system_prompt(&ended, "Be brief."));
        let id = ended.result()["session_id"]
            .as_str()
            .expect("an id")
            .to_owned();
        let args = ["--resume", &id, "--system-prompt=Be exact."];
        let ended = place.run(cli, "hello").args(&args).end();
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert!(has_system_prompt(&ended, "Be exact."), "{cli}");
    });
}
