//! The message of an `assistant` or `user` line: blocks, and the usage of a call.

use crate::json::{Cursor, MOST, Malformed, Raw, Text};

/// The `message` of an `assistant` or `user` line, in both dialects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message<'a> {
    /// Shared by the lines of one call of the API.
    pub id: Option<Text<'a>>,
    /// `<synthetic>` where no model spoke.
    pub model: Option<Text<'a>>,
    /// Set once the call is over; only then is the output count final.
    pub stop_reason: Option<Text<'a>>,
    /// What the call used, for [`Message::usage`].
    pub raw_usage: Option<Raw<'a>>,
    /// The content.
    pub content: Content<'a>,
}

/// The content of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Content<'a> {
    /// Nothing that can be read.
    #[default]
    Nothing,
    /// One plain string.
    Text(Text<'a>),
    /// Blocks; the stream has one a line.
    Blocks(Vec<Block<'a>>),
}

/// One block of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Block<'a> {
    /// Text.
    Text(Text<'a>),
    /// Thinking.
    Thinking(Text<'a>),
    /// A call of a tool.
    ToolUse(ToolUse<'a>),
    /// The result of a tool.
    ToolResult(ToolResult<'a>),
    /// Anything else.
    Other,
}

/// A call of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolUse<'a> {
    /// The id that its result refers to.
    pub id: Text<'a>,
    /// The tool; a block without one is no call.
    pub name: Text<'a>,
    /// Its arguments.
    pub input: Option<Raw<'a>>,
}

/// The result of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolResult<'a> {
    /// The call it answers.
    pub id: Text<'a>,
    /// Whether the tool failed.
    pub is_error: bool,
    /// A string, or an array of blocks.
    pub content: Option<Raw<'a>>,
}

/// Tokens of one call of the API, or a sum of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Sent, and not from the cache.
    pub input: u64,
    /// Received.
    pub output: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Written to the cache.
    pub cache_creation: u64,
    /// The part of `cache_creation` that is kept for five minutes, as far as the
    /// line says how long.
    pub cache_5m: u64,
    /// The part that is kept for an hour.
    pub cache_1h: u64,
}

impl Usage {
    /// The tokens that fill the context: everything sent.
    pub fn context(self) -> u64 {
        self.input
            .saturating_add(self.cache_read)
            .saturating_add(self.cache_creation)
    }

    /// Both together; sums saturate.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.zip(other, u64::saturating_add)
    }

    /// The larger of each count: repeats of one message may each know more.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        self.zip(other, u64::max)
    }

    fn zip(self, other: Self, with: fn(u64, u64) -> u64) -> Self {
        Self {
            input: with(self.input, other.input),
            output: with(self.output, other.output),
            cache_read: with(self.cache_read, other.cache_read),
            cache_creation: with(self.cache_creation, other.cache_creation),
            cache_5m: with(self.cache_5m, other.cache_5m),
            cache_1h: with(self.cache_1h, other.cache_1h),
        }
    }

    /// Reads a `usage` object as far as it goes; the spellings of every version
    /// are known.
    pub fn of(raw: Raw<'_>) -> Self {
        let mut usage = Self::default();
        let _ = Cursor::new(raw.bytes()).object(|cursor, key| {
            let count = match key {
                b"input_tokens" | b"inputTokens" => &mut usage.input,
                b"output_tokens" | b"outputTokens" => &mut usage.output,
                b"cache_read_input_tokens" | b"cache_read_tokens" | b"cacheReadInputTokens" => {
                    &mut usage.cache_read
                }
                b"cache_creation_input_tokens"
                | b"cache_creation_tokens"
                | b"cacheCreationInputTokens" => &mut usage.cache_creation,
                b"cacheCreationEphemeral5mInputTokens" => &mut usage.cache_5m,
                b"cacheCreationEphemeral1hInputTokens" => &mut usage.cache_1h,
                b"cache_creation" => {
                    usage.read_cache_times(cursor.raw()?);
                    return Ok(());
                }
                _ => return cursor.skip(),
            };
            *count = cursor.raw()?.u64().unwrap_or(0);
            Ok(())
        });
        usage
    }

    fn read_cache_times(&mut self, raw: Raw<'_>) {
        let _ = Cursor::new(raw.bytes()).object(|cursor, key| {
            let count = match key {
                b"ephemeral_5m_input_tokens" => &mut self.cache_5m,
                b"ephemeral_1h_input_tokens" => &mut self.cache_1h,
                _ => return cursor.skip(),
            };
            *count = cursor.raw()?.u64().unwrap_or(0);
            Ok(())
        });
    }
}

impl<'a> Message<'a> {
    /// Reads a `message` object; of anything else nothing is known.
    pub(crate) fn read(cursor: &mut Cursor<'a>) -> Result<Self, Malformed> {
        let mut message = Self::default();
        cursor.object(|cursor, key| {
            match key {
                b"id" => message.id = cursor.text()?,
                b"model" => message.model = cursor.text()?,
                b"stop_reason" => message.stop_reason = cursor.text()?,
                b"usage" => message.raw_usage = Some(cursor.raw()?),
                b"content" => message.content = Content::parse(cursor)?,
                _ => cursor.skip()?,
            }
            Ok(())
        })?;
        Ok(message)
    }

    /// The blocks, none for a plain string.
    pub fn blocks(&self) -> &[Block<'a>] {
        match &self.content {
            Content::Blocks(blocks) => blocks,
            Content::Nothing | Content::Text(_) => &[],
        }
    }

    /// What the call used; the same on every line of one message.
    pub fn usage(&self) -> Option<Usage> {
        self.raw_usage.map(Usage::of)
    }

    /// Whether no model spoke: an error or an answer of the CLI itself.
    pub fn is_synthetic(&self) -> bool {
        self.model.is_some_and(|model| model.is("<synthetic>"))
    }

    /// Whether `text`, a text of this message, stands where there is no answer.
    pub fn is_filler(&self, text: Text<'_>) -> bool {
        self.is_synthetic() && is_filler(text)
    }
}

/// Whether `text` is one that the CLI writes where there is no answer.
pub fn is_filler(text: Text<'_>) -> bool {
    text.is("No response requested.") || text.is("(no content)")
}

impl<'a> Content<'a> {
    fn parse(cursor: &mut Cursor<'a>) -> Result<Self, Malformed> {
        if !cursor.is_array() {
            return Ok(cursor.text()?.map_or(Self::Nothing, Self::Text));
        }
        let mut blocks = Vec::new();
        cursor.array(|cursor| {
            if blocks.len() == MOST {
                return cursor.skip();
            }
            blocks.push(Block::parse(cursor)?);
            Ok(())
        })?;
        Ok(Self::Blocks(blocks))
    }
}

impl<'a> Block<'a> {
    fn parse(cursor: &mut Cursor<'a>) -> Result<Self, Malformed> {
        let (mut kind, mut id, mut name, mut answers) = (None, None, None, None);
        let (mut words, mut input, mut content, mut is_error) = (None, None, None, false);
        cursor.object(|cursor, key| {
            match key {
                b"type" => kind = cursor.text()?,
                b"id" => id = cursor.text()?,
                b"name" => name = cursor.text()?,
                b"tool_use_id" => answers = cursor.text()?,
                b"text" | b"thinking" => words = cursor.text()?.or(words),
                b"input" => input = Some(cursor.raw()?),
                b"content" => content = Some(cursor.raw()?),
                b"is_error" => is_error = cursor.raw()?.bool() == Some(true),
                _ => cursor.skip()?,
            }
            Ok(())
        })?;
        let Some(kind) = kind else {
            return Ok(Self::Other);
        };
        Ok(match (kind, words, name) {
            (kind, Some(words), _) if kind.is("text") => Self::Text(words),
            (kind, Some(words), _) if kind.is("thinking") => Self::Thinking(words),
            (kind, _, Some(name)) if kind.is("tool_use") => {
                let id = id.unwrap_or_default();
                Self::ToolUse(ToolUse { id, name, input })
            }
            (kind, ..) if kind.is("tool_result") => {
                let id = answers.unwrap_or_default();
                Self::ToolResult(ToolResult {
                    id,
                    is_error,
                    content,
                })
            }
            _ => Self::Other,
        })
    }
}
