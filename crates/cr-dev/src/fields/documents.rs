//! Which type describes which output.

use std::path::Path;

use super::comment::Comment;
use super::source::{Field, Form, Skip, Type, Types, types};
use super::{page, schema};
use crate::files::Files;

/// An output, or an input, with a fixed form.
struct Document {
    title: &'static str,
    /// Its sources; of two types with one name the later counts.
    sources: &'static [&'static str],
    /// Its types: a value is one of them.
    roots: &'static [Root],
    /// The file of its schema.
    schema: &'static str,
    /// The manual page that lists its fields.
    page: &'static str,
}

/// A type of a document, and the heading above its fields.
struct Root {
    name: &'static str,
    heading: &'static str,
    /// The subtype, if it is a line of our own.
    subtype: Option<&'static str>,
}

const fn root(name: &'static str, heading: &'static str) -> Root {
    Root {
        name,
        heading,
        subtype: None,
    }
}

const fn line(name: &'static str, heading: &'static str, subtype: &'static str) -> Root {
    Root {
        name,
        heading,
        subtype: Some(subtype),
    }
}

const DOCUMENTS: [Document; 9] = [
    Document {
        title: "The summary of cr-summarize, or the last line of cr-summarize --total",
        sources: &[
            "crates/cr-stream/src/exit.rs",
            "crates/cr-stream/src/limit.rs",
            "crates/cr-summary/src/git.rs",
            "crates/cr-summary/src/agent.rs",
            "crates/cr-summary/src/parts.rs",
            "crates/cr-summary/src/session.rs",
            "crates/cr-summary/src/summary.rs",
            "crates/cr-summary/src/total.rs",
            "crates/cr-summary/src/totals.rs",
        ],
        roots: &[
            root("Summary", "Fields of the summary"),
            root("Total", "Fields of the last line of --total"),
        ],
        schema: "crates/cr-summary/schema.json",
        page: "cr-summarize.1",
    },
    Document {
        title: "A row of cr-filter --format json",
        sources: &["crates/cr-progress/src/row.rs"],
        roots: &[root("Row", "Fields of a row")],
        schema: "crates/cr-progress/schema.json",
        page: "cr-filter.1",
    },
    Document {
        title: "An answer of cr-extract, where there are several inputs",
        sources: &["crates/cr-extract/src/answer_line.rs"],
        roots: &[root("AnswerLine", "Fields of an answer of several inputs")],
        schema: "crates/cr-extract/schema.json",
        page: "cr-extract.1",
    },
    Document {
        title: "A run, as cr-runs ls --json and cr-runs status --json print it",
        sources: &["crates/cr-status/src/status.rs"],
        roots: &[root("Status", "Fields of a run")],
        schema: "crates/cr-status/schema.json",
        page: "cr-runs.1",
    },
    Document {
        title: "The turns of one task, as cr-turns --title prints them",
        sources: &["crates/cr-turns/src/turns.rs"],
        roots: &[root("Turns", "Fields of the turns of one task")],
        schema: "crates/cr-turns/schema.json",
        page: "cr-turns.1",
    },
    Document {
        title: "A decision, as cr-ledger next prints it",
        sources: &[
            "crates/cr-ledger/src/decision.rs",
            "crates/cr-ledger/src/quota.rs",
            "crates/cr-ledger/src/spending.rs",
        ],
        roots: &[root("Decision", "Fields of a decision of next")],
        schema: "crates/cr-ledger/next.schema.json",
        page: "cr-ledger.1",
    },
    Document {
        title: "A line of cr-orchestrate, of its status --json or its --dry-run --json, or a report.json",
        sources: &[
            "crates/cr-stream/src/write.rs",
            "crates/cr-stream/src/run.rs",
            "crates/cr-orchestrate/src/status.rs",
            "crates/cr-orchestrate/src/dry_run.rs",
            "crates/cr-orchestrate/src/report_json.rs",
        ],
        roots: &[
            line("Task", "Fields of a cr/task line", "task"),
            line("Run", "Fields of a cr/run line", "run"),
            line("Wave", "Fields of a cr/wave line", "wave"),
            root("TaskStatus", "Fields of status --json"),
            root("PlannedRun", "Fields of --dry-run --json"),
            root("RunReport", "Fields of report.json"),
        ],
        schema: "crates/cr-orchestrate/output.schema.json",
        page: "cr-orchestrate.1",
    },
    Document {
        title: "A row of cr-ledger report --json",
        sources: &["crates/cr-ledger/src/report/row.rs"],
        roots: &[
            root("UsageRow", "Fields of a row of report"),
            root("ToolRow", "Fields of a row of report --by tool"),
        ],
        schema: "crates/cr-ledger/report.schema.json",
        page: "cr-ledger.1",
    },
    Document {
        title: "A task of cr-orchestrate",
        sources: &[
            "crates/cr-orchestrate/src/task.rs",
            "crates/cr-orchestrate/src/task_fields.rs",
        ],
        roots: &[root("TaskFields", "Fields")],
        schema: "crates/cr-orchestrate/task.schema.json",
        page: "cr-tasks.5",
    },
];

impl Document {
    fn types(&self, directory: &Path) -> anyhow::Result<Types> {
        let mut types = types(directory, self.sources)?;
        for root in self.roots {
            if let Some(subtype) = root.subtype
                && let Some(whole) = whole_line(&types, root.name, subtype)
            {
                types.insert(format!("{}Line", root.name), whole);
            }
        }
        Ok(types)
    }
}

impl Root {
    /// The name of its type, with the fields that all own lines have.
    fn whole(&self) -> String {
        match self.subtype {
            Some(_) => format!("{}Line", self.name),
            None => self.name.to_owned(),
        }
    }
}

/// The line around `body`: `Line` with its type, and without a phase.
fn whole_line(types: &Types, body: &str, subtype: &str) -> Option<Type> {
    let (Type::Struct { fields, .. }, Type::Struct { meaning, .. }) =
        (types.get("Line")?, types.get(body)?)
    else {
        return None;
    };
    let fields = fields.iter().filter(|field| field.name != "phase");
    let fields = fields.cloned().map(|mut field| {
        match field.name.as_str() {
            "subtype" => field.comment.values = vec![subtype.to_owned()],
            "body" => field.form = Form::Named(body.to_owned()),
            _ => {}
        }
        field
    });
    Some(Type::Struct {
        meaning: meaning.clone(),
        fields: fields.collect(),
        more: None,
    })
}

/// The schemas by path.
pub(crate) fn schemas(directory: &Path) -> anyhow::Result<Files> {
    let mut files = Files::new();
    for document in &DOCUMENTS {
        let types = document.types(directory)?;
        let roots: Vec<String> = document.roots.iter().map(Root::whole).collect();
        let schema = schema::schema(document.title, &roots, &types);
        files.insert(document.schema.to_owned(), format!("{schema}\n").into());
    }
    Ok(files)
}

/// The sections of the manual page `name` that list fields: heading and text.
pub(crate) fn of_page(directory: &Path, name: &str) -> anyhow::Result<Vec<(String, String)>> {
    let mut sections = Vec::new();
    for document in DOCUMENTS.iter().filter(|document| document.page == name) {
        let types = document.types(directory)?;
        for root in document.roots {
            let list = page::list(&root.whole(), &types);
            sections.push((root.heading.to_owned(), list));
        }
    }
    Ok(sections)
}

/// The page `cr-tasks(5)`.
pub(crate) fn tasks_page(directory: &Path) -> anyhow::Result<String> {
    let mut text = include_str!("tasks.5").to_owned();
    for (heading, list) in of_page(directory, "cr-tasks.5")? {
        let heading = crate::sections::heading(&heading);
        text = text.replace("@FIELDS@\n", &format!("{heading}{list}"));
    }
    Ok(text)
}

/// What is missing in the comments, one finding each.
pub(crate) fn check(directory: &Path) -> anyhow::Result<Vec<String>> {
    let mut found = Vec::new();
    for document in &DOCUMENTS {
        let types = document.types(directory)?;
        for root in document.roots {
            missing(&root.whole(), &types, &mut found);
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

fn missing(name: &str, types: &Types, found: &mut Vec<String>) {
    let Some(known) = types.get(name) else {
        found.push(format!("{name}: no such type in the sources"));
        return;
    };
    for field in schema::fields(known, types) {
        let place = format!("{name}.{}", field.name);
        found.extend(unsaid(field).map(|what| format!("{place}: its comment has no {what}")));
        if let Some(inner) = field.form.named() {
            missing(inner, types, found);
        }
    }
}

/// What the comment of a field does not say.
fn unsaid(field: &Field) -> Option<&'static str> {
    let Comment {
        meaning,
        null,
        absent,
        example,
        values,
        ..
    } = &field.comment;
    let is_object =
        matches!(field.form, Form::Named(_) | Form::Nullable(_)) && field.form.named().is_some();
    if meaning.is_empty() {
        Some("meaning")
    } else if matches!(field.written(), Form::Nullable(_)) && null.is_none() && absent.is_none() {
        Some("`Null:`")
    } else if field.skipped == Some(Skip::None) && absent.is_none() {
        Some("`Absent:`")
    } else if example.is_none() && values.len() != 1 && !is_object {
        Some("`Example:`")
    } else {
        None
    }
}
