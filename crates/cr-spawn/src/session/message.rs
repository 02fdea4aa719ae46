//! A message for the agent: how it is written by people and programs, and the
//! line that the agent gets.
//!
//! The agent ends at once on a line that it cannot read. So a message is checked
//! here, and its line is composed anew from the parts that are known.

use std::fmt;

use cr_agent::uuid;
use cr_rundir::Delivery;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The longest message, in bytes of its line.
pub(crate) const MAX_MESSAGE: usize = 16 << 20;

/// A message as its sender wrote it, checked.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) id: Option<String>,
    pub(crate) from: Option<String>,
    pub(crate) when: Option<Delivery>,
    /// The content: a JSON string, or an array of blocks.
    pub(crate) content: Box<RawValue>,
}

/// Why a message is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Invalid(pub(crate) String);

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn invalid<T>(text: impl Into<String>) -> Result<T, Invalid> {
    Err(Invalid(text.into()))
}

/// The forms of a message in JSON: `{"text": …}` or the agent's own.
#[derive(Deserialize)]
struct Written<'a> {
    #[serde(default)]
    r#type: Option<String>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default, borrow)]
    message: Option<&'a RawValue>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    uuid: Option<String>,
    #[serde(default)]
    from: Option<String>,
    #[serde(default)]
    when: Option<Delivery>,
}

/// The agent's message inside a line.
#[derive(Deserialize)]
struct Inner<'a> {
    #[serde(default)]
    role: Option<String>,
    #[serde(default, borrow)]
    content: Option<&'a RawValue>,
}

/// A block of content. Its other fields are the agent's business.
#[derive(Deserialize)]
struct Block {
    r#type: String,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    source: Option<Source>,
}

/// Where the bytes of an image or a document are.
#[derive(Deserialize)]
struct Source {
    r#type: String,
    #[serde(default)]
    media_type: Option<String>,
    #[serde(default)]
    data: Option<String>,
}

impl Block {
    /// Whether it belongs to a conversation that nobody had: the model's own words,
    /// or the result of a call that it never made.
    fn is_foreign(&self) -> bool {
        let kinds = ["tool_use", "tool_result", "thinking", "redacted_thinking"];
        kinds.contains(&self.r#type.as_str())
    }

    /// Whether the agent can read it. Some versions end on an image without its
    /// data; a text or a document without it stays in the session, and every later
    /// turn fails by it.
    fn is_whole(&self) -> bool {
        match (self.r#type.as_str(), &self.source) {
            ("text", _) => self.text.is_some(),
            ("image" | "document", Some(source)) => source.is_whole(),
            ("image" | "document", None) => false,
            _ => true,
        }
    }
}

impl Source {
    fn is_whole(&self) -> bool {
        let has_data = self.media_type.is_some() && self.data.is_some();
        self.r#type != "base64" || has_data
    }
}

impl Draft {
    /// Reads a line of standard input: plain text or JSON. `None` is a blank line.
    pub(crate) fn of_line(line: &[u8]) -> Result<Option<Self>, Invalid> {
        let line = line.trim_ascii();
        match line.first() {
            None => Ok(None),
            Some(b'{') => Self::of_json(line).map(Some),
            _ if line == b"null" => invalid("null is no message"),
            _ => Self::of_text(&String::from_utf8_lossy(line)).map(Some),
        }
    }

    /// A message of plain text.
    pub(crate) fn of_text(text: &str) -> Result<Self, Invalid> {
        let content = serde_json::value::to_raw_value(text);
        Self::new(content.map_err(|err| Invalid(err.to_string()))?)
    }

    /// Reads a message in JSON.
    pub(crate) fn of_json(line: &[u8]) -> Result<Self, Invalid> {
        let written: Written<'_> = serde_json::from_slice(line).map_err(|err| {
            let hint = "a text that begins with { is written as {\"text\": …}";
            Invalid(format!("not a message: {err}; {hint}"))
        })?;
        let known = written.r#type.as_deref().is_none_or(|kind| kind == "user");
        if !known {
            return invalid("its type is not user");
        }
        let draft = match (written.text, written.message) {
            (Some(text), None) => Self::of_text(&text)?,
            (None, Some(message)) => Self::of_message(message)?,
            _ => return invalid("a message has either text or message"),
        };
        let draft = Self {
            id: written.id.or(written.uuid),
            from: written.from,
            when: written.when,
            ..draft
        };
        draft.with_valid_id()
    }

    /// Reads the agent's own form, `{"role":"user","content":…}`, or a line with
    /// it.
    pub(crate) fn of_message(message: &RawValue) -> Result<Self, Invalid> {
        let wrong = |err: serde_json::Error| Invalid(format!("not a message: {err}"));
        let inner: Inner<'_> = serde_json::from_str(message.get()).map_err(wrong)?;
        match inner.role.as_deref() {
            Some("user") => {}
            Some(_) => return invalid("its role is not user"),
            None => return invalid("it has no role"),
        }
        let Some(content) = inner.content else {
            return invalid("it has no content");
        };
        Self::new(content.to_owned())
    }

    fn new(content: Box<RawValue>) -> Result<Self, Invalid> {
        if content.get().len() > MAX_MESSAGE {
            return invalid(format!("it is longer than {MAX_MESSAGE} bytes"));
        }
        check_content(content.get())?;
        Ok(Self {
            id: None,
            from: None,
            when: None,
            content,
        })
    }

    pub(crate) fn with_valid_id(self) -> Result<Self, Invalid> {
        match &self.id {
            Some(id) if !uuid::is_uuid(id) => invalid("its id is not a UUID"),
            _ => Ok(self),
        }
    }
}

/// Checks that the agent can read `content` and that there is something in it.
fn check_content(content: &str) -> Result<(), Invalid> {
    let is_blank = |text: &str| text.trim().is_empty();
    // As a string and not raw: a lone surrogate is refused.
    if let Ok(text) = serde_json::from_str::<String>(content) {
        return if is_blank(&text) {
            invalid("it is empty")
        } else {
            Ok(())
        };
    }
    let blocks: Vec<Block> = serde_json::from_str(content)
        .map_err(|_| Invalid("its content is neither a text nor a list of blocks".to_owned()))?;
    if let Some(block) = blocks.iter().find(|block| block.is_foreign()) {
        return invalid(format!("a user says no block of type {}", block.r#type));
    }
    if let Some(block) = blocks.iter().find(|block| !block.is_whole()) {
        return invalid(format!(
            "a block of type {} lacks its content",
            block.r#type
        ));
    }
    let says_something = blocks.iter().any(|block| match &block.text {
        Some(text) => !is_blank(text),
        None => block.r#type != "text",
    });
    if says_something {
        Ok(())
    } else {
        invalid("it is empty")
    }
}

/// The text of `content`, as far as it is text, for comparisons.
pub(crate) fn text_of(content: &str) -> Option<String> {
    if let Ok(text) = serde_json::from_str::<String>(content) {
        return Some(text);
    }
    let blocks: Vec<Block> = serde_json::from_str(content).ok()?;
    let texts: Option<Vec<String>> = blocks.into_iter().map(|block| block.text).collect();
    Some(texts?.join("\n"))
}

/// The line that the agent gets, with its newline.
pub(crate) fn agent_line(id: &str, content: &RawValue) -> Vec<u8> {
    let content = content.get();
    let mut line = Vec::with_capacity(content.len() + 120);
    line.extend_from_slice(br#"{"type":"user","message":{"role":"user","content":"#);
    // A newline between the tokens of JSON means nothing, but would cut the line.
    line.extend(
        content
            .bytes()
            .map(|b| if b == b'\n' || b == b'\r' { b' ' } else { b }),
    );
    line.extend_from_slice(br#"},"uuid":""#);
    line.extend_from_slice(id.as_bytes());
    line.extend_from_slice(b"\"}\n");
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(line: &str) -> Result<String, String> {
        match Draft::of_line(line.as_bytes()) {
            Ok(Some(draft)) => Ok(draft.content.get().to_owned()),
            Ok(None) => Ok(String::new()),
            Err(Invalid(why)) => Err(why),
        }
    }

    #[test]
    fn a_line_is_text_or_json() {
        let cases = [
            ("go on", r#""go on""#),
            ("  [x] done  ", r#""[x] done""#),
            ("42", "\"42\""),
            ("   ", ""),
            (r#"{"text":"a\nb"}"#, r#""a\nb""#),
            (
                r#"{"type":"user","message":{"role":"user","content":"x"}}"#,
                r#""x""#,
            ),
            (
                r#"{"message":{"role":"user","content":[{"type":"text","text":"x"}]}}"#,
                r#"[{"type":"text","text":"x"}]"#,
            ),
            (
                r#"{"message":{"role":"user","content":[{"type":"image","source":{"type":"url","url":"u"}}]}}"#,
                r#"[{"type":"image","source":{"type":"url","url":"u"}}]"#,
            ),
        ];
        for (line, expected) in cases {
            assert_eq!(content(line).as_deref(), Ok(expected), "{line}");
        }
        assert_eq!(content("caf\u{e9}").as_deref(), Ok("\"caf\u{e9}\""));
    }

    #[test]
    fn a_line_that_would_end_the_agent_is_refused_with_the_reason() {
        let cases = [
            ("null", "null is no message"),
            ("{x}", "not a message"),
            ("{", "not a message"),
            (r#"{"a":1}"#, "either text or message"),
            (r#"{"text":"a","message":{}}"#, "either text or message"),
            (r#"{"message":{"content":"x"}}"#, "no role"),
            (
                r#"{"message":{"role":"assistant","content":"x"}}"#,
                "role is not user",
            ),
            (r#"{"message":{"role":"user"}}"#, "no content"),
            (r#"{"message":{"role":"user","content":7}}"#, "neither"),
            (r#"{"message":{"role":"user","content":[]}}"#, "empty"),
            (r#"{"message":{"role":"user","content":["x"]}}"#, "neither"),
            (
                r#"{"message":{"role":"user","content":[{"type":"text","text":7}]}}"#,
                "neither",
            ),
            (
                r#"{"message":{"role":"user","content":[{"text":"x"}]}}"#,
                "neither",
            ),
            (r#"{"type":"control_request","text":"x"}"#, "type is not"),
            (r#"{"text":""}"#, "empty"),
            (r#"{"text":" \n"}"#, "empty"),
            (r#"{"text":"\ud800"}"#, "not a message"),
            (
                r#"{"message":{"role":"user","content":"\ud800"}}"#,
                "neither",
            ),
            (r#"{"text":"x","id":"7"}"#, "not a UUID"),
            (r#"{"text":"x","when":"soon"}"#, "not a message"),
        ];
        for (line, expected) in cases {
            let why = content(line).expect_err(line);
            assert!(why.contains(expected), "{line}: {why}");
        }
    }

    #[test]
    fn a_block_that_would_end_the_agent_or_every_later_turn_is_refused() {
        #[rustfmt::skip]
        let refused = [
            r#"{"type":"text"}"#, r#"{"type":"text","text":null}"#, r#"{"type":"image"}"#,
            r#"{"type":"image","source":null}"#, r#"{"type":"document"}"#,
            r#"{"type":"image","source":{"type":"base64"}}"#,
            r#"{"type":"image","source":{"type":"base64","media_type":"image/png"}}"#,
            r#"{"type":"document","source":{"type":"base64","data":"eA=="}}"#,
        ];
        for block in refused {
            let text = r#"{"type":"text","text":"x"}"#;
            let line = format!(r#"{{"message":{{"role":"user","content":[{text},{block}]}}}}"#);
            let why = content(&line).expect_err(block);
            assert!(why.contains("lacks its content"), "{block}: {why}");
        }
        for kind in ["tool_use", "tool_result", "thinking"] {
            let block = format!(r#"{{"type":"{kind}"}}"#);
            let line = format!(r#"{{"message":{{"role":"user","content":[{block}]}}}}"#);
            let why = content(&line).expect_err(kind);
            assert!(why.contains("a user says no block"), "{kind}: {why}");
        }
        for source in [
            "{}",
            "7",
            r#"{"type":"base64","media_type":"image/png","data":7}"#,
        ] {
            let block = format!(r#"{{"type":"image","source":{source}}}"#);
            let line = format!(r#"{{"message":{{"role":"user","content":[{block}]}}}}"#);
            assert!(content(&line).is_err(), "{source}");
        }
    }

    #[test]
    fn the_agent_gets_one_line() {
        let content = RawValue::from_string("[\n{\"type\":\"x\"}\n]".to_owned()).expect("JSON");
        let line = agent_line("6f0e", &content);
        let text = String::from_utf8(line).expect("UTF-8");
        assert_eq!(
            text,
            "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[ {\"type\":\"x\"} ]},\"uuid\":\"6f0e\"}\n"
        );
    }
}
