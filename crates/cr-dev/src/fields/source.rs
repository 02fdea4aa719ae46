//! The types of a source file, with their comments.
//!
//! The code is read as text, so that no shipped crate pays for its documents.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, GenericArgument, Ident, Item, Lit, LitStr, Meta, PathArguments, Token};

use super::comment::Comment;

/// Types by name.
pub(crate) type Types = BTreeMap<String, Type>;

/// A type that is written as JSON.
#[derive(Clone, Debug)]
pub(crate) enum Type {
    /// An object.
    Struct {
        meaning: String,
        fields: Vec<Field>,
        /// A schema that it satisfies, too.
        more: Option<String>,
    },
    /// One of these words.
    Words(Vec<String>),
    /// A value that its comment describes, in words and by a schema.
    Raw { called: String, schema: String },
}

impl Type {
    fn object(attributes: &[Attribute], fields: Vec<Field>) -> Self {
        let comment = Comment::parse(&comment_lines(attributes));
        Self::Struct {
            meaning: comment.meaning,
            fields,
            more: comment.schema,
        }
    }
}

/// A field of an object.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) comment: Comment,
    pub(crate) form: Form,
    /// When it is left out.
    pub(crate) skipped: Option<Skip>,
    /// Its fields are those of the object around it.
    pub(crate) is_flat: bool,
}

/// Which values are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Skip {
    None,
    Zero,
    False,
    Empty,
}

/// The form of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Any,
    Text,
    Time,
    Bool,
    Number,
    /// With its least value.
    Integer(Option<i64>),
    List(Box<Form>),
    /// An object whose keys are data.
    Map(Box<Form>),
    Nullable(Box<Form>),
    Named(String),
}

/// Reads the types of the files.
pub(crate) fn types(root: &Path, files: &[&str]) -> anyhow::Result<Types> {
    let mut types = Types::new();
    for file in files {
        let text = fs::read_to_string(root.join(file)).with_context(|| (*file).to_owned())?;
        let source = syn::parse_file(&text).with_context(|| (*file).to_owned())?;
        for item in &source.items {
            if let Some((name, found)) = read(item).with_context(|| (*file).to_owned())? {
                types.insert(name, found);
            }
        }
    }
    Ok(types)
}

fn read(item: &Item) -> anyhow::Result<Option<(String, Type)>> {
    Ok(match item {
        Item::Struct(item) if matches!(item.fields, syn::Fields::Unnamed(_)) => {
            let comment = Comment::parse(&comment_lines(&item.attrs));
            let found = comment.called.zip(comment.schema);
            found.map(|(called, schema)| (item.ident.to_string(), Type::Raw { called, schema }))
        }
        Item::Struct(item) => {
            let fields = item.fields.iter().filter_map(|field| {
                let name = field.ident.as_ref()?.to_string();
                Some(self::field(&name, &field.attrs, &field.ty))
            });
            let fields = fields.collect::<anyhow::Result<Vec<_>>>();
            // A type of another kind than these is of no interest.
            fields
                .ok()
                .map(|fields| (item.ident.to_string(), Type::object(&item.attrs, fields)))
        }
        Item::Enum(item) if item.variants.iter().all(|v| v.fields.is_empty()) => {
            let word = |variant: &syn::Variant| variant.ident.to_string().to_lowercase();
            let words = item.variants.iter().map(word).collect();
            Some((item.ident.to_string(), Type::Words(words)))
        }
        // A macro around a struct: `object! { pub struct … }`.
        Item::Macro(item) => declared.parse2(item.mac.tokens.clone()).ok().transpose()?,
        _ => None,
    })
}

type Declared = anyhow::Result<(String, Type)>;

/// A struct in a macro, whose fields may have a name in JSON: `name = "ref": …`.
fn declared(input: ParseStream<'_>) -> syn::Result<Declared> {
    let attributes = input.call(Attribute::parse_outer)?;
    input.parse::<syn::Visibility>()?;
    input.parse::<Token![struct]>()?;
    let name: Ident = input.parse()?;
    input.parse::<syn::Generics>()?;
    let content;
    syn::braced!(content in input);
    let fields = Punctuated::<_, Token![,]>::parse_terminated_with(&content, declared_field)?;
    let fields = fields.into_iter().collect::<anyhow::Result<Vec<_>>>();
    Ok(fields.map(|fields| (name.to_string(), Type::object(&attributes, fields))))
}

fn declared_field(input: ParseStream<'_>) -> syn::Result<anyhow::Result<Field>> {
    let attributes = input.call(Attribute::parse_outer)?;
    input.parse::<syn::Visibility>()?;
    let mut name = input.parse::<Ident>()?.to_string();
    if input.parse::<Option<Token![=]>>()?.is_some() {
        name = input.parse::<LitStr>()?.value();
    }
    input.parse::<Token![:]>()?;
    let form: syn::Type = input.parse()?;
    Ok(field(&name, &attributes, &form))
}

fn field(name: &str, attributes: &[Attribute], form: &syn::Type) -> anyhow::Result<Field> {
    let comment = Comment::parse(&comment_lines(attributes));
    let mut field = Field {
        form: match &comment.form {
            Some(text) => Form::of(&syn::parse_str(text).context(name.to_owned())?)?,
            None => Form::of(form).context(name.to_owned())?,
        },
        name: name.trim_start_matches("r#").to_owned(),
        comment,
        skipped: None,
        is_flat: false,
    };
    for attribute in attributes.iter().filter(|a| a.path().is_ident("serde")) {
        attribute.parse_nested_meta(|meta| {
            let value = meta
                .value()
                .and_then(syn::parse::ParseBuffer::parse::<LitStr>);
            let value = value.map(|text| text.value()).unwrap_or_default();
            if meta.path.is_ident("rename") {
                field.name = value;
            } else if meta.path.is_ident("skip_serializing_if") {
                field.skipped = Skip::of(&value);
            } else if meta.path.is_ident("flatten") {
                field.is_flat = true;
            }
            Ok(())
        })?;
    }
    Ok(field)
}

impl Skip {
    /// What the function of this name leaves out.
    fn of(function: &str) -> Option<Self> {
        match function.rsplit("::").next()? {
            "is_none" => Some(Self::None),
            "is_zero" => Some(Self::Zero),
            "is_false" | "not" => Some(Self::False),
            "is_empty" => Some(Self::Empty),
            _ => None,
        }
    }
}

/// The lines of a doc comment.
fn comment_lines(attributes: &[Attribute]) -> Vec<String> {
    let lines = attributes.iter().filter_map(|attribute| {
        let Meta::NameValue(meta) = &attribute.meta else {
            return None;
        };
        match &meta.value {
            Expr::Lit(value) if meta.path.is_ident("doc") => match &value.lit {
                Lit::Str(text) => Some(text.value()),
                _ => None,
            },
            _ => None,
        }
    });
    lines.collect()
}

impl Form {
    fn of(form: &syn::Type) -> anyhow::Result<Self> {
        let path = match form {
            syn::Type::Path(form) => &form.path,
            syn::Type::Reference(form) => return Self::of(&form.elem),
            _ => bail!("a type without a name"),
        };
        let Some(last) = path.segments.last() else {
            bail!("a type without a name");
        };
        let name = last.ident.to_string();
        let arguments = arguments(&last.arguments);
        let inner = |at: usize| match arguments.get(at) {
            Some(form) => Self::of(form).map(Box::new),
            None => bail!("{name} of what"),
        };
        Ok(match name.as_str() {
            "Option" => Self::Nullable(inner(0)?),
            "Vec" => Self::List(inner(0)?),
            "BTreeMap" => Self::Map(inner(1)?),
            "Box" | "Rc" | "Cow" => *inner(0)?,
            "RawValue" | "Value" => Self::Any,
            "String" | "str" | "PathBuf" | "OpenEnum" => Self::Text,
            "Timestamp" => Self::Time,
            "bool" => Self::Bool,
            "f64" => Self::Number,
            "u8" | "u32" | "u64" | "usize" => Self::Integer(Some(0)),
            "i32" | "i64" => Self::Integer(None),
            _ => Self::Named(name),
        })
    }
}

/// The types between the angle brackets.
fn arguments(arguments: &PathArguments) -> Vec<&syn::Type> {
    let PathArguments::AngleBracketed(list) = arguments else {
        return Vec::new();
    };
    let types = list.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(form) => Some(form),
        _ => None,
    });
    types.collect()
}
