//! Lists of fields in the manual pages.

use std::fmt::Write;

use super::schema::fields;
use super::source::{Field, Form, Skip, Type, Types};
use crate::sections::escape;

/// The fields of `root`, and of the objects in it, as a list.
pub(crate) fn list(root: &str, types: &Types) -> String {
    let mut page = String::new();
    add(&mut page, root, "", types);
    page
}

fn add(page: &mut String, root: &str, prefix: &str, types: &Types) {
    let Some(found) = types.get(root) else {
        return;
    };
    for field in fields(found, types) {
        let name = format!("{prefix}{}", field.name);
        let _ = writeln!(
            page,
            ".TP\n\\fB{}\\fR (\\fI{}\\fR)\n{}",
            escape(&name),
            escape(&words(field, types)),
            text(field)
        );
        let inner = field.form.named().map(str::to_owned);
        if let Some(inner) = inner.filter(|inner| is_object(inner, types)) {
            add(page, &inner, &inside(&name, &field.form), types);
        }
    }
}

fn is_object(name: &str, types: &Types) -> bool {
    matches!(types.get(name), Some(Type::Struct { .. }))
}

/// What comes before the names of the fields in a field.
fn inside(name: &str, form: &Form) -> String {
    match form {
        Form::Nullable(inner) => inside(name, inner),
        Form::List(_) => format!("{name}[]."),
        Form::Map(_) => format!("{name}.KEY."),
        _ => format!("{name}."),
    }
}

/// The form of a field in words.
fn words(field: &Field, types: &Types) -> String {
    let form = match field.written() {
        // Of an input: null is as good as nothing.
        Form::Nullable(inner) if field.comment.absent.is_some() => inner,
        form => form,
    };
    let words = in_words(form, types);
    if field.may_be_absent() {
        format!("{words}, may be absent")
    } else {
        words
    }
}

fn in_words(form: &Form, types: &Types) -> String {
    match form {
        Form::Any => "any JSON".to_owned(),
        Form::Text => "string".to_owned(),
        Form::Time => "time".to_owned(),
        Form::Bool => "boolean".to_owned(),
        Form::Number => "number".to_owned(),
        Form::Integer(_) => "integer".to_owned(),
        Form::List(inner) => format!("array of {}", in_words(inner, types)),
        Form::Map(inner) => format!("object of {}", in_words(inner, types)),
        Form::Nullable(inner) => format!("{} or null", in_words(inner, types)),
        Form::Named(name) => match types.get(name) {
            Some(Type::Words(_)) => "string".to_owned(),
            Some(Type::Raw { called, .. }) => called.clone(),
            _ => "object".to_owned(),
        },
    }
}

/// Meaning, values, when it is null or absent, and an example.
fn text(field: &Field) -> String {
    let comment = &field.comment;
    let mut text = comment.meaning.clone();
    match comment.values.as_slice() {
        [] => {}
        [value] => text += &format!(" Always {value}."),
        values => text += &format!(" One of {}.", values.join(", ")),
    }
    if let Some(null) = &comment.null {
        let _ = write!(text, " Null: {null}");
    }
    match (&comment.absent, field.skipped) {
        (Some(absent), _) => {
            let _ = write!(text, " Absent: {absent}");
        }
        (None, Some(Skip::Zero)) => text.push_str(" Absent: if it is 0."),
        (None, Some(Skip::False)) => text.push_str(" Absent: if it is false."),
        (None, Some(Skip::Empty)) => text.push_str(" Absent: if it is empty."),
        (None, _) => {}
    }
    let text = bold(&text);
    match &comment.example {
        Some(example) => format!("{text}\n.br\nExample: {}", escape(example)),
        None => text,
    }
}

/// The text with what is in backquotes in bold.
fn bold(text: &str) -> String {
    let mut page = String::new();
    for (i, part) in text.split('`').enumerate() {
        let part = escape(part);
        page += &if i % 2 == 1 {
            format!("\\fB{part}\\fR")
        } else {
            part
        };
    }
    page
}
