//! Lines that end the CLI, and ends that a message asks for.

use crate::driver::{Agent, BOTH, NEW, OLD, results};

#[test]
fn a_line_that_is_no_message_ends_it_at_once() {
    let bad = [
        "nope",
        "null",
        r#"{"type":"user"}"#,
        r#"{"type":"user","message":{"content":"x"}}"#,
        r#"{"type":"user","message":{"role":"assistant","content":"x"}}"#,
    ];
    for version in BOTH {
        for line in bad {
            let mut agent = Agent::new(version);
            agent.write(line);
            let ended = agent.end();
            assert_eq!(ended.code, Some(1), "{version}: {line}");
            assert!(ended.stderr.starts_with("Error"), "{}", ended.stderr);
            assert_eq!(ended.lines.len(), 0);
        }
    }
}

#[test]
fn a_line_of_an_unknown_kind_is_ignored() {
    for version in BOTH {
        let mut agent = Agent::new(version);
        for line in ["", "[1]", "\"x\"", r#"{"a":1}"#, r#"{"type":"zzz"}"#] {
            agent.write(line);
        }
        agent.say("a", "hello");
        assert_eq!(results(&agent.close().lines), ["answer to: hello"]);
    }
}

#[test]
fn a_line_of_blanks_ends_the_older_release_only() {
    for (version, code) in [(NEW, 0), (OLD, 1)] {
        let mut agent = Agent::new(version);
        agent.write(" ");
        assert_eq!(agent.close().code, Some(code));
    }
}

#[test]
fn a_message_can_end_the_process() {
    let mut agent = Agent::new(NEW);
    agent.say("a", "exit:3");
    assert_eq!(agent.end().code, Some(3));
    let mut agent = Agent::new(NEW);
    agent.say("a", "crash");
    assert_eq!(agent.end().code, None);
}
