//! The JSON Schema of the configuration, for editors. A copy is in `docs/config.schema.json`.

use sandgate_core::Limits;
use schemars::{Schema, SchemaGenerator, schema_for};
use serde_json::{Value, json};

use super::file::ConfigFile;
use crate::size;

/// As text, with a line end.
pub(crate) fn schema() -> String {
    let schema = schema_for!(ConfigFile).to_value();
    format!("{schema:#}\n")
}

/// The limits are numbers all, and their defaults say which.
pub(crate) fn limits(_: &mut SchemaGenerator) -> Schema {
    let defaults = serde_json::to_value(Limits::default()).unwrap_or_default();
    let number = |name: &str, default: &Value| {
        let kind = if default.is_f64() { "number" } else { "integer" };
        let least = if name == "memory_bytes" { size::SMALLEST } else { 0 };
        json!({"type": kind, "minimum": least, "default": default})
    };
    let names = defaults.as_object().into_iter().flatten();
    let properties: serde_json::Map<String, Value> =
        names.map(|(name, default)| (name.clone(), number(name, default))).collect();
    let mut schema = Schema::default();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("additionalProperties".to_owned(), json!(false));
    schema.insert("properties".to_owned(), Value::Object(properties));
    schema
}

/// Of a backend: a word, or a list.
pub(crate) fn backend_network(_: &mut SchemaGenerator) -> Schema {
    let words = json!({"type": "string", "enum": ["disabled", "open", "none", "all"]});
    let list = json!({"type": "array", "items": {"type": "string"}});
    let mut schema = Schema::default();
    schema.insert("anyOf".to_owned(), json!([words, list]));
    schema
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
