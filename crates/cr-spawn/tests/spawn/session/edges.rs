//! Cases at the edge: odd clients, odd versions, odd files.

use std::fs;
use std::time::{Duration, Instant};

use cr_rundir::{ControlOperation, ControlRequest};
use serde_json::Value;

use super::talk::{Talk, VERSIONS, request};

const LIMIT: Duration = Duration::from_secs(20);

#[test]
fn a_process_that_hides_behind_its_dead_parent_gets_no_permission() {
    let script = r#"import socket,sys,os
os.chdir(sys.argv[1]); s=socket.socket(socket.AF_UNIX); s.settimeout(20); s.connect("control.sock")
parent=os.getpid()
if os.fork(): os._exit(0)
while os.getppid()==parent: pass
f=s.makefile("rw"); f.write('{"op":"set_permission_mode","value":"bypassPermissions"}\n'); f.flush()
open("../reply.part","w").write(f.readline()); os.rename("../reply.part","../reply")
"#;
    let world = cr_test::World::new();
    let script = world.write("forge.py", script);
    let run = world.dir().join("run");
    let mut talk = Talk::start_in(world, "2.1.326", &["--ask"]);
    talk.say(&format!(
        "ask:Bash:python3 {} {}",
        script.display(),
        run.display()
    ));
    let ask = talk.until_state("ask", "open");
    let mut allow = request(ControlOperation::Answer, ask["id"].as_str().expect("an id"));
    allow.decision = Some(cr_rundir::Decision::Allow);
    assert!(talk.ask(&allow).ok);
    let reply = talk.world.path("reply");
    cr_test::until("it has an answer", || reply.exists());
    let reply: Value = serde_json::from_slice(&fs::read(reply).expect("a reply")).expect("JSON");
    assert_eq!(reply["ok"], false, "{reply}");
    talk.finish();
}

#[test]
fn who_waits_for_a_message_that_has_ended_is_told_so() {
    let id = "6f0e3b2a-1111-4222-8333-444455556666";
    let mut talk = Talk::start("2.1.326", &["--keep-open"]);
    talk.say(&format!(r#"{{"text":"one","id":"{id}"}}"#));
    talk.until_state("input", "done");
    let mut client = talk.client();
    let send = ControlRequest {
        text: Some("one".to_owned()),
        wait: true,
        ..request(ControlOperation::Send, id)
    };
    let deadline = Some(Instant::now() + LIMIT);
    assert!(client.request(&send, deadline).expect("a reply").ok);
    let end = client.reply(deadline).expect("an end");
    assert_eq!((end.ok, end.id.as_deref()), (false, Some(id)));
    talk.ask(&ControlRequest::new(ControlOperation::Stop));
    talk.finish();
}

#[test]
fn two_clients_that_wait_for_one_message_both_get_its_end() {
    let id = "6f0e3b2a-1111-4222-8333-444455556666";
    let mut talk = Talk::start("2.1.326", &["--keep-open"]);
    talk.until_state("state", "waiting_for_input");
    let send = ControlRequest {
        text: Some("tool:300ms one".to_owned()),
        wait: true,
        ..request(ControlOperation::Send, id)
    };
    let deadline = Some(Instant::now() + LIMIT);
    let mut clients = [talk.client(), talk.client()];
    for client in &mut clients {
        assert!(client.request(&send, deadline).expect("a reply").ok);
    }
    for client in &mut clients {
        assert!(client.reply(deadline).expect("an end").ok);
    }
    talk.ask(&ControlRequest::new(ControlOperation::Stop));
    talk.finish();
}

#[test]
fn a_version_that_tells_nothing_about_messages_completes_too() {
    let script = r#"read -r line
echo '{"type":"system","subtype":"init","session_id":"s"}'
echo '{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"hi"}]},"session_id":"s"}'
echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"hi","session_id":"s"}'
cat > /dev/null"#;
    let world = cr_test::World::new();
    let agent = world.script("old", script);
    let agent = agent.to_str().expect("UTF-8").to_owned();
    let mut talk = Talk::start_in(world, "2.1.197", &["--claude", &agent]);
    talk.say("one");
    talk.until_state("input", "done");
    assert_eq!(talk.finish().code, Some(0));
}

#[test]
fn a_stop_ends_a_session_that_only_waits_for_its_background_tasks() {
    for version in VERSIONS {
        let mut talk = Talk::start(version, &["--keep-open"]);
        talk.say("shell:60s one");
        talk.until_state("input", "done");
        assert!(talk.ask(&ControlRequest::new(ControlOperation::Stop)).ok);
        let over = talk.finish();
        assert_eq!(over.code, Some(143), "{version}");
    }
}

#[test]
fn more_lines_than_the_queue_takes_wait_on_standard_input() {
    let mut talk = Talk::start("2.1.326", &[]);
    let lines: Vec<String> = (0..2500).map(|number| number.to_string()).collect();
    talk.say(&lines.join("\n"));
    let over = talk.finish();
    let done = over.own("input");
    let count = |state: &str| done.iter().filter(|it| it["state"] == state).count();
    assert_eq!((count("done"), count("rejected")), (2500, 0));
}

#[test]
fn a_fifo_in_the_run_directory_does_not_block_the_resumed_run() {
    let mut talk = Talk::start("2.1.326", &[]);
    talk.say("one");
    talk.until_state("input", "done");
    let over = talk.finish();
    let mut mkfifo = over.world.command("mkfifo");
    let made = mkfifo.arg(over.world.path("run/answers")).output();
    assert!(made.expect("run mkfifo").status.success());
    let session = over
        .lines
        .iter()
        .find_map(|line| line["session_id"].as_str());
    let session = session.expect("a session").to_owned();
    let run = over.world.dir().join("run");
    let run = run.to_str().expect("UTF-8").to_owned();
    let args = ["--resume", &session, "--resumed-run", &run];
    let mut talk = Talk::start_in(over.world, "2.1.326", &args);
    talk.say("two");
    talk.until_state("input", "done");
    assert_eq!(talk.finish().code, Some(0));
}
