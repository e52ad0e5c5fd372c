//! Whether a key may use the model that a request names.

use std::fmt;

use axum::http::StatusCode;
use sandgate_core::KeyLimits;
use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use crate::openai::{ApiError, ApiResult};

const FIELD: &str = "model";

/// For any JSON body that is carried out here or passed on.
pub(crate) fn check_model(limits: &KeyLimits, body: &[u8]) -> ApiResult<()> {
    if limits.models.is_none() {
        return Ok(());
    }
    let mut reader = serde_json::Deserializer::from_slice(body);
    // What is no JSON object is refused by whoever reads it whole, and passed on to nobody.
    let Ok(models) = reader.deserialize_map(Models) else {
        return Err(ApiError::bad_request("The body of your request must be a JSON object."));
    };
    match models.as_slice() {
        [(name, Value::String(model))] if name == FIELD => allowed(limits, model),
        [] => Err(ApiError::bad_request("You must provide a model parameter.").about(FIELD)),
        [_] => Err(ApiError::bad_request("The parameter 'model' must be a string.").about(FIELD)),
        // Which of them an upstream would take is anybody's guess.
        _ => Err(ApiError::bad_request("The parameter 'model' was given more than once.").about(FIELD)),
    }
}

fn allowed(limits: &KeyLimits, model: &str) -> ApiResult<()> {
    if limits.allows_model(model) {
        return Ok(());
    }
    let message = format!("The model '{model}' does not exist or you do not have access to it.");
    Err(ApiError::new(StatusCode::NOT_FOUND, message).about(FIELD).coded("model_not_found"))
}

/// Every field that some reader of JSON might take for the model.
struct Models;

impl<'de> Visitor<'de> for Models {
    type Value = Vec<(String, Value)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            if name.eq_ignore_ascii_case(FIELD) {
                found.push((name, map.next_value()?));
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;
