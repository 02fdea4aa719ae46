//! JSON Schemas (2020-12) of types. Unknown properties are forbidden.

use std::collections::BTreeSet;

use super::json::Json;
use super::source::{Field, Form, Skip, Type, Types};

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The schema of a document: a value of one of `roots`.
pub(crate) fn schema(title: &str, roots: &[String], types: &Types) -> Json {
    let mut schema = Json::object([
        ("$schema", Json::text(DIALECT)),
        ("title", Json::text(title)),
    ]);
    match roots {
        [root] => {
            if let (Some(found), Json::Object(entries)) = (types.get(root), &mut schema)
                && let Json::Object(more) = of_type(found, types)
            {
                entries.extend(more);
            }
        }
        roots => schema.set(
            "oneOf",
            Json::List(roots.iter().map(|r| reference(r)).collect()),
        ),
    }
    let mut names = BTreeSet::new();
    for root in roots {
        collect(root, types, &mut names);
    }
    if let [root] = roots {
        names.remove(root);
    }
    let definitions: Vec<_> = names
        .into_iter()
        .filter_map(|name| Some((name.clone(), of_type(types.get(&name)?, types))))
        .collect();
    if !definitions.is_empty() {
        schema.set("$defs", Json::Object(definitions));
    }
    schema
}

/// The fields of a type, those of flattened ones among them.
pub(crate) fn fields<'a>(found: &'a Type, types: &'a Types) -> Vec<&'a Field> {
    let Type::Struct { fields: list, .. } = found else {
        return Vec::new();
    };
    let parts = list.iter().map(|field| match &field.form {
        Form::Named(name) if field.is_flat => types
            .get(name)
            .map_or_else(Vec::new, |inner| fields(inner, types)),
        _ => vec![field],
    });
    parts.flatten().collect()
}

/// The names of all types that `name` needs.
fn collect(name: &str, types: &Types, names: &mut BTreeSet<String>) {
    let Some(found) = types.get(name) else {
        return;
    };
    if names.insert(name.to_owned()) {
        for field in fields(found, types) {
            if let Some(inner) = field.form.named() {
                collect(inner, types, names);
            }
        }
    }
}

impl Form {
    /// The type that has a name, wherever it is in the form.
    pub(crate) fn named(&self) -> Option<&str> {
        match self {
            Self::Named(name) => Some(name),
            Self::List(inner) | Self::Map(inner) | Self::Nullable(inner) => inner.named(),
            _ => None,
        }
    }
}

fn of_type(found: &Type, types: &Types) -> Json {
    let (meaning, more) = match found {
        Type::Words(words) => {
            return Json::object([("enum", Json::texts(words.iter().map(String::as_str)))]);
        }
        Type::Raw { schema, .. } => return Json::Raw(schema.clone()),
        Type::Struct { meaning, more, .. } => (meaning, more),
    };
    let fields = fields(found, types);
    let properties = fields
        .iter()
        .map(|field| (field.name.clone(), property(field)));
    let required = fields.iter().filter(|field| !field.may_be_absent());
    let mut schema = Json::object([
        ("description", Json::text(meaning)),
        ("type", Json::text("object")),
        ("properties", Json::Object(properties.collect())),
        ("required", Json::texts(required.map(|field| &*field.name))),
        ("additionalProperties", Json::Raw("false".to_owned())),
    ]);
    if let Some(more) = more {
        schema.set("allOf", Json::List(vec![Json::Raw(more.clone())]));
    }
    schema
}

impl Field {
    pub(crate) fn may_be_absent(&self) -> bool {
        self.skipped.is_some() || self.comment.absent.is_some()
    }

    /// Its form where it is there: what is left out is never written.
    pub(crate) fn written(&self) -> &Form {
        match &self.form {
            Form::Nullable(inner) if self.skipped == Some(Skip::None) => inner,
            form => form,
        }
    }
}

fn property(field: &Field) -> Json {
    let comment = &field.comment;
    let mut schema = of_form(field.written());
    if !comment.values.is_empty() {
        let mut values: Vec<Json> = comment.values.iter().map(|v| Json::text(v)).collect();
        if matches!(field.written(), Form::Nullable(_)) {
            values.push(Json::Raw("null".to_owned()));
        }
        schema.set("enum", Json::List(values));
    }
    let mut text = comment.meaning.clone();
    for (label, part) in [("Null", &comment.null), ("Absent", &comment.absent)] {
        if let Some(part) = part {
            text = format!("{text} {label}: {part}");
        }
    }
    schema.set("description", Json::text(&text));
    if let Some(example) = &comment.example {
        schema.set("examples", Json::List(vec![Json::Raw(example.clone())]));
    }
    schema
}

fn reference(name: &str) -> Json {
    Json::object([("$ref", Json::text(&format!("#/$defs/{name}")))])
}

fn of_form(form: &Form) -> Json {
    let plain = |name: &str| Json::object([("type", Json::text(name))]);
    match form {
        Form::Any => Json::Object(Vec::new()),
        Form::Text => plain("string"),
        Form::Bool => plain("boolean"),
        Form::Number => plain("number"),
        Form::Time => {
            let mut schema = plain("string");
            schema.set("format", Json::text("date-time"));
            schema
        }
        Form::Integer(least) => {
            let mut schema = plain("integer");
            if let Some(least) = least {
                schema.set("minimum", Json::Raw(least.to_string()));
            }
            schema
        }
        Form::List(inner) => {
            let mut schema = plain("array");
            schema.set("items", of_form(inner));
            schema
        }
        Form::Map(inner) => {
            let mut schema = plain("object");
            schema.set("additionalProperties", of_form(inner));
            schema
        }
        Form::Named(name) => reference(name),
        Form::Nullable(inner) => nullable(of_form(inner)),
    }
}

/// The same, or null.
fn nullable(schema: Json) -> Json {
    let Json::Object(mut entries) = schema else {
        return schema;
    };
    if entries.is_empty() {
        return Json::Object(entries);
    }
    if let Some((_, Json::Raw(name))) = entries.iter_mut().find(|(key, _)| key == "type") {
        *name = format!("[{name}, \"null\"]");
        return Json::Object(entries);
    }
    let null = Json::object([("type", Json::text("null"))]);
    Json::object([("anyOf", Json::List(vec![Json::Object(entries), null]))])
}
