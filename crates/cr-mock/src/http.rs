//! As much of HTTP/1.1 as a scripted server on loopback needs.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use rustix::net::sockopt;

/// A request, read in full.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) body: Vec<u8>,
}

/// One client's connection.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream) -> io::Result<Self> {
        // Deltas are small writes that someone waits for.
        stream.set_nodelay(true)?;
        let stream = BufReader::new(stream);
        Ok(Self { stream })
    }

    /// The next request, or none when the client is done.
    pub(crate) fn read(&mut self) -> io::Result<Option<Incoming>> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            if self.stream.read_until(b'\n', &mut head)? == 0 {
                return Ok(None);
            }
        }
        let mut headers = [httparse::EMPTY_HEADER; 128];
        let mut parsed = httparse::Request::new(&mut headers);
        parsed.parse(&head).map_err(invalid)?;
        let (method, path) = (parsed.method, parsed.path);
        let mut body = vec![0; length(parsed.headers)?];
        self.stream.read_exact(&mut body)?;
        Ok(Some(Incoming {
            method: method.unwrap_or_default().to_owned(),
            path: path.unwrap_or_default().to_owned(),
            body,
        }))
    }

    /// Writes a whole answer.
    pub(crate) fn reply(&mut self, status: u16, headers: &Headers, body: &[u8]) -> io::Result<()> {
        let mut head = head(status, headers);
        head.extend(format!("content-length: {}\r\n\r\n", body.len()).bytes());
        head.extend(body);
        self.write(&head)
    }

    /// Begins an answer whose parts follow as chunks.
    pub(crate) fn begin(&mut self, headers: &Headers) -> io::Result<()> {
        let mut head = head(200, headers);
        head.extend(b"transfer-encoding: chunked\r\n\r\n");
        self.write(&head)
    }

    /// Writes one part of an answer begun.
    pub(crate) fn chunk(&mut self, data: &[u8]) -> io::Result<()> {
        let mut chunk = format!("{:x}\r\n", data.len()).into_bytes();
        chunk.extend(data);
        chunk.extend(b"\r\n");
        self.write(&chunk)
    }

    /// Ends an answer begun.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        self.write(b"0\r\n\r\n")
    }

    /// Cuts the connection the hard way: the client sees a reset.
    pub(crate) fn cut(&self) -> io::Result<()> {
        let linger = Some(Duration::ZERO);
        Ok(sockopt::set_socket_linger(self.stream.get_ref(), linger)?)
    }

    /// Waits, without a word, until the client goes away.
    pub(crate) fn outwait(&mut self) -> io::Result<()> {
        while self.stream.read(&mut [0; 64])? > 0 {}
        Ok(())
    }

    fn write(&mut self, data: &[u8]) -> io::Result<()> {
        self.stream.get_mut().write_all(data)
    }
}

/// The headers of an answer.
pub(crate) type Headers = BTreeMap<String, String>;

fn head(status: u16, headers: &Headers) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status} {}\r\n", reason(status)).into_bytes();
    for (name, value) in headers {
        head.extend(format!("{name}: {value}\r\n").bytes());
    }
    head
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400..500 => "Client Error",
        _ => "Server Error",
    }
}

/// The length of the body. A chunked body is refused: the CLI sends none.
fn length(headers: &[httparse::Header<'_>]) -> io::Result<usize> {
    for header in headers {
        if header.name.eq_ignore_ascii_case("transfer-encoding") {
            return Err(invalid("a chunked request"));
        }
        if header.name.eq_ignore_ascii_case("content-length") {
            let text = std::str::from_utf8(header.value).map_err(invalid)?;
            return text.trim().parse().map_err(invalid);
        }
    }
    Ok(0)
}

fn invalid(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, cause)
}
