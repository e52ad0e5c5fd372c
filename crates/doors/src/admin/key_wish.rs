//! What a key is to be, read strictly: a limit that is misspelt is a limit that is not there.

use sandgate_core::{KeyLimits, Owner};
use sandgate_gate::{GateError, only_known};
use sandgate_store::NewKey;
use serde_json::{Map, Value};

use crate::openai::{ApiError, ApiResult};

const LONGEST_NAME: usize = 200;
const LONGEST_OWNER: usize = 64;

pub(super) fn read(mut fields: Map<String, Value>) -> ApiResult<NewKey> {
    only_known(&fields, "", &["name", "owner", "limits", "expires_in_seconds"])?;
    let name = text(&mut fields, "name")?.ok_or_else(|| GateError::missing("name"))?;
    check_name(&name).map_err(|reason| GateError::bad_value("name", reason))?;
    let owner = text(&mut fields, "owner")?;
    let owner = owner.map(|name| check_owner(&name).map_err(|reason| GateError::bad_value("owner", reason)));
    let expires_in_seconds = match given(&mut fields, "expires_in_seconds") {
        None => None,
        Some(value) => match value.as_u64() {
            Some(seconds) if seconds > 0 => Some(seconds),
            _ => {
                let reason = "'expires_in_seconds' must be a whole number of seconds, 1 at least.";
                return Err(GateError::bad_value("expires_in_seconds", reason).into());
            }
        },
    };
    let limits = given(&mut fields, "limits").map_or_else(|| Ok(KeyLimits::default()), read_limits)?;
    Ok(NewKey { name, owner: owner.transpose()?, expires_in_seconds, limits })
}

/// The limits of a change, in whatever state they are.
pub(super) fn read_change(mut fields: Map<String, Value>) -> ApiResult<Map<String, Value>> {
    only_known(&fields, "", &["limits"])?;
    match given(&mut fields, "limits") {
        None => Err(GateError::missing("limits").into()),
        Some(Value::Object(limits)) => Ok(limits),
        Some(other) => Err(GateError::wrong_type("limits", "an object", &other).into()),
    }
}

pub(super) fn read_limits(value: Value) -> ApiResult<KeyLimits> {
    if !value.is_object() {
        return Err(GateError::wrong_type("limits", "an object", &value).into());
    }
    let refused = |reason: String| {
        ApiError::bad_request(format!("Invalid 'limits': {reason}.")).about("limits").coded("invalid_value")
    };
    let limits: KeyLimits = serde_json::from_value(value).map_err(|error| refused(error.to_string()))?;
    limits.check().map_err(|error| refused(error.to_string()))?;
    Ok(limits)
}

/// Why a text cannot be the name of a key.
pub fn check_name(name: &str) -> Result<(), String> {
    let length = name.chars().count();
    if name.trim().is_empty() || length > LONGEST_NAME || name.chars().any(char::is_control) {
        return Err(format!(
            "a name of 1 to {LONGEST_NAME} characters, without control characters, is wanted"
        ));
    }
    Ok(())
}

/// The owner of this name, or why there is none. What belongs to it is shared by all its keys.
pub fn check_owner(name: &str) -> Result<Owner, String> {
    let harmless = |c: char| c.is_ascii_alphanumeric() || "-_.@:".contains(c);
    if name.is_empty() || name.len() > LONGEST_OWNER || !name.chars().all(harmless) {
        return Err(format!("an owner is 1 to {LONGEST_OWNER} letters, digits and '-_.@:'"));
    }
    let owner = Owner::from_stored(name.to_owned());
    if owner == Owner::master() || owner == Owner::anonymous() {
        return Err(format!("'{name}' is not a key's to be"));
    }
    Ok(owner)
}

/// A field that is null counts as not given.
fn given(fields: &mut Map<String, Value>, name: &str) -> Option<Value> {
    fields.shift_remove(name).filter(|value| !value.is_null())
}

fn text(fields: &mut Map<String, Value>, name: &'static str) -> ApiResult<Option<String>> {
    match given(fields, name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(GateError::wrong_type(name, "a string", &other).into()),
    }
}
