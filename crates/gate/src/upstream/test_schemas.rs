//! For tests: what we write, against the official schemas.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use jsonschema::Validator;
use serde_json::{Value, json};

static BUNDLE: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../../testkit/schemas/openai.json")).unwrap());
/// Making one takes longer than using it a thousand times.
static VALIDATORS: LazyLock<Mutex<HashMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);

fn validator(name: &str) -> Arc<Validator> {
    let mut validators = VALIDATORS.lock().unwrap();
    let made = validators.entry(name.to_owned()).or_insert_with(|| {
        let mut schema = BUNDLE.clone();
        schema["$ref"] = format!("#/components/schemas/{name}").into();
        Arc::new(jsonschema::validator_for(&schema).unwrap())
    });
    made.clone()
}

pub(crate) fn check(name: &str, value: &Value) {
    let errors: Vec<String> = validator(name)
        .iter_errors(value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{name}: {errors:#?}\n{value:#}");
}

/// Each event against the schema of its type. Real traffic, too, has nulls for a user and for counts that
/// are not known yet.
pub(crate) fn check_events(events: &[Value]) {
    let schemas = BUNDLE["components"]["schemas"].as_object().unwrap();
    for (number, event) in events.iter().enumerate() {
        assert_eq!(event["sequence_number"], number, "{event}");
        let mut event = event.clone();
        if let Some(response) = event.get_mut("response").and_then(Value::as_object_mut) {
            response.retain(|name, value| !(value.is_null() && matches!(name.as_str(), "user" | "usage")));
        }
        let is_its = |schema: &Value| schema["properties"]["type"]["enum"] == json!([event["type"]]);
        let name = schemas.iter().find(|(name, schema)| name.ends_with("Event") && is_its(schema));
        let (name, _) = name.unwrap_or_else(|| panic!("no schema for {event}"));
        check(name, &event);
    }
}
