//! Whether a key may use the model that a request names.

use axum::http::StatusCode;
use sandgate_core::KeyLimits;
use serde_json::Value;

use super::reading::{Found, MODEL, read, read_model};
use crate::openai::{ApiError, ApiResult};

/// For any JSON body that may name tools, whether it is carried out here or passed on: everybody must read the
/// same in it.
pub(crate) fn check_model(limits: &KeyLimits, body: &[u8]) -> ApiResult<()> {
    check(limits, &read(body)?)
}

/// For any other body that is passed on.
pub(crate) fn check_model_alone(limits: &KeyLimits, body: &[u8]) -> ApiResult<()> {
    if limits.models.is_none() {
        return Ok(());
    }
    check(limits, &read_model(body)?)
}

fn check(limits: &KeyLimits, found: &Found) -> ApiResult<()> {
    match found.models.as_slice() {
        [_, _, ..] => {
            // Which of them an upstream would take is anybody's guess.
            Err(ApiError::bad_request("The parameter 'model' was given more than once.").about(MODEL))
        }
        _ if limits.models.is_none() => Ok(()),
        [(true, Value::String(model))] => allowed(limits, model),
        [] => Err(ApiError::bad_request("You must provide a model parameter.").about(MODEL)),
        [_] => Err(ApiError::bad_request("The parameter 'model' must be a string.").about(MODEL)),
    }
}

fn allowed(limits: &KeyLimits, model: &str) -> ApiResult<()> {
    if limits.allows_model(model) {
        return Ok(());
    }
    let message = format!("The model '{model}' does not exist or you do not have access to it.");
    Err(ApiError::new(StatusCode::NOT_FOUND, message).about(MODEL).coded("model_not_found"))
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;
