//! A run as events.

use std::fs;

use cr_test::{World, fixture};

use crate::http::{Event, Server};
use crate::place::{Growing, RUN, ended_run};

/// The lines of the transcript.
fn lines(events: &[Event]) -> Vec<&Event> {
    events
        .iter()
        .filter(|event| event.name.is_empty())
        .collect()
}

fn line(number: usize) -> String {
    format!("{{\"type\":\"assistant\",\"n\":{number}}}\n")
}

#[test]
fn a_run_that_has_ended_is_sent_whole_with_what_it_left() {
    let world = World::new();
    let run = ended_run(&world);
    let server = Server::start(&world, &[]);
    let mut reader = server.events(&format!("/events?run={run}"), &[]);
    let events = reader.until("end");
    assert_eq!(reader.next(), None, "the answer ends with the run");
    let recorded = fs::read_to_string(world.state().join("runs").join(run).join("stream.ndjson"));
    let recorded = recorded.expect("read");
    let sent = lines(&events);
    assert_eq!(sent.len(), recorded.lines().count());
    let mut place = 0;
    for (sent, line) in sent.iter().zip(recorded.split_inclusive('\n')) {
        place += line.len();
        assert_eq!(sent.id, place.to_string());
        let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
        assert_eq!(read(&sent.data), read(line));
    }
    let names: Vec<&str> = events
        .iter()
        .map(|event| &*event.name)
        .filter(|it| !it.is_empty())
        .collect();
    assert_eq!(names, ["start", "live", "git", "summary", "end"]);
    let summary = events
        .iter()
        .find(|event| event.name == "summary")
        .expect("one");
    assert!(summary.data.contains("\"outcome\":\"success\""));
    let last = events.last().expect("one");
    let again = server.events(
        &format!("/events?run={run}"),
        &[&format!("Last-Event-ID: {}", last.id)],
    );
    assert_eq!(again.status, 204, "a browser asks no more");
}

#[test]
fn b3_a_reader_that_comes_back_misses_nothing_and_gets_nothing_twice() {
    let world = World::new();
    let run = Growing::start(&world, RUN);
    let server = Server::start(&world, &[]);
    let path = format!("/events?run={RUN}");
    let mut seen = Vec::new();
    let mut last = "0".to_owned();
    let total = cr_test::repeats(40, 200);
    for round in 0..total {
        let mut reader = server.events(&path, &[&format!("Last-Event-ID: {last}")]);
        // Half of them are there before the reader, half come while it waits; the
        // last is written in two parts.
        run.append(line(3 * round).as_bytes());
        let text = line(3 * round + 1) + &line(3 * round + 2);
        let (one, two) = text.split_at(text.len() - 9);
        run.append(one.as_bytes());
        run.append(two.as_bytes());
        let wanted = 3 * (round + 1);
        while seen.len() < wanted {
            let event = reader.next().expect("more");
            if event.name.is_empty() {
                last.clone_from(&event.id);
                let value: serde_json::Value = serde_json::from_str(&event.data).expect("JSON");
                seen.extend(value["n"].as_u64());
            }
        }
    }
    let all: Vec<u64> = (0..).take(3 * total).collect();
    assert_eq!(seen, all);
}

#[test]
fn what_a_run_writes_comes_while_it_runs_and_its_end_ends_the_answer() {
    let world = World::new();
    let run = Growing::start(&world, RUN);
    let server = Server::start(&world, &[]);
    let mut reader = server.events(&format!("/events?run={RUN}"), &[]);
    reader.until("live");
    run.append(line(7).as_bytes());
    let mut event = reader.next().expect("more");
    while event.name == "summary" {
        event = reader.next().expect("more");
    }
    assert!(event.data.contains("\"n\":7"), "{event:?}");
    // Without a newline it is no line until the run is over.
    run.append(b"{\"type\":\"torn\"");
    run.append(b"\n");
    run.end();
    let events = reader.until("end");
    let names: Vec<&str> = events.iter().map(|event| &*event.name).collect();
    assert!(names.contains(&"text"), "{names:?}");
    assert_eq!(reader.next(), None);
}

#[test]
fn b5_what_the_agent_wrote_cannot_forge_an_event() {
    let world = World::new();
    let text = concat!(
        "{\"type\":\"assistant\",\"text\":\"</script><img src=x onerror=alert(1)>\\n\\nevent: end\"}\n",
        "event: end\rdata: {}\r\r\n",
        "\u{1b}]0;title\u{7}\u{9b}2J\u{202e}\n",
        "{\"type\":\"user\",\"key\":\"sk-ant-REDACTED-0123456789abcdef\"}\n",
        "[1,2]\n\n",
    );
    let file = world.write("hostile.ndjson", text);
    let server = Server::start(&world, &[file.to_str().expect("a name")]);
    let mut reader = server.events("/events?run=file-1", &[]);
    let events = reader.until("live");
    let names: Vec<&str> = events.iter().map(|event| &*event.name).collect();
    assert_eq!(names, ["start", "", "text", "text", "", "text", "live"]);
    for event in &events {
        let is_plain =
            |c: char| !matches!(c, '<' | '>' | '&' | '\0'..='\x1f' | '\u{7f}'..='\u{9f}');
        assert!(event.data.chars().all(is_plain), "{event:?}");
    }
    assert!(
        !events[4].data.contains("0123456789abcdef"),
        "{:?}",
        events[4]
    );
    assert!(events[4].data.contains("[REDACTED:"), "{:?}", events[4]);
}

#[test]
fn a_line_of_five_megabytes_is_sent_as_its_beginning() {
    let world = World::new();
    let long = format!(
        "{{\"type\":\"user\",\"text\":\"{}\"}}\n",
        "x".repeat(5 << 20)
    );
    let file = world.write("long.ndjson", format!("{}{long}{}", line(1), line(2)));
    let server = Server::start(&world, &[file.to_str().expect("a name")]);
    let events = server.events("/events?run=file-1", &[]).until("live");
    let names: Vec<&str> = events.iter().map(|event| &*event.name).collect();
    assert_eq!(names, ["start", "", "oversize", "", "live"]);
    assert!(events[2].data.len() < 32 << 10);
}

#[test]
fn a_place_that_is_none_is_told_as_a_gap() {
    let world = World::new();
    let file = world.write("run.ndjson", line(1) + &line(2));
    let server = Server::start(&world, &[file.to_str().expect("a name")]);
    let first = line(1).len();
    for (since, why, count) in [("5", "not_a_line", 1), ("9999", "shorter", 2)] {
        let path = format!("/events?run=file-1&since={since}");
        let events = server.events(&path, &[]).until("live");
        assert_eq!(events[1].name, "gap");
        assert!(events[1].data.contains(why), "{:?}", events[1]);
        assert_eq!(lines(&events).len(), count);
    }
    let path = format!("/events?run=file-1&since={first}");
    let events = server.events(&path, &[]).until("live");
    assert_eq!((events.len(), lines(&events).len()), (3, 1));
}

#[test]
fn kinds_choose_the_lines() {
    let world = World::new();
    let run = ended_run(&world);
    let server = Server::start(&world, &[]);
    let of = |kinds: &str| {
        let path = format!("/events?run={run}&kinds={kinds}");
        let events = server.events(&path, &[]).until("end");
        lines(&events).len()
    };
    let (all, own, rest) = (of(""), of("cr"), of("-cr"));
    assert_eq!(own, 2);
    assert_eq!(own + rest, all);
    assert_eq!(of("cr/exit"), 1);
}

#[test]
fn plain_text_is_what_cr_filter_shows() {
    let world = World::new();
    let run = ended_run(&world);
    let stream = world.state().join("runs").join(run).join("stream.ndjson");
    let shown = world.tool("cr-filter").arg(&stream).output().expect("run");
    let server = Server::start(&world, &[]);
    let reader = server.events(&format!("/events?run={run}"), &["Accept: text/plain"]);
    let text = reader.rest();
    assert_eq!(text, String::from_utf8_lossy(&shown.stdout));
    assert!(text.contains("Done: "), "{text}");
}

#[test]
fn standard_input_is_shown_while_it_comes() {
    let world = World::new();
    let mut command = world.tool("cr-serve");
    command.arg("-").stdin(std::process::Stdio::piped());
    let mut child = command
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("started");
    let mut input = child.stdin.take().expect("a pipe");
    let server = Server::of_child(child);
    let mut reader = server.events("/events?run=file-1", &[]);
    reader.until("live");
    std::io::Write::write_all(&mut input, line(1).as_bytes()).expect("written");
    let event = reader.next().expect("more");
    assert!(event.data.contains("\"n\":1"), "{event:?}");
    drop(input);
    reader.until("end");
}

#[test]
fn a_compressed_recording_is_shown_as_it_was() {
    let world = World::new();
    let plain = fs::read(fixture("captures/02-tools.ndjson")).expect("read");
    let file = world.write("run.ndjson.gz", cr_test::gzip(&plain));
    let server = Server::start(&world, &[file.to_str().expect("a name")]);
    let events = server.events("/events?run=file-1", &[]).until("end");
    let count = plain
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
        .count();
    assert_eq!(lines(&events).len(), count);
}

#[test]
fn b4_a_reader_that_reads_nothing_holds_up_nobody() {
    let world = World::new();
    let run = Growing::start(&world, RUN);
    let server = Server::start(&world, &[]);
    let path = format!("/events?run={RUN}");
    let stalled = server.events(&path, &[]);
    let pad = "x".repeat(1000);
    let many: Vec<String> = (0..6000)
        .map(|number| format!("{{\"type\":\"assistant\",\"n\":{number},\"pad\":\"{pad}\"}}\n"))
        .collect();
    run.append(many.concat().as_bytes());
    let readers = 8;
    std::thread::scope(|scope| {
        for _ in 0..readers {
            scope.spawn(|| {
                let mut reader = server.events(&path, &[]);
                let events = reader.until("live");
                assert_eq!(lines(&events).len(), 6001);
            });
        }
    });
    run.end();
    // It is behind, and has lost nothing.
    let mut stalled = stalled;
    let events = stalled.until("end");
    assert_eq!(lines(&events).len(), 6002);
    let status = fs::read_to_string(format!("/proc/{}/status", server.pid())).expect("read");
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .expect("a peak");
    let peak: u64 = peak
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .expect("a number");
    assert!(peak < 100 << 10, "{peak} kB");
}

#[test]
fn an_export_is_one_file_with_secrets_masked() {
    let world = World::new();
    let run = ended_run(&world);
    let stream = world.state().join("runs").join(run).join("stream.ndjson");
    let mut text = fs::read_to_string(&stream).expect("read");
    text += "{\"type\":\"user\",\"key\":\"sk-ant-REDACTED-0123456789abcdef\",\"x\":\"</script>\"}\nno <json>\n{\"a\":}\n";
    text += &format!("{{\"type\":\"user\",\"x\":\"{}\"}}\n", "x".repeat(5 << 20));
    fs::write(&stream, text).expect("written");
    let to = world.path("run.html");
    let mut command = world.tool("cr-serve");
    command
        .arg("--export")
        .arg(&to)
        .arg("docs")
        .assert()
        .success();
    let page = fs::read_to_string(&to).expect("read");
    assert!(page.len() < 3 << 20);
    assert!(!page.contains("0123456789abcdef"));
    assert!(!page.contains("src=\"") && !page.contains("href=\"/"));
    let begin = "<script type=\"application/json\" id=\"recording\">";
    let (_, data) = page.split_once(begin).expect("the data");
    let (data, _) = data.split_once("</script>").expect("its end");
    let data: serde_json::Value = serde_json::from_str(data).expect("JSON");
    assert_eq!(
        (data["name"].as_str(), data["summary"]["outcome"].as_str()),
        (Some("docs"), Some("success"))
    );
    let lines = data["lines"].as_array().expect("an array");
    let last: Vec<bool> = lines[lines.len() - 4..]
        .iter()
        .map(serde_json::Value::is_string)
        .collect();
    assert_eq!(last, [false, true, true, true]);
    let mut command = world.tool("cr-serve");
    command
        .arg("--export")
        .arg(&to)
        .arg("nothing")
        .assert()
        .code(66);
}
