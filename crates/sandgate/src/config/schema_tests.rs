//! The schema that is checked in is the one of this program.

use std::path::Path;

use super::*;

#[test]
fn the_schema_in_the_documents_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/config.schema.json");
    let there = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        there == schema(),
        "docs/config.schema.json is out of date: cargo run -- config schema > docs/config.schema.json"
    );
}

#[test]
fn it_knows_every_key_and_is_strict() {
    let schema: Value = serde_json::from_str(&schema()).unwrap();
    assert_eq!(schema["additionalProperties"], false);
    for key in ["listen", "upstream", "upstreams", "models", "gate", "limits", "master_key"] {
        assert!(schema["properties"].get(key).is_some(), "{key}");
    }
    assert_eq!(schema["properties"]["limits"]["properties"]["wall"]["type"], "number");
    assert!(!schema.to_string().contains("origin"));
}
