//! Servers and directories that nobody should trust.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};

use cr_test::{World, left_out};

use crate::server::{FakeRun, RUN, acknowledgement, done, outcome};

#[test]
fn what_is_no_reply_is_refused() {
    #[rustfmt::skip]
    let cases = [
        ("hello",                                     65),
        ("",                                          65),
        ("[]",                                        65),
        (r#"{"schema":1}"#,                           65),
        (r#"{"schema":1,"ok":"yes"}"#,                65),
        ("{\"schema\":1,\"ok\":true,\"id\":\"a\u{1}b\"}", 65),
        (r#"{"schema":2,"ok":true}"#,                 78),
        (r#"{"schema":1,"ok":false,"code":0}"#,       1),
    ];
    for (reply, code) in cases {
        let run = FakeRun::new();
        run.answer_all(reply);
        let (got, out, notes) = outcome(&mut run.send(&["docs", "x"]));
        assert_eq!((got, &*out), (code, ""), "{reply}: {notes}");
        assert!(
            notes.starts_with(&format!("cr-send: {RUN}: ")),
            "{reply}: {notes}"
        );
    }
}

#[test]
fn data_of_another_form_is_refused() {
    for (args, data) in [
        (["docs", "--asks"], r#"{"id":"q1"}"#),
        (["docs", "--context"], r#"{"tokens":"many"}"#),
        (["docs", "--interrupt"], r#"{"still_queued":7}"#),
    ] {
        let run = FakeRun::new();
        run.serve(move |connection| {
            connection.next();
            connection.line(&format!(r#"{{"schema":1,"ok":true,"data":{data}}}"#));
        });
        let (code, out, notes) = outcome(&mut run.send(&args));
        assert_eq!((code, &*out), (65, ""), "{data}: {notes}");
    }
}

#[test]
fn a_reply_without_an_end_is_given_up_at_its_limit() {
    let run = FakeRun::new();
    run.serve(|connection| {
        connection.next();
        let part = vec![b'x'; 1 << 20];
        while connection.write(&part) {}
    });
    let (code, out, notes) = outcome(&mut run.send(&["docs", "x"]));
    assert_eq!((code, &*out), (65, ""), "{notes}");
    assert!(notes.contains("longer than 67108864 bytes"), "{notes}");
}

#[test]
fn text_of_the_run_cannot_act_on_a_terminal_or_show_a_secret() {
    let secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";
    let nasty = format!(r"red \u001b[31m \r\n cr-send: forged \u202e \u009b2J {secret}");
    let shows = |text: &str| {
        assert!(!text.contains(secret), "{text:?}");
        let hidden = text.chars().find(|&c| cr_io_hidden(c));
        assert_eq!(hidden, None, "{text:?}");
    };
    let reply = format!(r#"{{"schema":1,"ok":false,"code":65,"error":"{nasty}"}}"#);
    let run = FakeRun::new();
    run.serve(move |connection| {
        connection.next();
        connection.line(&reply);
    });
    let (code, _, notes) = outcome(&mut run.send(&["docs", "x"]));
    assert_eq!((code, notes.lines().count()), (65, 1), "{notes:?}");
    shows(&notes);

    let asked = format!(r#""id":"q\n1","kind":"permission","tool":"{nasty}","text":"{nasty}""#);
    let reply = format!("{{\"schema\":1,\"ok\":true,\r\"data\":[{{\r{asked}}}]}}");
    let run = FakeRun::new();
    run.serve(move |connection| {
        connection.next();
        connection.line(&reply);
    });
    for args in [
        &["docs", "--asks"][..],
        &["docs", "--asks", "--json"],
        &["docs", "--asks", "--output", "json"],
    ] {
        let (code, out, notes) = outcome(&mut run.send(args));
        assert_eq!((code, out.lines().count()), (0, 1), "{args:?} {notes}");
        shows(&out);
    }

    let result = format!(r#"{{"subtype":"success","result":"{nasty}"}}"#);
    let run = FakeRun::new();
    run.serve(move |connection| {
        let request = connection.next().expect("a message");
        connection.line(&acknowledgement(&request));
        connection.line(&done(&request, &result));
    });
    let (code, out, _) = outcome(&mut run.send(&["docs", "x", "--wait"]));
    assert_eq!(code, 0);
    assert!(
        out.contains("\\r\n cr-send: forged"),
        "lines stay lines: {out:?}"
    );
    shows(&out);
}

/// What must not reach a terminal; a line's end may.
fn cr_io_hidden(c: char) -> bool {
    c != '\n' && (c.is_control() || c == '\u{202e}')
}

#[test]
fn a_path_longer_than_an_address_is_reached() {
    let world = World::new();
    let path = world.path("d".repeat(100)).join("e".repeat(100)).join(RUN);
    let run = FakeRun::at(world, &path);
    let requests = run.acknowledge_all();
    let (code, _, notes) = outcome(&mut run.send(&[&path.display().to_string(), "x"]));
    assert_eq!(code, 0, "{notes}");
    assert_eq!(requests.all().len(), 1);
}

#[test]
fn a_directory_that_others_may_write_to_is_refused() {
    let run = FakeRun::new();
    let requests = run.acknowledge_all();
    fs::set_permissions(run.dir.path(), fs::Permissions::from_mode(0o722)).expect("set");
    let (code, _, notes) = outcome(&mut run.send(&["docs", "x"]));
    assert_eq!(code, 78, "{notes}");
    assert!(notes.contains("others may write to it"), "{notes}");
    assert!(requests.all().is_empty());
}

#[test]
fn a_file_in_place_of_the_socket_is_refused() {
    let run = FakeRun::new();
    fs::write(run.dir.path().join("control.sock"), "").expect("written");
    let (code, _, notes) = outcome(&mut run.send(&["docs", "x"]));
    let want = format!("cr-send: {RUN}: control.sock: it is not a socket\n");
    assert_eq!((code, notes), (78, want));
}

#[test]
fn a_server_of_another_user_is_refused() {
    const NOBODY: u32 = 65534;
    let is_root = fs::metadata("/proc/self").is_ok_and(|meta| meta.uid() == 0);
    if !is_root || !std::path::Path::new("/usr/bin/setpriv").exists() {
        return left_out("cr-send and a server of another user: it needs root and setpriv");
    }
    let run = FakeRun::new();
    let requests = run.acknowledge_all();
    // Everything is the other user's, except the process that listens.
    let tool = run.world.path("cr-send");
    fs::copy(cr_test::bin("cr-send"), &tool).expect("copied");
    let chown = |path: &std::path::Path| chown(path, Some(NOBODY), Some(NOBODY)).expect("root");
    let dir = run.dir.path();
    for path in [
        run.world.dir(),
        &run.world.state(),
        dir.parent().expect("runs"),
        dir,
    ] {
        chown(path);
    }
    for name in ["control.sock", "lock", "started"] {
        chown(&dir.join(name));
    }
    let mut command = run.world.command("setpriv");
    command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
    command.arg(&tool).args(["docs", "x"]);
    let (code, _, notes) = outcome(&mut command);
    let want = format!("cr-send: {RUN}: control.sock: the other side belongs to user 0\n");
    assert_eq!((code, notes), (78, want));
    assert!(requests.all().is_empty());
}
