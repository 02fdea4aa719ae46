//! The handoff of a session: by the user's summarizer, else the deterministic one.

use std::io::Write;
use std::time::Duration;

use clap::Args;
use cr_config::Config;
use cr_handoff::DEFAULT_LIMIT;

use crate::summarizer;
use crate::transcript::Transcript;

/// How a handoff is made.
#[derive(Args, Debug)]
pub(crate) struct HandoffArgs {
    /// A command for `sh -c` that makes the text: the deterministic handoff is its
    /// standard input, its standard output is used. If it fails, takes too long or
    /// writes nothing, the deterministic handoff is used [default: `summarizer` of
    /// the configuration]
    #[arg(long, value_name = "COMMAND")]
    summarizer: Option<String>,
    /// How long that command may take
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = cr_io::parse_duration)]
    summarizer_timeout: Duration,
    /// The longest text
    #[arg(long, value_name = "BYTES", default_value_t = DEFAULT_LIMIT)]
    pub(crate) limit: usize,
}

/// A handoff, and who made it.
#[derive(Debug)]
pub(crate) struct Handoff {
    pub(crate) text: String,
    pub(crate) is_summary: bool,
}

impl Handoff {
    /// Makes the handoff of a transcript; `None` if nothing is in it.
    pub(crate) fn of(
        transcript: &Transcript,
        args: &HandoffArgs,
        config: &Config,
        mut notes: impl Write,
    ) -> anyhow::Result<Option<Self>> {
        let text = transcript.handoff(args.limit)?;
        if text.is_empty() {
            return Ok(None);
        }
        let set = || config.set("summarizer").map(str::to_owned);
        let command = args.summarizer.clone().or_else(set);
        let command = command.filter(|command| !command.trim().is_empty());
        let Some(command) = command else {
            let is_summary = false;
            return Ok(Some(Self { text, is_summary }));
        };
        let (text, is_summary) =
            match summarizer::run(&command, &text, args.limit, args.summarizer_timeout) {
                Ok(summary) => (summary, true),
                Err(why) => {
                    // A standard error that is closed stops nothing.
                    let _ = writeln!(
                        notes,
                        "cr-ledger: the summarizer failed: {why}; the deterministic handoff is used"
                    );
                    (text, false)
                }
            };
        Ok(Some(Self { text, is_summary }))
    }

    /// The text for a prompt, in which a summary is quoted like every record.
    pub(crate) fn quoted(self, limit: usize) -> String {
        if self.is_summary {
            return cr_handoff::quoted(&self.text, limit);
        }
        self.text
    }
}
