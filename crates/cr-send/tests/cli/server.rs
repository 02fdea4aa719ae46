//! A run directory with a server that follows a script.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

use cr_rundir::{Lock, RunDir};
use cr_test::{Command, World};
use serde_json::Value;

pub(crate) const RUN: &str = "20261118T090000Z-0a1b2c3d";

/// A run that seems to be going on: its directory, and its lock.
pub(crate) struct FakeRun {
    pub(crate) world: World,
    pub(crate) dir: RunDir,
    lock: Option<Lock>,
}

/// The requests that a server got.
#[derive(Clone, Default)]
pub(crate) struct Requests(Arc<Mutex<Vec<Value>>>);

impl Requests {
    pub(crate) fn all(&self) -> Vec<Value> {
        self.0.lock().expect("no panic").clone()
    }

    /// The only request.
    pub(crate) fn one(&self) -> Value {
        let all = self.all();
        assert_eq!(all.len(), 1, "{all:?}");
        all[0].clone()
    }

    fn add(&self, request: Value) {
        self.0.lock().expect("no panic").push(request);
    }
}

/// What the server does with one connection.
pub(crate) struct Connection {
    reader: BufReader<UnixStream>,
    requests: Requests,
}

impl Connection {
    /// The next request, or none at the end. A test that waits here too long is
    /// wrong, and ends.
    pub(crate) fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        let count = self.reader.read_line(&mut line).expect("a request");
        if count == 0 {
            return None;
        }
        let request: Value = serde_json::from_str(&line).expect("JSON");
        self.requests.add(request.clone());
        Some(request)
    }

    /// The process of the client.
    pub(crate) fn peer(&self) -> i32 {
        cr_control::peer_pid(self.reader.get_ref())
            .expect("credentials")
            .expect("a process")
    }

    /// Writes bytes; the client may have gone.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> bool {
        self.reader.get_mut().write_all(bytes).is_ok()
    }

    pub(crate) fn line(&mut self, text: &str) -> bool {
        self.write(format!("{text}\n").as_bytes())
    }
}

impl FakeRun {
    pub(crate) fn new() -> Self {
        let world = World::new();
        let path = world.state().join("runs").join(RUN);
        Self::at(world, &path)
    }

    pub(crate) fn at(world: World, path: &Path) -> Self {
        fs::create_dir_all(path).expect("made");
        fs::set_permissions(path, fs::Permissions::from_mode(0o700)).expect("private");
        let line = format!(
            r#"{{"type":"cr","subtype":"start","at":"2026-11-18T09:00:00.000Z","run_id":"{RUN}","schema":1,"name":"docs"}}"#
        );
        fs::write(path.join("started"), line).expect("written");
        let dir = RunDir::existing(path).expect("opened");
        let lock = Some(dir.lock().expect("locked"));
        Self { world, dir, lock }
    }

    /// The run ends, with a summary.
    pub(crate) fn end(&mut self) {
        let summary = r#"{"schema":1,"outcome":"success","code":0,"why":"It went well."}"#;
        fs::write(self.dir.path().join("summary.json"), summary).expect("written");
        self.lock = None;
    }

    pub(crate) fn listener(&self) -> UnixListener {
        cr_control::bind(&self.dir).expect("bound")
    }

    /// Serves every connection by `script`, each on its own thread, until the
    /// test ends.
    pub(crate) fn serve(
        &self,
        script: impl Fn(&mut Connection) + Clone + Send + 'static,
    ) -> Requests {
        let listener = self.listener();
        let requests = Requests::default();
        let kept = requests.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.expect("a connection");
                stream
                    .set_read_timeout(Some(cr_test::limit()))
                    .expect("a limit");
                let mut connection = Connection {
                    reader: BufReader::new(stream),
                    requests: requests.clone(),
                };
                let script = script.clone();
                thread::spawn(move || script(&mut connection));
            }
        });
        kept
    }

    /// Answers every request with `reply`.
    pub(crate) fn answer_all(&self, reply: &'static str) -> Requests {
        self.serve(move |connection| {
            while connection.next().is_some() {
                connection.line(reply);
            }
        })
    }

    /// Acknowledges every message, as a run does.
    pub(crate) fn acknowledge_all(&self) -> Requests {
        self.serve(|connection| {
            while let Some(request) = connection.next() {
                connection.line(&acknowledgement(&request));
            }
        })
    }

    pub(crate) fn send(&self, args: &[&str]) -> Command {
        let mut command = self.world.tool("cr-send");
        command.args(args);
        command
    }
}

pub(crate) fn acknowledgement(request: &Value) -> String {
    let id = &request["id"];
    format!(r#"{{"schema":1,"ok":true,"id":{id},"data":{{"state":"queued"}}}}"#)
}

/// The second reply about a message, with the agent's result line.
pub(crate) fn done(request: &Value, result: &str) -> String {
    let id = &request["id"];
    format!(
        r#"{{"schema":1,"ok":true,"id":{id},"data":{{"state":"done","turn":3,"folded":false,"result":{result}}}}}"#
    )
}

/// What a tool printed, as text.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// Runs it: its code, its output, its notes.
pub(crate) fn outcome(command: &mut Command) -> (i32, String, String) {
    let output = command.output().expect("run");
    let code = output.status.code().expect("not killed");
    (code, text(&output.stdout), text(&output.stderr))
}
