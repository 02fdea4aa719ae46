//! A schema that a tool prints, and which of its properties had a value.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use boon::{Compiler, SchemaIndex, Schemas};
use cr_test::World;
use serde_json::Value;

/// A schema, and the properties that were seen with a value.
pub(crate) struct Checker {
    pub(crate) schema: Value,
    schemas: Schemas,
    index: SchemaIndex,
    seen: BTreeSet<String>,
    /// Parts of the schema that were compiled: to compile one takes longer than to
    /// check a line.
    parts: RefCell<HashMap<String, (Schemas, SchemaIndex)>>,
}

impl Checker {
    /// The schema that `tool` prints with `flag`, which may follow a subcommand.
    pub(crate) fn of(tool: &str, flag: &str) -> Self {
        let mut command = World::new().tool(tool);
        let output = command.args(flag.split(' ')).output().expect("run");
        assert_eq!(output.status.code(), Some(0), "{tool} {flag}");
        let schema: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(
            schema["$schema"],
            "https://json-schema.org/draft/2020-12/schema"
        );
        let (schemas, index) = compile(&schema);
        Self {
            schema,
            schemas,
            index,
            seen: BTreeSet::new(),
            parts: RefCell::default(),
        }
    }

    /// Checks every line of an output.
    pub(crate) fn check_lines(&mut self, text: &str) {
        for line in text.lines() {
            self.check(line);
        }
    }

    fn check(&mut self, line: &str) {
        let value: Value = serde_json::from_str(line).expect("a line of JSON");
        if let Err(err) = self.schemas.validate(&value, self.index) {
            panic!("{err:#}\n{line}");
        }
        let schema = self.schema.clone();
        self.note(&schema, &value, "");
    }

    pub(crate) fn accepts(&self, value: &Value) -> bool {
        self.schemas.validate(value, self.index).is_ok()
    }

    /// Fails if a property had no value in what was checked.
    pub(crate) fn every_property_had_a_value(&self) {
        let mut missing = properties(&self.schema, "");
        for (name, definition) in self.definitions() {
            missing.extend(properties(definition, name));
        }
        missing.retain(|name| !self.seen.contains(name));
        assert!(missing.is_empty(), "never with a value: {missing:#?}");
    }

    pub(crate) fn definitions(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.schema["$defs"].as_object().into_iter().flatten()
    }

    /// Notes the properties of `value` that are not null; `place` is the name of
    /// the type that `schema` describes.
    fn note(&mut self, schema: &Value, value: &Value, place: &str) {
        if let Some(name) = schema["$ref"].as_str() {
            let name = name.trim_start_matches("#/$defs/").to_owned();
            let definition = self.schema["$defs"][&name].clone();
            return self.note(&definition, value, &name);
        }
        for choice in ["anyOf", "oneOf"] {
            for choice in schema[choice].as_array().into_iter().flatten() {
                if self.fits(choice, value) {
                    self.note(choice, value, place);
                }
            }
        }
        for item in value.as_array().into_iter().flatten() {
            self.note(&schema["items"], item, place);
        }
        for (key, value) in value.as_object().into_iter().flatten() {
            match schema["properties"].get(key) {
                Some(property) if !value.is_null() => {
                    self.seen.insert(format!("{place}.{key}"));
                    self.note(property, value, key);
                }
                _ => self.note(&schema["additionalProperties"], value, place),
            }
        }
    }

    /// Whether `value` satisfies a part of the schema.
    pub(crate) fn fits(&self, schema: &Value, value: &Value) -> bool {
        let mut parts = self.parts.borrow_mut();
        let (schemas, index) = parts.entry(schema.to_string()).or_insert_with(|| {
            let mut whole = schema.clone();
            if let Some(definitions) = self.schema.get("$defs") {
                whole["$defs"] = definitions.clone();
            }
            compile(&whole)
        });
        schemas.validate(value, *index).is_ok()
    }
}

fn compile(schema: &Value) -> (Schemas, SchemaIndex) {
    const PLACE: &str = "file:///schema.json";
    let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
    compiler.enable_format_assertions();
    compiler
        .add_resource(PLACE, schema.clone())
        .expect("a schema");
    let index = compiler.compile(PLACE, &mut schemas).expect("compiled");
    (schemas, index)
}

fn properties(schema: &Value, place: &str) -> Vec<String> {
    let names = schema["properties"].as_object().into_iter().flatten();
    names.map(|(name, _)| format!("{place}.{name}")).collect()
}
