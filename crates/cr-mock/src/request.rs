//! What the CLI asks: the few parts of a request that choose its answer.

use serde::Deserialize;

/// A request to `/v1/messages`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Request {
    pub(crate) model: String,
    pub(crate) stream: bool,
    pub(crate) system: Content,
    pub(crate) messages: Vec<Message>,
    pub(crate) tools: Vec<Tool>,
}

/// A message of the conversation so far.
#[derive(Debug, Deserialize)]
pub(crate) struct Message {
    role: String,
    content: Content,
}

/// A tool the model may call.
#[derive(Debug, Deserialize)]
pub(crate) struct Tool {
    #[serde(default)]
    pub(crate) name: String,
}

/// Text, plain or in blocks.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Content {
    Text(String),
    Blocks(Vec<Part>),
}

/// A block, of which only text counts here.
#[derive(Debug, Deserialize)]
pub(crate) struct Part {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    text: String,
}

impl Default for Content {
    fn default() -> Self {
        Self::Blocks(Vec::new())
    }
}

impl Content {
    /// All text blocks, a line between them.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Blocks(parts) => {
                let texts = parts.iter().filter(|part| part.kind == "text");
                let texts: Vec<&str> = texts.map(|part| part.text.as_str()).collect();
                texts.join("\n")
            }
        }
    }
}

impl Request {
    /// The texts of the user's messages, first to last.
    pub(crate) fn users(&self) -> Vec<String> {
        let users = self.messages.iter().filter(|it| it.role == "user");
        users.map(|message| message.content.text()).collect()
    }
}
