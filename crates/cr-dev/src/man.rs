//! Manual pages of section 1, from the tools' own arguments.

use std::io::Write;
use std::path::Path;

use clap::Command;
use clap_mangen::Man;

use crate::fields;
use crate::files::Files;
use crate::sections::{self, escape};
use crate::tools;

/// When the pages last changed in substance, as `.TH` wants it. A constant,
/// because a page must not differ from one day to the next.
const DATE: &str = "2026-11-18";

/// Every page, by file name.
pub(crate) fn pages(root: &Path) -> anyhow::Result<Files> {
    let tools = tools::all();
    let names: Vec<String> = tools.iter().map(|tool| tool.get_name().into()).collect();
    let mut pages = Files::new();
    for tool in tools {
        let name = format!("{}.1", tool.get_name());
        let fields = fields::of_page(root, &name)?;
        pages.insert(name, page(tool, &names, &fields)?);
    }
    pages.insert("cr-tasks.5".to_owned(), fields::tasks_page(root)?.into());
    Ok(pages)
}

/// The page of `tool`; `names` are the tools it may refer to, `fields` the sections
/// about its output.
fn page(tool: Command, names: &[String], fields: &[(String, String)]) -> anyhow::Result<Vec<u8>> {
    let name = tool.get_name().to_owned();
    let after = tool.get_after_long_help().or_else(|| tool.get_after_help());
    let after = after.map(ToString::to_string).unwrap_or_default();
    let man = man(tool.clone()).title(name.to_uppercase());

    let mut text = Vec::new();
    man.render_title(&mut text)?;
    text.write_all(head(&tool).as_bytes())?;
    text.write_all(options(&man)?.as_bytes())?;
    commands(tool, &mut text)?;
    for (heading, list) in fields {
        text.write_all(sections::heading(heading).as_bytes())?;
        text.write_all(list.as_bytes())?;
    }
    for section in in_order(sections::split(&after)) {
        text.write_all(section.roff().as_bytes())?;
    }
    see_also(&name, names, &mut text)?;
    Ok(text)
}

/// The renderer, with what all pages share.
fn man(command: Command) -> Man {
    Man::new(command)
        .date(DATE)
        .source(concat!("claude-runner ", env!("CARGO_PKG_VERSION")))
        .manual("User Commands")
}

/// NAME, SYNOPSIS and DESCRIPTION. The usage is clap's own line; the summary,
/// which clap repeats at the top of the long text, is said once.
fn head(tool: &Command) -> String {
    let name = escape(tool.get_name());
    let about = tool
        .get_about()
        .map(ToString::to_string)
        .unwrap_or_default();
    let long = tool.get_long_about().map(ToString::to_string);
    let long = long.unwrap_or_else(|| about.clone());
    let body = long.strip_prefix(&about).unwrap_or(&long).trim_start();
    let body = if body.is_empty() { &about } else { body };
    format!(
        ".SH NAME\n{name} \\- {}\n.SH SYNOPSIS\n{}.SH DESCRIPTION\n{}",
        escape(&lower_first(&about)),
        usage(tool),
        paragraphs(body),
    )
}

/// `text` with a small first letter, as NAME has it.
fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(char::to_lowercase);
    first.into_iter().flatten().chain(letters).collect()
}

/// Clap's usage lines, the words before the first argument in bold.
fn usage(command: &Command) -> String {
    let usage = command.clone().render_usage().to_string();
    let lines = usage.trim_start_matches("Usage:").lines().map(|line| {
        let line = line.trim();
        let ends = [" [", " <", " -"].map(|opening| line.find(opening));
        let end = ends.into_iter().flatten().min().unwrap_or(line.len());
        let (name, arguments) = line.split_at(end);
        format!("\\fB{}\\fR{}\n", escape(name), escape(arguments))
    });
    lines.collect::<Vec<_>>().join(".br\n")
}

/// `text` set as paragraphs.
fn paragraphs(text: &str) -> String {
    let mut page = String::new();
    for line in text.lines() {
        page += if line.trim().is_empty() { ".PP" } else { "" };
        page += &escape(line.trim());
        page.push('\n');
    }
    page
}

/// The options, without what the title has said already, without the breaks
/// beside vertical space that mandoc minds, and with short headings.
fn options(man: &Man) -> anyhow::Result<String> {
    let mut text = Vec::new();
    man.render_options_section(&mut text)?;
    let text = String::from_utf8(text)?.replace(".br\n\n.br\n", "\n");
    let start = text.find(".SH").unwrap_or(text.len());
    let mut page = String::new();
    for line in text[start..].lines() {
        match line
            .strip_prefix(".SH \"")
            .and_then(|line| line.strip_suffix('"'))
        {
            Some(heading) => page += &sections::heading(&heading.to_lowercase()),
            None => page = page + line + "\n",
        }
    }
    Ok(page)
}

/// The subcommands, each with its own options, in the page of the tool: they
/// have no pages of their own.
fn commands(tool: Command, text: &mut Vec<u8>) -> anyhow::Result<()> {
    let mut tool = tool.disable_help_subcommand(true);
    tool.build();
    let commands: Vec<_> = tool
        .get_subcommands()
        .filter(|c| !c.is_hide_set())
        .collect();
    if commands.is_empty() {
        return Ok(());
    }
    text.write_all(b".SH COMMANDS\n")?;
    for command in commands {
        let about = command.get_long_about().or_else(|| command.get_about());
        let about = about.map(ToString::to_string).unwrap_or_default();
        writeln!(text, ".SS \"{}\"", escape(command.get_name()))?;
        write!(text, "{}.PP\n{}", usage(command), paragraphs(&about))?;
        let options = options(&man(command.clone()))?;
        for line in options.lines().filter(|line| !line.starts_with(".SH ")) {
            writeln!(text, "{line}")?;
        }
    }
    Ok(())
}

/// Manual pages give the codes before the examples, whatever `--help` does.
fn in_order(mut found: Vec<sections::Section<'_>>) -> Vec<sections::Section<'_>> {
    const ORDER: [&str; 4] = ["Environment", "Files", "Exit status", "Examples"];
    let place = |heading: &str| ORDER.iter().position(|name| heading.starts_with(name));
    found.sort_by_key(|section| place(section.heading));
    found
}

/// The other tools and the two overviews.
fn see_also(name: &str, names: &[String], text: &mut Vec<u8>) -> anyhow::Result<()> {
    text.write_all(b".SH \"SEE ALSO\"\n")?;
    for other in names.iter().filter(|other| *other != name) {
        writeln!(text, ".BR {} (1),", escape(other))?;
    }
    if ["cr-orchestrate", "sprint-loop"].contains(&name) {
        text.write_all(b".BR cr\\-tasks (5),\n")?;
    }
    text.write_all(b".BR cr\\-stream (5),\n.BR claude\\-runner (7)\n")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Arg;

    fn tool() -> Command {
        Command::new("cr-x")
            .about("Turn things")
            .arg(Arg::new("speed").long("speed").help("How fast"))
            .after_help("Examples:\n  cr-x --speed 3\n\nExit status:\n  0  done\n")
    }

    #[test]
    fn a_page_has_the_sections_of_a_manual_in_their_order() {
        let page = page(tool(), &["cr-x".into(), "cr-y".into()], &[]).expect("rendered");
        let page = String::from_utf8(page).expect("text");
        let heads: Vec<_> = page.lines().filter(|l| l.starts_with(".SH")).collect();
        assert_eq!(
            heads,
            [
                ".SH NAME",
                ".SH SYNOPSIS",
                ".SH DESCRIPTION",
                ".SH OPTIONS",
                ".SH \"EXIT STATUS\"",
                ".SH \"EXAMPLES\"",
                ".SH \"SEE ALSO\"",
            ]
        );
        assert!(page.contains(".BR cr\\-y (1),"), "{page}");
        assert!(!page.contains(".BR cr\\-x (1),"), "{page}");
    }

    #[test]
    fn subcommands_are_part_of_the_page() {
        let sub = Command::new("start")
            .about("Begin")
            .arg(Arg::new("at").long("at"));
        let page = page(tool().subcommand(sub), &[], &[]).expect("rendered");
        let page = String::from_utf8(page).expect("text");
        assert!(page.contains(".SH COMMANDS\n.SS \"start\"\n"), "{page}");
        assert!(page.contains("\\-\\-at"), "{page}");
    }
}
