//! `metadata`: up to sixteen short texts that clients attach to what they make.

use sandgate_gate::GateError;
use serde_json::{Value, json};

use super::error::{ApiError, ApiResult};

const MOST_PAIRS: usize = 16;
const LONGEST_KEY: usize = 64;
const LONGEST_VALUE: usize = 512;

/// None counts as empty.
pub(super) fn read(value: Option<&Value>) -> ApiResult<Value> {
    let pairs = match value {
        None | Some(Value::Null) => return Ok(json!({})),
        Some(Value::Object(pairs)) => pairs,
        Some(other) => return Err(GateError::wrong_type("metadata", "an object", other).into()),
    };
    if pairs.len() > MOST_PAIRS {
        let message = format!(
            "Invalid 'metadata': too many properties. Expected an object with at most {MOST_PAIRS} properties, \
             but got an object with {} properties instead.",
            pairs.len()
        );
        return Err(ApiError::bad_request(message).about("metadata").coded("object_above_max_properties"));
    }
    for (key, value) in pairs {
        let at = format!("metadata.{key}");
        check_length("metadata", key, LONGEST_KEY)?;
        match value {
            Value::String(text) => check_length(&at, text, LONGEST_VALUE)?,
            other => return Err(GateError::wrong_type(at, "a string", other).into()),
        }
    }
    Ok(Value::Object(pairs.clone()))
}

fn check_length(at: &str, text: &str, most: usize) -> ApiResult<()> {
    let length = text.chars().count();
    if length <= most {
        return Ok(());
    }
    let message = format!(
        "Invalid '{at}': string too long. Expected a string with maximum length {most}, but got a string with \
         length {length} instead."
    );
    Err(ApiError::bad_request(message).about(at).coded("string_above_max_length"))
}
