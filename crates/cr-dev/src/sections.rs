//! The text after a tool's options, as sections of its manual page.
//!
//! `after_help` holds headed parts: a line at the margin that ends in a colon
//! opens one, unless it goes on with the line above, and the indented lines below
//! belong to it. A part whose lines are
//! `WORD  meaning` becomes a list; any other part keeps its form.

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
    let mut goes_on = false;
    for line in text.lines() {
        let may_open = !goes_on && !is_indented(line);
        let heading = line.strip_suffix(':').filter(|_| may_open);
        goes_on = heading.is_none() && !is_indented(line);
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
        let mut page = heading(self.heading);
        for (index, block) in self.blocks().enumerate() {
            let before = if index == 0 { "" } else { ".PP\n" };
            page += &match items(block) {
                _ if !is_indented(block[0]) => format!("{before}{}\n", escape(&block.join(" "))),
                Some(items) => list(&items),
                None => verbatim(block),
            };
        }
        page
    }

    /// Runs of lines that are at the margin, or are not.
    fn blocks(&self) -> impl Iterator<Item = &[&str]> {
        self.lines.chunk_by(|a, b| is_indented(a) == is_indented(b))
    }
}

/// The heading of a section. Of `Exit status, of one input` or `Clocks (0 is
/// off)` the first words are the heading, the others begin its text.
pub(crate) fn heading(text: &str) -> String {
    let end = text.find(" (").or_else(|| text.find(", "));
    let (heading, terms) = text.split_at(end.unwrap_or(text.len()));
    let mut page = format!(".SH \"{}\"\n", heading.to_uppercase());
    let terms = terms.trim_matches([',', ' ', '(', ')']);
    if !terms.is_empty() {
        let _ = writeln!(page, "{}:", escape(&upper_first(terms)));
    }
    page
}

/// Whether `line` is below a heading's margin; what is blank, is too.
fn is_indented(line: &str) -> bool {
    line.is_empty() || line.starts_with(' ')
}

/// How far `line` is indented.
fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// `text` with a capital first letter.
fn upper_first(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}

/// Terms with their meanings, if every line is one or continues one.
fn items<'a>(lines: &[&'a str]) -> Option<Vec<(&'a str, String)>> {
    let margin = lines.iter().map(|line| indent(line)).min()?;
    let mut items: Vec<(&str, String)> = Vec::new();
    for line in lines {
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

/// `items` as a list.
fn list(items: &[(&str, String)]) -> String {
    let mut page = String::new();
    for (term, meaning) in items {
        let (term, meaning) = (escape(term), escape(meaning));
        let _ = writeln!(page, ".TP\n\\fB{term}\\fR\n{meaning}");
    }
    page
}

/// `lines` as they stand, less their common indentation.
fn verbatim(lines: &[&str]) -> String {
    let written = lines.iter().filter(|line| !line.trim().is_empty());
    let margin = written.map(|line| indent(line)).min().unwrap_or(0);
    let mut page = String::from(".nf\n");
    for line in lines {
        let line = line.get(margin..).unwrap_or_default();
        let _ = writeln!(page, "{}", escape(line));
    }
    page + ".fi\n"
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
    fn a_sentence_over_two_lines_that_ends_in_a_colon_opens_no_section() {
        let found = split("Versions:\nOne that is missing\nis refused:\n  -x  2.0\n");
        assert_eq!(
            found[0].roff(),
            ".SH \"VERSIONS\"\nOne that is missing is refused:\n.TP\n\\fB\\-x\\fR\n2.0\n"
        );
        assert_eq!(found.len(), 1);
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
    fn a_heading_may_have_terms_and_a_section_a_last_word() {
        let found = split("Exit status, of one input:\n  0  done\nWith many: 0.\n");
        assert_eq!(
            found[0].roff(),
            ".SH \"EXIT STATUS\"\nOf one input:\n.TP\n\\fB0\\fR\ndone\n.PP\nWith many: 0.\n"
        );
    }

    #[test]
    fn text_cannot_be_a_request() {
        assert_eq!(escape(".so /etc/passwd"), "\\&.so /etc/passwd");
        assert_eq!(escape("'\\n'"), "\\(aq\\en\\(aq");
    }
}
