//! A real Chromium, told what to do over a pipe.

use std::env;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::process::ChildStdin;
use std::process::Stdio;

use cr_test::{Child, Pipe, World, left_out};
use serde_json::{Value, json};

/// What no test needs, and everything that would ask another machine.
const OPTIONS: &str = "--headless=new --no-sandbox --disable-gpu --no-first-run \
    --no-default-browser-check --disable-dev-shm-usage --disable-background-networking \
    --disable-component-update --disable-sync --disable-default-apps --disable-extensions \
    --metrics-recording-only --mute-audio --password-store=basic --remote-debugging-pipe";

/// A browser with one page.
pub(crate) struct Browser {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<Pipe>,
    number: u64,
    session: String,
}

impl Browser {
    /// Starts the program of `CR_CHROMIUM`; without one the test is left out.
    pub(crate) fn start(world: &World) -> Option<Self> {
        let Some(program) = env::var_os("CR_CHROMIUM") else {
            left_out("the page in a browser: CR_CHROMIUM is not set");
            return None;
        };
        // Its pipe is at the descriptors 3 and 4.
        let line = "exec \"$0\" \"$@\" 3<&0 4>&1 >/dev/null 2>&1 </dev/null";
        let mut command = world.command("/bin/sh");
        command.args(["-c", line]).arg(program);
        command.args(OPTIONS.split_whitespace());
        command.arg("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1");
        let profile = world.path("chromium");
        command.arg(format!("--user-data-dir={}", profile.display()));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("started");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut browser = Self {
            child,
            input,
            output,
            number: 0,
            session: String::new(),
        };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let target = json!({"targetId": target["targetId"], "flatten": true});
        let attached = browser.call("Target.attachToTarget", target);
        let session = attached["sessionId"].as_str().expect("a session");
        session.clone_into(&mut browser.session);
        browser.call("Page.enable", json!({}));
        Some(browser)
    }

    /// Calls a method of the protocol.
    #[expect(clippy::needless_pass_by_value, reason = "written where it is called")]
    fn call(&mut self, method: &str, params: Value) -> Value {
        self.number += 1;
        let mut message = json!({"id": self.number, "method": method, "params": params});
        if !self.session.is_empty() {
            message["sessionId"] = self.session.as_str().into();
        }
        let mut text = message.to_string();
        text.push('\0');
        let input = self.input.as_mut().expect("open");
        input.write_all(text.as_bytes()).expect("sent");
        loop {
            let mut answer = Vec::new();
            self.output.read_until(0, &mut answer).expect("an answer");
            assert_eq!(answer.pop(), Some(0), "{method}: the browser has ended");
            let answer: Value = serde_json::from_slice(&answer).expect("JSON");
            if answer["id"] == self.number {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
        }
    }

    /// Sets the size of the window, in pixels, and the colours.
    pub(crate) fn show_as(&mut self, width: u32, height: u32, colours: &str) {
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size);
        let feature = json!({"name": "prefers-color-scheme", "value": colours});
        self.call("Emulation.setEmulatedMedia", json!({"features": [feature]}));
    }

    /// Opens an address.
    pub(crate) fn open(&mut self, url: &str) {
        self.call("Page.navigate", json!({"url": "about:blank"}));
        let opened = self.call("Page.navigate", json!({"url": url}));
        assert!(opened["errorText"].is_null(), "{url}: {opened}");
    }

    /// The value of an expression in the page.
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let result = self.call("Runtime.evaluate", params);
        assert!(
            result["exceptionDetails"].is_null(),
            "{expression}: {result}"
        );
        result["result"]["value"].clone()
    }

    /// Waits until an expression holds in the page.
    pub(crate) fn until(&mut self, expression: &str) {
        let wrapped = format!(
            "(() => {{ try {{ return Boolean({expression}); }} catch {{ return false; }} }})()"
        );
        let deadline = std::time::Instant::now() + cr_test::limit();
        while self.value(&wrapped) != Value::Bool(true) {
            if std::time::Instant::now() > deadline {
                let shown = self.value("document.body.innerText");
                panic!(
                    "never: {expression}\n{}",
                    shown.as_str().unwrap_or_default()
                );
            }
        }
    }

    /// Clicks what a selector finds, in its middle, as a person does.
    pub(crate) fn click(&mut self, selector: &str) {
        let place = format!(
            "(() => {{ const it = document.querySelector({selector:?}); it.scrollIntoView({{block: 'nearest'}});\
             const box = it.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        );
        let place = self.value(&place);
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({"type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1});
            self.call("Input.dispatchMouseEvent", event);
        }
    }

    /// Presses a key.
    pub(crate) fn press(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" && key.len() == 1 {
                key
            } else {
                ""
            };
            let code = if key == "Enter" { 13 } else { 0 };
            let event =
                json!({"type": kind, "key": key, "text": text, "windowsVirtualKeyCode": code});
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Types a text into what has the focus.
    pub(crate) fn write(&mut self, text: &str) {
        self.call("Input.insertText", json!({"text": text}));
    }

    /// What can be read in the page, for a failure.
    pub(crate) fn text(&mut self, selector: &str) -> String {
        let mut expression = String::new();
        let _ = write!(expression, "document.querySelector({selector:?}).innerText");
        self.value(&expression)
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It ends when its pipe does, with all of its processes.
        drop(self.input.take());
        let _ = self.child.wait();
    }
}
