//! Who gets in.

use std::io::Write;

use cr_test::{World, fixture};

use crate::http::Server;

/// A name, and whether it is this machine's.
fn hosts(port: u16) -> [(String, bool); 12] {
    [
        (format!("Host: 127.0.0.1:{port}"), true),
        (format!("Host: localhost:{port}"), true),
        (format!("Host: [::1]:{port}"), true),
        ("Host: 127.0.0.1:1".into(), true),
        ("Host: LOCALHOST".into(), true),
        ("Host: evil.example".into(), false),
        (format!("Host: evil.example:{port}"), false),
        (format!("Host: 127.0.0.1.nip.io:{port}"), false),
        (format!("Host: localhost.evil.example:{port}"), false),
        (format!("Host: 0.0.0.0:{port}"), false),
        ("Host: 127.0.0.1:80\r\nHost: evil.example".into(), false),
        ("X-Host: none".into(), false),
    ]
}

/// What a request says of the page that makes it; whether that page is the
/// server's own, for one that reads and for one that changes something.
fn origins(host: &str) -> [(String, bool, bool); 8] {
    let own = host.trim_start_matches("Host: ").to_ascii_lowercase();
    [
        ("X-Origin: none".into(), true, false),
        (format!("Origin: http://{own}"), true, true),
        (
            format!("Origin: http://{own}\r\nSec-Fetch-Site: same-origin"),
            true,
            true,
        ),
        (
            format!("Origin: http://{own}\r\nSec-Fetch-Site: cross-site"),
            false,
            false,
        ),
        ("Sec-Fetch-Site: same-site".into(), false, false),
        ("Origin: null".into(), false, false),
        ("Origin: https://evil.example".into(), false, false),
        (format!("Origin: https://{own}"), false, false),
    ]
}

#[test]
fn t10_only_the_right_name_origin_and_token_together_get_an_answer() {
    let world = World::new();
    let run = crate::place::ended_run(&world);
    let server = Server::start(&world, &[]);
    let targets = [
        (format!("GET /events?run={run}"), 200),
        ("GET /api/runs".to_owned(), 200),
        // Control is off; who gets this far was let in.
        (format!("POST /api/runs/{run}/stop"), 403),
        (format!("POST /api/runs/{run}/message"), 403),
        (format!("POST /api/runs/{run}/answer"), 403),
        ("POST /api/session".to_owned(), 204),
    ];
    let wrong = "0".repeat(64);
    for (target, answer) in &targets {
        let is_post = target.starts_with("POST");
        let mut cells = 0;
        for (host, is_own_name) in hosts(server.port) {
            for (origin, may_read, may_change) in origins(&host) {
                for token in [None, Some(&wrong), Some(&server.token)] {
                    let token = token.map(|token| format!("Authorization: Bearer {token}"));
                    let mut headers = vec![host.as_str(), &origin];
                    headers.extend(token.as_deref());
                    let is_own_page = if is_post { may_change } else { may_read };
                    let is_right = token
                        .as_ref()
                        .is_some_and(|token| token.contains(&server.token));
                    let reply = server.ask(target, &headers, "");
                    let expected: &[u16] = match (is_own_name, is_own_page, is_right) {
                        (false, ..) => &[421, 400],
                        (_, false, _) => &[403],
                        (_, _, false) => &[401, 429],
                        _ => &[*answer],
                    };
                    let place = format!("{target} {headers:?}: {}", reply.head);
                    assert!(expected.contains(&reply.status), "{place}");
                    if reply.status == 403 && *answer == 403 {
                        let by_control = reply.body.contains("--allow-control");
                        assert_eq!(by_control, is_own_page && is_right, "{place}");
                    }
                    assert!(
                        !reply.head.to_lowercase().contains("access-control"),
                        "{place}"
                    );
                    cells += 1;
                }
            }
        }
        assert_eq!(cells, 288);
    }
}

#[test]
fn the_page_trades_the_token_for_a_cookie_with_the_name_of_its_port() {
    let world = World::new();
    let server = Server::start(&world, &[]);
    let [_, token] = server.right();
    let asked = [
        "Host: localhost:9999",
        "Origin: http://localhost:9999",
        &token,
    ];
    let reply = server.ask("POST /api/session", &asked, "");
    assert_eq!(reply.status, 204);
    let set = reply
        .head
        .lines()
        .find_map(|line| line.strip_prefix("set-cookie: "));
    let set = set.expect("a cookie");
    let cookie = format!("cr_serve_9999={}", server.token);
    assert_eq!(set, format!("{cookie}; Path=/; HttpOnly; SameSite=Strict"));
    let with = |host: &str, cookie: &str| {
        let (host, cookie) = (format!("Host: {host}"), format!("Cookie: a=b; {cookie}"));
        server.ask("GET /api/runs", &[&host, &cookie], "").status
    };
    assert_eq!(with("localhost:9999", &cookie), 200);
    assert_eq!(with("localhost:9998", &cookie), 401);
    assert_eq!(with("localhost:9999", "cr_serve_9999="), 401);
}

#[test]
fn the_page_itself_needs_no_token_and_loads_nothing_from_elsewhere() {
    let world = World::new();
    let server = Server::start(&world, &[]);
    let host = format!("Host: 127.0.0.1:{}", server.port);
    for path in ["/", "/app.js", "/style.css", "/icon.svg"] {
        let reply = server.ask(&format!("GET {path}"), &[&host], "");
        assert_eq!(reply.status, 200, "{path}");
        for line in [
            "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; \
             connect-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'; \
             form-action 'none'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
        ] {
            assert!(reply.head.contains(line), "{path}: {}", reply.head);
        }
        assert_eq!(
            server
                .ask(&format!("GET {path}"), &["Host: evil.example"], "")
                .status,
            421
        );
        assert_eq!(
            server.ask(&format!("POST {path}"), &[&host], "").status,
            403
        );
    }
}

#[test]
fn another_name_needs_a_public_url_and_the_refusal_says_so() {
    let world = World::new();
    let server = Server::start(&world, &[]);
    let [_, token] = server.right();
    let reply = server.ask("GET /api/runs", &["Host: dev.example.com", &token], "");
    assert_eq!(reply.status, 421);
    assert!(reply.body.contains("--public-url"), "{}", reply.body);

    let mut command = world.tool("cr-serve");
    command.args(["--public-url", "https://dev.example.com/"]);
    let mut child = command
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("started");
    let line = cr_test::line_with(
        &mut std::io::BufReader::new(child.stdout.take().expect("a pipe")),
        "#",
    );
    assert!(line.starts_with("https://dev.example.com/#"), "{line}");
    child.kill().expect("killed");
    child.wait().expect("ended");
}

#[test]
fn wrong_tokens_are_limited_and_the_right_one_never_is() {
    let world = World::new();
    let server = Server::start(&world, &[]);
    let host = format!("Host: 127.0.0.1:{}", server.port);
    let wrong = format!("Authorization: Bearer {}", "f".repeat(64));
    let mut limited = 0;
    for _ in 0..200 {
        let status = server.ask("GET /api/runs", &[&host, &wrong], "").status;
        assert!(matches!(status, 401 | 429), "{status}");
        limited += u32::from(status == 429);
        if status == 429 {
            assert_eq!(server.get("/api/runs").status, 200);
        }
    }
    assert!(limited > 0);
}

#[test]
fn t14_no_path_reaches_a_file() {
    let world = World::new();
    let server = Server::start(&world, &[]);
    let up = [
        "..",
        "%2e%2e",
        "..%2f",
        "%2e%2e%5c",
        "....//",
        "%c0%ae%c0%ae",
        "..;",
        "%252e%252e",
    ];
    let ends = [
        "etc/passwd",
        "state/ledger.db",
        "%2fetc%2fpasswd",
        "proc/self/environ",
        "",
    ];
    let begins = [
        "",
        "api/runs/",
        "api/runs/%2e%2e/",
        "app.js/",
        "assets/",
        "events/",
    ];
    let mut count = 0;
    for begin in begins {
        for part in up {
            for end in ends {
                for depth in [1, 4] {
                    let path = format!("/{begin}{}{end}", format!("{part}/").repeat(depth));
                    let reply = server.get(&path);
                    assert!(matches!(reply.status, 400 | 404), "{path}: {}", reply.head);
                    assert!(!reply.body.contains("root:"), "{path}");
                    count += 1;
                }
            }
        }
    }
    assert!(count >= 480, "{count}");
    for run in [
        "..",
        ".",
        "%2e%2e%2f",
        "20261118T031500Z-1f0c22ab%2f..",
        "a%00b",
    ] {
        let reply = server.get(&format!("/events?run={run}"));
        assert_eq!(reply.status, 404, "{run}");
    }
}

#[test]
fn malformed_requests_end_no_server() {
    let world = World::new();
    let mut server = Server::start(&world, &[]);
    let good = format!(
        "POST /api/session HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n\
         Cookie: a=b; c\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{{}}",
        server.port, server.token
    );
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |most: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % most as u64).expect("a small number")
    };
    for round in 0..cr_test::repeats(400, 20_000) {
        let mut bytes = good.clone().into_bytes();
        for _ in 0..=random(6) {
            let at = random(bytes.len());
            match random(5) {
                0 => bytes[at] = u8::try_from(random(256)).expect("a byte"),
                1 => drop(bytes.drain(at..)),
                2 => bytes.insert(at, b"\r\n\0: \xff/%"[random(8)]),
                3 => bytes.extend_from_within(at..),
                _ => bytes
                    .splice(at..at, vec![b'A'; random(12_000)])
                    .for_each(drop),
            }
            if bytes.is_empty() {
                bytes.push(b'\n');
            }
        }
        server.raw(&bytes);
        assert!(round % 100 != 0 || server.is_running());
    }
    assert!(server.is_running());
    assert_eq!(server.get("/api/runs").status, 200);
}

#[test]
fn a_head_that_is_too_long_is_refused() {
    let world = World::new();
    let server = Server::start(&world, &[]);
    let long = format!("X-Long: {}", "a".repeat(9 << 10));
    let host = format!("Host: 127.0.0.1:{}", server.port);
    assert_eq!(server.ask("GET /", &[&host, &long], "").status, 431);
}

#[test]
fn b4_more_readers_than_the_limit_are_refused_until_one_leaves() {
    let world = World::new();
    let file = fixture("captures/02-tools.ndjson");
    let server = Server::start(
        &world,
        &["--max-clients", "3", file.to_str().expect("a name")],
    );
    let readers: Vec<_> = (0..3)
        .map(|_| server.events("/events?run=file-1", &[]))
        .collect();
    assert_eq!(server.get("/events?run=file-1").status, 503);
    assert_eq!(server.get("/api/runs").status, 200);
    drop(readers);
    cr_test::until("a place is free", || {
        let mut stream = server.connect();
        let right = server.right().join("\r\n");
        let head = format!("GET /events HTTP/1.1\r\n{right}\r\n\r\n");
        stream.write_all(head.as_bytes()).expect("sent");
        let mut first = [0; 12];
        std::io::Read::read_exact(&mut stream, &mut first).expect("an answer");
        first == *b"HTTP/1.1 200"
    });
}

#[test]
fn a_chosen_port_keeps_its_token_and_a_free_one_gets_a_new_one() {
    let world = World::new();
    let first = Server::start(&world, &[]);
    let second = Server::start(&world, &[]);
    assert_ne!(first.token, second.token);
    let port = first.port.to_string();
    drop(first);
    let kept = Server::start(&world, &["--port", &port]);
    let token = kept.token.clone();
    let second = world.tool("cr-serve").args(["--port", &port]).output();
    assert_eq!(second.expect("run").status.code(), Some(69));
    drop(kept);
    assert_eq!(Server::start(&world, &["--port", &port]).token, token);
}
