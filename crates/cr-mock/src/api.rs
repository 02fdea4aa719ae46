//! The scripted Messages API: a thread a connection, on loopback.

use std::fs::{self, File};
use std::io::{self, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use crate::http::{Connection, Headers, Incoming};
use crate::message::{self, Delivery};
use crate::request::Request;
use crate::scenario::{Answer, Cut, Failure, Scenario, Step};

/// The API: a scenario, and where requests are written down.
#[derive(Debug)]
pub(crate) struct Api {
    pub(crate) scenario: Scenario,
    pub(crate) log: Option<Mutex<File>>,
    pub(crate) bodies: Option<PathBuf>,
    pub(crate) requests: AtomicUsize,
}

/// A line of the request log.
#[derive(Debug, Serialize)]
struct Entry<'a> {
    n: usize,
    at: String,
    method: &'a str,
    path: &'a str,
    bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    lane: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<usize>,
}

impl Api {
    /// Answers every connection to `listener`, for ever.
    pub(crate) fn serve(self, listener: &TcpListener) -> io::Result<()> {
        let api = Arc::new(self);
        loop {
            let (stream, _) = listener.accept()?;
            let api = Arc::clone(&api);
            // A client may close the connection in the middle of an answer.
            thread::spawn(move || api.converse(stream));
        }
    }

    fn converse(&self, stream: TcpStream) -> io::Result<()> {
        let mut connection = Connection::new(stream)?;
        while let Some(incoming) = connection.read()? {
            if self.answer(&incoming, &mut connection)? == Delivery::Cut {
                break;
            }
        }
        Ok(())
    }

    fn answer(&self, incoming: &Incoming, connection: &mut Connection) -> io::Result<Delivery> {
        let route = incoming.path.split('?').next().unwrap_or_default();
        match (incoming.method.as_str(), route) {
            ("POST", "/v1/messages") => return self.messages(incoming, connection),
            ("POST", "/v1/messages/count_tokens") => {
                self.note(&self.entry(incoming))?;
                let tokens = (incoming.body.len() / 4).max(1);
                reply(connection, 200, &json!({"input_tokens": tokens}))?;
            }
            // The CLI's connection check; the answer has no body.
            ("HEAD", _) => {
                self.note(&self.entry(incoming))?;
                connection.reply(200, &Headers::new(), b"")?;
            }
            _ => {
                self.note(&self.entry(incoming))?;
                fail(connection, &Failure::new(404, "no such endpoint"))?;
            }
        }
        Ok(Delivery::Whole)
    }

    fn messages(&self, incoming: &Incoming, connection: &mut Connection) -> io::Result<Delivery> {
        let entry = self.entry(incoming);
        if let Some(dir) = &self.bodies {
            fs::write(dir.join(format!("{:04}.json", entry.n)), &incoming.body)?;
        }
        let request: Request = match serde_json::from_slice(&incoming.body) {
            Ok(request) => request,
            Err(err) => {
                self.note(&entry)?;
                fail(connection, &Failure::new(400, &err.to_string()))?;
                return Ok(Delivery::Whole);
            }
        };
        let Answer { lane, index, step } = self.scenario.next(&request);
        self.note(&Entry {
            lane: Some(lane),
            step: index,
            model: Some(&request.model),
            stream: Some(request.stream),
            messages: Some(request.messages.len()),
            tools: Some(request.tools.len()),
            ..entry
        })?;
        self.play(step, &request, connection)
    }

    fn play(
        &self,
        step: &Step,
        request: &Request,
        connection: &mut Connection,
    ) -> io::Result<Delivery> {
        thread::sleep(Duration::from_millis(step.delay_ms));
        if step.silent {
            connection.outwait()?;
            return Ok(Delivery::Cut);
        }
        if step.drop == Some(Cut::Before) {
            connection.cut()?;
            return Ok(Delivery::Cut);
        }
        if let Some(error) = &step.error {
            fail(connection, error)?;
            return Ok(Delivery::Whole);
        }
        let message = message::whole(step, request, &self.scenario);
        let mut headers = step.headers.clone();
        headers.insert("request-id".to_owned(), self.scenario.name("req_mock"));
        let kind = if request.stream {
            "text/event-stream; charset=utf-8"
        } else {
            "application/json"
        };
        headers.insert("content-type".to_owned(), kind.to_owned());
        if !request.stream {
            connection.reply(200, &headers, message.to_string().as_bytes())?;
            return Ok(Delivery::Whole);
        }
        connection.begin(&headers)?;
        message::stream(&message, step, connection)
    }

    fn entry<'a>(&self, incoming: &'a Incoming) -> Entry<'a> {
        Entry {
            n: self.requests.fetch_add(1, Ordering::Relaxed) + 1,
            at: jiff::Timestamp::now().to_string(),
            method: &incoming.method,
            path: &incoming.path,
            bytes: incoming.body.len(),
            lane: None,
            step: None,
            model: None,
            stream: None,
            messages: None,
            tools: None,
        }
    }

    fn note(&self, entry: &Entry<'_>) -> io::Result<()> {
        let Some(log) = &self.log else {
            return Ok(());
        };
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        log.lock().expect("no holder panics").write_all(&line)
    }
}

impl Failure {
    fn new(status: u16, message: &str) -> Self {
        Self {
            status,
            message: Some(message.to_owned()),
            ..Self::default()
        }
    }
}

fn reply(connection: &mut Connection, status: u16, body: &Value) -> io::Result<()> {
    let kind = ("content-type".to_owned(), "application/json".to_owned());
    connection.reply(status, &Headers::from([kind]), body.to_string().as_bytes())
}

fn fail(connection: &mut Connection, error: &Failure) -> io::Result<()> {
    let kind = error.kind.as_deref().unwrap_or(match error.status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    });
    let message = error.message.as_deref().unwrap_or("scripted error");
    let body = json!({"type": "error", "error": {"type": kind, "message": message}});
    let mut headers = error.headers.clone();
    headers.insert("content-type".to_owned(), "application/json".to_owned());
    connection.reply(error.status, &headers, body.to_string().as_bytes())
}
