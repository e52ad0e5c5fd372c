//! The schema bundle, and a validator per schema that is made when it is first asked for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use jsonschema::{Draft, Validator};
use serde_json::{Value, json};

use super::explain::explain;

const TEXT: &str = include_str!("../../schemas/openai.json");

#[derive(Debug)]
pub(super) struct Bundle {
    components: Value,
    /// From the type of an event to the name of its schema.
    events: HashMap<String, String>,
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

impl Bundle {
    pub(super) fn load() -> Self {
        // A bundle that is no JSON leaves no schema to be found, which every check then says.
        let mut bundle: Value = serde_json::from_str(TEXT).unwrap_or_default();
        let mut components = bundle["components"].take();
        adapt(&mut components);
        let events = events(&components);
        Self { components, events, validators: Mutex::default() }
    }

    pub(super) fn event_schema(&self, kind: &str) -> Option<&str> {
        self.events.get(kind).map(String::as_str)
    }

    pub(super) fn check(&self, name: &str, value: &Value) -> Result<(), String> {
        let validator = self.validator(name)?;
        // The cheap answer first: to collect what is wrong costs a walk through all branches.
        if validator.is_valid(value) {
            return Ok(());
        }
        let errors: Vec<_> = validator.iter_errors(value).collect();
        Err(format!("not a {name}: {}", explain(&errors)))
    }

    fn validator(&self, name: &str) -> Result<Arc<Validator>, String> {
        let mut validators = self.validators.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(validator) = validators.get(name) {
            return Ok(Arc::clone(validator));
        }
        if self.components.pointer(&format!("/schemas/{name}")).is_none() {
            return Err(format!("the bundle has no schema named {name:?}"));
        }
        let root = json!({"$ref": format!("#/components/schemas/{name}"), "components": self.components});
        let made = jsonschema::options().with_draft(Draft::Draft202012).build(&root);
        let validator =
            Arc::new(made.map_err(|error| format!("the schema {name:?} cannot be used: {error}"))?);
        validators.insert(name.to_owned(), Arc::clone(&validator));
        Ok(validator)
    }
}

fn events(components: &Value) -> HashMap<String, String> {
    let branches = components.pointer("/schemas/ResponseStreamEvent/anyOf").and_then(Value::as_array);
    let names =
        branches.into_iter().flatten().filter_map(|branch| branch["$ref"].as_str()?.rsplit('/').next());
    let kinds = names.filter_map(|name| {
        let kind = components.pointer(&format!("/schemas/{name}/properties/type/enum/0"))?.as_str()?;
        Some((kind.to_owned(), name.to_owned()))
    });
    kinds.collect()
}

/// Two things in the published text do not mean what they say as JSON Schema.
///
/// `nullable` is a word of an older version; it is written out. `oneOf` stands for "one of these kinds", but the
/// kinds overlap: a user's message is both an easy message and an input message. It is read as `anyOf`.
fn adapt(schema: &mut Value) {
    match schema {
        Value::Array(list) => list.iter_mut().for_each(adapt),
        Value::Object(map) => {
            if let Some(branches) = map.get("oneOf").filter(|branches| branches.is_array()).cloned() {
                map.remove("oneOf");
                // Where both words are present, both hold.
                if map.contains_key("anyOf") {
                    map.insert("allOf".into(), json!([{"anyOf": branches}]));
                } else {
                    map.insert("anyOf".into(), branches);
                }
            }
            map.values_mut().for_each(adapt);
            if map.get("nullable") == Some(&Value::Bool(true)) {
                map.remove("nullable");
                let inner = Value::Object(std::mem::take(map));
                map.insert("anyOf".into(), json!([inner, {"type": "null"}]));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
