//! A server, and requests to it, byte by byte.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::Stdio;

use cr_test::{Child, Command, Pipe, World};

/// A server that is ended with the test.
pub(crate) struct Server {
    child: Child,
    notes: Option<Pipe>,
    pub(crate) port: u16,
    pub(crate) token: String,
}

/// What a server answers.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Server {
    /// Starts it in `world`.
    pub(crate) fn start(world: &World, args: &[&str]) -> Self {
        let mut command = world.tool("cr-serve");
        command.args(args);
        Self::of(&mut command)
    }

    pub(crate) fn of(command: &mut Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Self::of_child(command.spawn().expect("started"))
    }

    /// A server whose standard output, and perhaps error, are pipes.
    pub(crate) fn of_child(mut child: Child) -> Self {
        let notes = child.stderr.take();
        let stdout = child.stdout.take().expect("a pipe");
        let mut line = String::new();
        BufReader::new(stdout)
            .read_line(&mut line)
            .expect("an address");
        let (url, token) = line.trim_end().split_once("/#").expect("a token");
        let port = url.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
        Self {
            child,
            notes,
            port: port.unwrap_or_default(),
            token: token.to_owned(),
        }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("connected");
        stream
            .set_read_timeout(Some(cr_test::limit()))
            .expect("set");
        stream
    }

    /// Sends bytes and reads the answer to its end.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = self.connect();
        // The server may have refused the first half.
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer
    }

    /// Asks with these lines of a head, and nothing else.
    pub(crate) fn ask(&self, first: &str, headers: &[&str], body: &str) -> Reply {
        let mut stream = self.begin(first, headers, body);
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer");
        Reply::of(&answer)
    }

    /// Asks, and leaves the answer to be read.
    pub(crate) fn begin(&self, first: &str, headers: &[&str], body: &str) -> TcpStream {
        let mut request = format!("{first} HTTP/1.1\r\nConnection: close\r\n");
        for line in headers {
            request += &format!("{line}\r\n");
        }
        request += &format!("Content-Length: {}\r\n\r\n{body}", body.len());
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).expect("sent");
        stream
    }

    /// The headers of a program with the token.
    pub(crate) fn right(&self) -> [String; 2] {
        let host = format!("Host: 127.0.0.1:{}", self.port);
        [host, format!("Authorization: Bearer {}", self.token)]
    }

    /// GET with the token.
    pub(crate) fn get(&self, path: &str) -> Reply {
        let right = self.right();
        let headers: Vec<&str> = right.iter().map(String::as_str).collect();
        self.ask(&format!("GET {path}"), &headers, "")
    }

    /// POST with the token and the origin of the page.
    pub(crate) fn post(&self, path: &str, body: &str) -> Reply {
        let right = self.right();
        let origin = format!("Origin: http://127.0.0.1:{}", self.port);
        let kind = "Content-Type: application/json";
        let headers = [right[0].as_str(), &right[1], &origin, kind];
        self.ask(&format!("POST {path}"), &headers, body)
    }

    /// The events of an address, as they come.
    pub(crate) fn events(&self, path: &str, headers: &[&str]) -> EventReader {
        let right = self.right();
        let mut all: Vec<&str> = right.iter().map(String::as_str).collect();
        all.extend(headers);
        let stream = self.begin(&format!("GET {path}"), &all, "");
        EventReader::new(stream)
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("asked").is_none()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let mut text = String::new();
        if let Some(mut notes) = self.notes.take() {
            let _ = notes.read_to_string(&mut text);
        }
        // A panic of a task ends no server of a debug build, and would one of a release.
        if !std::thread::panicking() {
            assert!(!text.contains("panicked"), "{text}");
        }
    }
}

impl Reply {
    fn of(answer: &[u8]) -> Self {
        let text = String::from_utf8_lossy(answer);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        Self {
            status: status.unwrap_or_default(),
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|err| panic!("{err}: {}", self.body))
    }
}

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) data: String,
}

/// Reads the pieces of an answer that goes on.
pub(crate) struct EventReader {
    stream: BufReader<TcpStream>,
    pub(crate) status: u16,
    held: Vec<u8>,
}

impl EventReader {
    fn new(stream: TcpStream) -> Self {
        let mut stream = BufReader::new(stream);
        let mut status = String::new();
        stream.read_line(&mut status).expect("a status");
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            stream.read_line(&mut line).expect("a head");
        }
        let status = status
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        Self {
            stream,
            status: status.unwrap_or_default(),
            held: Vec::new(),
        }
    }

    /// One piece; `None` at the end.
    fn piece(&mut self) -> Option<Vec<u8>> {
        let mut length = String::new();
        self.stream.read_line(&mut length).expect("a length");
        let length = usize::from_str_radix(length.trim(), 16).ok()?;
        let mut piece = vec![0; length + 2];
        self.stream.read_exact(&mut piece).expect("a piece");
        piece.truncate(length);
        (length > 0).then_some(piece)
    }

    /// The next event; `None` at the end of the answer.
    pub(crate) fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(end) = self.held.windows(2).position(|pair| pair == b"\n\n") {
                let block: Vec<u8> = self.held.drain(..end + 2).collect();
                let block = String::from_utf8(block).expect("UTF-8");
                let mut event = Event::default();
                for line in block.trim_end().split('\n') {
                    match line.split_once(": ") {
                        Some(("id", value)) => value.clone_into(&mut event.id),
                        Some(("event", value)) => value.clone_into(&mut event.name),
                        Some(("data", value)) => value.clone_into(&mut event.data),
                        _ => assert_eq!(line, ":", "{block:?}"),
                    }
                }
                if !event.data.is_empty() {
                    return Some(event);
                }
                continue;
            }
            let piece = self.piece()?;
            self.held.extend(piece);
        }
    }

    /// The events up to the first called `name`.
    pub(crate) fn until(&mut self, name: &str) -> Vec<Event> {
        let mut all = Vec::new();
        while let Some(event) = self.next() {
            let is_it = event.name == name;
            all.push(event);
            if is_it {
                return all;
            }
        }
        panic!("no event {name}: {all:?}");
    }

    /// All that is left, as text.
    pub(crate) fn rest(mut self) -> String {
        while let Some(piece) = self.piece() {
            self.held.extend(piece);
        }
        String::from_utf8(self.held).expect("UTF-8")
    }
}
