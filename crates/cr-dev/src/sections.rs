//! The text after a tool's options, as sections of its manual page.
//!
//! `after_help` holds headed parts: a line at the margin that ends in a colon
//! opens one, what is indented below belongs to it. A part whose lines are
//! `WORD  meaning` becomes a list, any other is set as it stands.

use std::fmt::Write;

/// One headed part of a help text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Section<'a> {
    /// The heading, without its colon.
    pub(crate) heading: &'a str,
    /// The lines below it, indentation included.
    pub(crate) lines: Vec<&'a str>,
}

/// Splits `text` at its headings. Lines before the first heading form a
/// section called `Notes`.
pub(crate) fn split(text: &str) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    for line in text.lines() {
        let heading = line
            .strip_suffix(':')
            .filter(|heading| !heading.starts_with(char::is_whitespace));
        match (heading, sections.last_mut()) {
            (Some(heading), _) => sections.push(Section {
                heading,
                lines: Vec::new(),
            }),
            (None, Some(section)) => section.lines.push(line),
            (None, None) if line.trim().is_empty() => {}
            (None, None) => sections.push(Section {
                heading: "Notes",
                lines: vec![line],
            }),
        }
    }
    for section in &mut sections {
        let blank = |line: &&str| line.trim().is_empty();
        while section.lines.last().is_some_and(blank) {
            section.lines.pop();
        }
    }
    sections
}

impl Section<'_> {
    /// The section in the man(7) language.
    pub(crate) fn roff(&self) -> String {
        let mut page = format!(".SH \"{}\"\n", self.heading.to_uppercase());
        match self.items() {
            Some(items) => {
                for (term, meaning) in items {
                    let (term, meaning) = (escape(term), escape(&meaning));
                    let _ = writeln!(page, ".TP\n\\fB{term}\\fR\n{meaning}");
                }
            }
            None => page += &self.verbatim(),
        }
        page
    }

    /// Terms with their meanings, if every line is one or continues one.
    fn items(&self) -> Option<Vec<(&str, String)>> {
        let indent = |line: &str| line.len() - line.trim_start().len();
        let margin = self.lines.iter().map(|line| indent(line)).min()?;
        let mut items: Vec<(&str, String)> = Vec::new();
        for line in &self.lines {
            let text = line.trim();
            if indent(line) > margin {
                let (_, meaning) = items.last_mut()?;
                meaning.push(' ');
                *meaning += text;
            } else {
                let (term, meaning) = text.split_once("  ")?;
                items.push((term, meaning.trim_start().to_owned()));
            }
        }
        Some(items)
    }

    /// The lines as they stand, less their common indentation.
    fn verbatim(&self) -> String {
        let indent = |line: &&str| line.len() - line.trim_start().len();
        let written = |line: &&&str| !line.trim().is_empty();
        let margin = self.lines.iter().filter(written).map(indent);
        let margin = margin.min().unwrap_or(0);
        let mut page = String::from(".nf\n");
        for line in &self.lines {
            let line = line.get(margin..).unwrap_or_default();
            let _ = writeln!(page, "{}", escape(line));
        }
        page + ".fi\n"
    }
}

/// `text` with nothing left that roff would act on.
pub(crate) fn escape(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    let text = text.replace('\'', "\\(aq").replace('`', "\\(ga");
    if text.starts_with('.') {
        format!("\\&{text}")
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELP: &str = "Examples:\n  cr-x -v < a\n    | head\n\nExit status:\n  0   done\n  74  reading or\n      writing failed\n";

    #[test]
    fn a_line_at_the_margin_with_a_colon_opens_a_section() {
        let found = split(HELP);
        let headings: Vec<_> = found.iter().map(|section| section.heading).collect();
        assert_eq!(headings, ["Examples", "Exit status"]);
        assert_eq!(found[0].lines, ["  cr-x -v < a", "    | head"]);
    }

    #[test]
    fn codes_become_a_list_and_examples_stay_as_they_are() {
        let found = split(HELP);
        assert_eq!(
            found[0].roff(),
            ".SH \"EXAMPLES\"\n.nf\ncr\\-x \\-v < a\n  | head\n.fi\n"
        );
        assert_eq!(
            found[1].roff(),
            ".SH \"EXIT STATUS\"\n.TP\n\\fB0\\fR\ndone\n\
             .TP\n\\fB74\\fR\nreading or writing failed\n"
        );
    }

    #[test]
    fn text_cannot_be_a_request() {
        assert_eq!(escape(".so /etc/passwd"), "\\&.so /etc/passwd");
        assert_eq!(escape("'\\n'"), "\\(aq\\en\\(aq");
    }
}
