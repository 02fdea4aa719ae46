//! The page, in a real browser.

use std::fs;
use std::io::{BufRead, BufReader, Write};

use cr_rundir::RunDir;
use cr_test::{World, fixture};

use crate::browser::Browser;
use crate::http::Server;
use crate::place::{Growing, RUN, ended_run};

const QUESTION: &str = "{\"schema\":1,\"id\":\"7f2c0001\",\"at\":\"2026-11-18T03:15:30.000Z\",\"tool\":\"Bash\",\
    \"kind\":\"permission\",\"text\":\"touch <x>\",\"input\":{\"command\":\"touch <x>\"},\
    \"input_sha256\":\"9f86\",\"state\":\"open\"}\n";

fn says(text: &str) -> String {
    format!(
        "{}\n",
        serde_json::json!({"type": "assistant", "message": {"role": "assistant",
            "content": [{"type": "text", "text": text}]}})
    )
}

fn recording(name: &str) -> Vec<u8> {
    fs::read(fixture(name)).expect("read")
}

fn url(server: &Server) -> String {
    format!("http://127.0.0.1:{}/#{}", server.port, server.token)
}

#[test]
fn a_live_run_is_shown_with_its_agents_and_its_question_is_answered() {
    let world = World::new();
    let Some(mut browser) = Browser::start(&world) else {
        return;
    };
    let run = Growing::start(&world, RUN);
    run.append(&recording("multiturn/mt-team-pipeline.326.ndjson"));
    run.append(&recording("captures/02-tools.ndjson"));
    fs::write(run.dir.join("questions"), QUESTION).expect("written");
    let dir = RunDir::existing(&run.dir).expect("opened");
    let socket = cr_control::bind(&dir).expect("bound");
    let server = Server::start(&world, &["--allow-control"]);
    browser.show_as(1440, 900, "light");
    browser.open(&url(&server));
    browser.until("document.title === '(1) cr-serve'");
    assert_eq!(
        browser.value("location.hash + document.cookie"),
        "",
        "the token is gone"
    );
    browser.until(
        "document.querySelector('[aria-label=Context] .part').style.width === '0%' \
        && document.querySelector('.facts').innerText.includes('14')",
    );
    for agent in ["main", "pm", "arch", "fe", "be", "qa"] {
        browser.until(&format!(
            "[...document.querySelectorAll('.agents .name')].some((it) => it.innerText === '{agent}')"
        ));
    }
    browser.until("document.querySelector('.commits code').innerText === '6b4350e'");
    browser.until("document.querySelector('#timeline').width > 100 && !document.querySelector('#when').hidden");
    for kind in ["group .badge", "commit", "tool .diff .added", "result"] {
        browser.until(&format!("document.querySelector('.k-{kind}')"));
    }
    // It follows: what comes is in sight.
    run.append(says("the newest words").as_bytes());
    browser.until("document.querySelector('#log').innerText.includes('the newest words')");
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| {
            let (stream, _) = socket.accept().expect("a connection");
            let mut line = String::new();
            BufReader::new(&stream)
                .read_line(&mut line)
                .expect("a request");
            let reply = "{\"schema\":1,\"ok\":true,\"id\":\"7f2c0001\"}\n";
            (&stream).write_all(reply.as_bytes()).expect("replied");
            line
        });
        browser.click("#need-list input");
        browser.write("not there");
        browser.click("#need-list .danger");
        let line = asked.join().expect("asked");
        let asked: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(
            (asked["op"].as_str(), asked["decision"].as_str()),
            (Some("answer"), Some("deny"))
        );
        assert_eq!(
            (asked["id"].as_str(), asked["text"].as_str()),
            (Some("7f2c0001"), Some("not there"))
        );
    });
    let answered = "{\"schema\":1,\"id\":\"7f2c0001\",\"at\":\"2026-11-18T03:15:40.000Z\",\"state\":\"answered\"}\n";
    fs::write(run.dir.join("questions"), format!("{QUESTION}{answered}")).expect("written");
    browser.until("document.querySelector('#needs').hidden && document.title === 'cr-serve'");
    run.end();
    browser.until("document.querySelector('.verdict h2').innerText.includes('success')");
}

#[test]
fn who_scrolls_up_stays_there_and_a_search_finds_what_is_not_in_the_page() {
    let world = World::new();
    let Some(mut browser) = Browser::start(&world) else {
        return;
    };
    let run = Growing::start(&world, RUN);
    let many: Vec<String> = (0..3000)
        .map(|number| says(&format!("line {number}.")))
        .collect();
    run.append(many.concat().as_bytes());
    let server = Server::start(&world, &[]);
    browser.show_as(1440, 900, "dark");
    browser.open(&url(&server));
    browser.until("document.querySelector('#log').innerText.includes('line 2999.')");
    assert!(
        browser
            .value("document.querySelectorAll('#canvas > *').length")
            .as_u64()
            < Some(200)
    );
    browser.press("g");
    browser.until("document.querySelector('#log').innerText.includes('line 0.')");
    run.append(says("more words").as_bytes());
    browser.until("document.querySelector('#follow').innerText === '↓ 1 new event'");
    assert_eq!(browser.value("document.querySelector('#log').scrollTop"), 0);
    browser.press("/");
    browser.write("line 1500.");
    browser.press("Enter");
    browser.until("document.querySelector('.marked').innerText.includes('line 1500.')");
    browser.click("#follow");
    browser.until(
        "document.querySelector('#log').innerText.includes('more words') \
        && document.querySelector('#follow').hidden",
    );
}

#[test]
fn after_a_restart_of_the_server_nothing_is_missing_or_shown_twice() {
    let world = World::new();
    let Some(mut browser) = Browser::start(&world) else {
        return;
    };
    let run = Growing::start(&world, RUN);
    run.append(says("before").as_bytes());
    let first = Server::start(&world, &[]);
    let port = first.port.to_string();
    drop(first);
    let server = Server::start(&world, &["--port", &port]);
    browser.show_as(1440, 900, "light");
    browser.open(&url(&server));
    browser.until("document.querySelector('#log').innerText.includes('before')");
    drop(server);
    browser.until("document.querySelector('#state .problem')");
    run.append(says("meanwhile").as_bytes());
    let _server = Server::start(&world, &["--port", &port]);
    run.append(says("after").as_bytes());
    browser.until(
        "document.querySelector('#log').innerText.includes('after') \
        && !document.querySelector('#state .problem')",
    );
    let shown = browser.text("#log");
    for word in ["before", "meanwhile", "after"] {
        assert_eq!(shown.matches(word).count(), 1, "{shown}");
    }
}

#[test]
fn t11_a_hostile_transcript_is_text() {
    let world = World::new();
    let Some(mut browser) = Browser::start(&world) else {
        return;
    };
    let attack = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>\
                  <svg onload='window.hacked = 1'> \u{1b}[2J \u{202e} [x](javascript:hacked) https://e.example/\"x";
    let mut text = says(attack) + &says(&format!("```\n{attack}\n```\n# {attack}\n- `{attack}`"));
    for line in [
        serde_json::json!({"type": "system", "subtype": "init", "model": attack, "cwd": {"a": attack}}),
        serde_json::json!({"type": "assistant", "parent_tool_use_id": attack, "message": {"content": [
            {"type": "tool_use", "id": attack, "name": attack, "input": {"command": attack}},
            {"type": "tool_use", "id": "e", "name": "Edit",
             "input": {"file_path": attack, "old_string": attack, "new_string": "x"}}]}}),
        serde_json::json!({"type": "user", "message": {"content": [
            {"type": "tool_result", "tool_use_id": attack, "is_error": true, "content": attack}]}}),
        serde_json::json!({"type": "result", "subtype": 5, "errors": attack, "num_turns": [attack]}),
        serde_json::json!({"type": "cr", "subtype": "ask", "id": 7, "text": [attack], "state": "open"}),
        serde_json::json!({"type": "cr", "subtype": "git", "phase": "end", "commits": attack, "files": 5}),
        serde_json::json!({"type": [attack], "x": 1}),
    ] {
        text += &format!("{line}\n");
    }
    text += &format!("{attack}\nevent: end\rdata: {{}}\r\n[{{}}]\n{{\"a\":}}\n");
    text += &says(&"y".repeat(5 << 20));
    text += &says("the last words");
    let file = world.write("hostile.ndjson", text);
    let server = Server::start(&world, &[file.to_str().expect("a name")]);
    browser.show_as(1440, 900, "light");
    browser.open(&url(&server));
    browser.until("document.querySelector('#log').innerText.includes('the last words')");
    browser.press("b");
    browser.press("g");
    browser.until("document.querySelector('#log').innerText.includes('window.hacked')");
    let foreign = "document.querySelectorAll('#log script, #log img, #log svg, #log [onerror], a[href^=\"javascript\"]').length";
    assert_eq!(browser.value(foreign), 0);
    assert!(browser.value("window.hacked").is_null());
    assert!(browser.text("#log").contains("\\u{202e}"));
}

#[test]
fn at_the_width_of_a_phone_and_of_a_screen_nothing_is_wider_than_the_page() {
    let world = World::new();
    let Some(mut browser) = Browser::start(&world) else {
        return;
    };
    ended_run(&world);
    let server = Server::start(&world, &[]);
    for (width, colours) in [
        (1440, "light"),
        (1440, "dark"),
        (390, "light"),
        (390, "dark"),
    ] {
        browser.show_as(width, 844, colours);
        browser.open(&url(&server));
        browser.until("document.querySelector('#run-list .run')");
        let wide = "document.documentElement.scrollWidth - innerWidth";
        if width < 800 {
            browser.click("#show-runs");
            browser.until("document.querySelector('#runs').offsetWidth > 300");
            assert_eq!(browser.value(wide), 0);
            browser.click("#run-list .run");
        }
        browser.until("document.querySelector('#log').innerText.includes('All done.')");
        assert_eq!(browser.value(wide), 0);
        if width < 800 {
            browser.click("#show-side");
        }
        browser
            .until("document.querySelector('#side').innerText.toUpperCase().includes('CONTEXT')");
        assert_eq!(browser.value(wide), 0);
        let nameless = "[...document.querySelectorAll('button, input, textarea, a')].filter((it) => \
            it.offsetParent && !(it.textContent || it.ariaLabel || it.title || it.labels?.length)) \
            .map((it) => it.outerHTML)";
        assert_eq!(
            browser.value(nameless),
            serde_json::json!([]),
            "every control has a name"
        );
    }
}

#[test]
fn without_the_token_the_page_says_how_to_get_in() {
    let world = World::new();
    let Some(mut browser) = Browser::start(&world) else {
        return;
    };
    ended_run(&world);
    let server = Server::start(&world, &[]);
    browser.open(&format!("http://127.0.0.1:{}/", server.port));
    browser.until("document.querySelector('#empty').innerText.includes('locked')");
    assert_eq!(browser.value("document.querySelectorAll('.run').length"), 0);
}

#[test]
fn an_export_shows_the_run_without_a_server() {
    let world = World::new();
    let Some(mut browser) = Browser::start(&world) else {
        return;
    };
    ended_run(&world);
    let to = world.path("run.html");
    world
        .tool("cr-serve")
        .arg("--export")
        .arg(&to)
        .arg("docs")
        .assert()
        .success();
    browser.show_as(1440, 900, "light");
    browser.open(&format!("file://{}", to.display()));
    browser.until("document.querySelector('#log').innerText.includes('All done.')");
    browser.until("document.querySelector('.verdict h2').innerText.includes('success')");
}
