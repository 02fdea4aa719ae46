//! The summary and the outputs of a step of a GitHub workflow.

use std::env;
use std::fs::OpenOptions;
use std::io::{self, Write};

use cr_progress::{ProgressLine, Tone};

/// Collects the content of the step's summary.
#[derive(Debug, Default)]
pub(crate) struct Step {
    commits: Vec<String>,
    warnings: Vec<String>,
    ends: Vec<(String, bool)>,
}

/// Entries of each kind that are kept.
const MOST: usize = 100;

impl Step {
    /// Takes a line that belongs into the summary; `text` is safe to show.
    pub(crate) fn take(&mut self, line: &ProgressLine, text: &str) {
        let list = match (&*line.label, line.tone) {
            ("Commit", _) => &mut self.commits,
            ("Done" | "Failed", tone @ (Tone::Good | Tone::Error)) => {
                // The last one counts, and is always kept.
                if self.ends.len() == MOST {
                    self.ends.remove(0);
                }
                self.ends.push((text.to_owned(), tone == Tone::Good));
                return;
            }
            (_, Tone::Error | Tone::Warning) => &mut self.warnings,
            _ => return,
        };
        if list.len() < MOST {
            list.push(text.to_owned());
        }
    }

    /// Writes the summary and the outputs, if this is a workflow.
    pub(crate) fn write(&self, session: &str) -> io::Result<()> {
        if env::var_os("GITHUB_ACTIONS").is_none() {
            return Ok(());
        }
        append("GITHUB_STEP_SUMMARY", &self.summary())?;
        append("GITHUB_OUTPUT", &self.outputs(session))
    }

    fn summary(&self) -> String {
        let mut page = String::from("### Agent run\n\n");
        for (end, _) in &self.ends {
            page.push_str(&format!("- {}\n", escaped(end)));
        }
        for (title, list) in [("Commits", &self.commits), ("Look at", &self.warnings)] {
            if !list.is_empty() {
                page.push_str(&format!("\n**{title}**\n\n"));
            }
            for entry in list {
                page.push_str(&format!("- {}\n", escaped(entry)));
            }
        }
        page
    }

    fn outputs(&self, session: &str) -> String {
        let ok = self.ends.last().is_some_and(|(_, ok)| *ok);
        // The value of an output ends at the line's end.
        let session = cr_io::sanitized(session);
        format!(
            "ok={ok}\nsession_id={session}\ncommits={}\n",
            self.commits.len()
        )
    }
}

/// `text` with everything escaped that Markdown or HTML would act on.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '(' | ')' | '!' | '|' | '~' | '#' | '@' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

fn append(variable: &str, text: &str) -> io::Result<()> {
    let Some(path) = env::var_os(variable) else {
        return Ok(());
    };
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_end_counts_however_many_there_are() {
        let mut step = Step::default();
        for i in 0..=2 * MOST {
            let tone = if i == 2 * MOST {
                Tone::Good
            } else {
                Tone::Error
            };
            step.take(&ProgressLine::new("Done", "").key(tone), &i.to_string());
        }
        assert_eq!(step.ends.len(), MOST);
        assert!(step.outputs("s").starts_with("ok=true\n"));
    }
}
