//! Checks of a value against the official schema.

mod bundle;
mod explain;
mod whitelist;

use std::sync::LazyLock;

use serde_json::Value;

use bundle::Bundle;

/// The official schemas, with the deviations of real traffic that `whitelist.rs` lists and no others.
#[derive(Debug)]
pub struct Schemas;

static BUNDLE: LazyLock<Bundle> = LazyLock::new(Bundle::load);

impl Schemas {
    /// A value against the schema of this name, such as `ContainerResource`.
    pub fn check(name: &str, value: &Value) -> Result<(), String> {
        BUNDLE.check(name, &whitelist::forgive(name, value))
    }

    /// A whole response object.
    pub fn check_response(response: &Value) -> Result<(), String> {
        Self::check("Response", response)
    }

    /// A stream event, against the schema that belongs to its `type`.
    pub fn check_event(event: &Value) -> Result<(), String> {
        let kind = event.get("type").and_then(Value::as_str).ok_or("the event has no type")?;
        if whitelist::UNDOCUMENTED_EVENTS.contains(&kind) {
            return Ok(());
        }
        let name = BUNDLE.event_schema(kind).ok_or_else(|| format!("there is no event of type {kind:?}"))?;
        Self::check(name, event).map_err(|message| format!("{kind}: {message}"))
    }
}

#[cfg(test)]
#[path = "checks_tests.rs"]
mod tests;
