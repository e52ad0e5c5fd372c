//! The JSON of a request, and the fields in it.

use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use serde_json::{Map, Value};

use super::super::error::{E2bError, E2bResult};
use crate::openai::is_kind;

/// The fields of a request's JSON object; none when it has no body.
#[derive(Clone, Debug)]
pub(super) struct Fields {
    pub(super) fields: Map<String, Value>,
    /// As it came, to tell two requests apart.
    pub(super) bytes: Bytes,
}

impl<S: Send + Sync> FromRequest<S> for Fields {
    type Rejection = E2bError;

    async fn from_request(request: Request, state: &S) -> E2bResult<Self> {
        // A page in a browser can send other kinds without asking first.
        let is_json = is_kind(request.headers(), "application/json");
        let bytes = Bytes::from_request(request, state).await?;
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Ok(Self { fields: Map::new(), bytes });
        }
        if !is_json {
            return Err(E2bError::bad_request(
                "send the body with the header 'Content-Type: application/json'",
            ));
        }
        match serde_json::from_slice(&bytes) {
            Ok(Value::Object(fields)) => Ok(Self { fields, bytes }),
            Ok(Value::Null) => Ok(Self { fields: Map::new(), bytes }),
            Ok(_) => Err(E2bError::bad_request("the body must be a JSON object")),
            Err(error) => Err(E2bError::bad_request(format!("the body is not valid JSON: {error}"))),
        }
    }
}

impl Fields {
    fn get(&self, name: &str) -> Option<&Value> {
        self.fields.get(name).filter(|value| !value.is_null())
    }

    pub(super) fn flag(&self, name: &str) -> E2bResult<Option<bool>> {
        self.get(name).map(|value| value.as_bool().ok_or_else(|| wrong(name, "true or false"))).transpose()
    }

    pub(super) fn text(&self, name: &str) -> E2bResult<Option<&str>> {
        self.get(name).map(|value| value.as_str().ok_or_else(|| wrong(name, "a text"))).transpose()
    }

    pub(super) fn number(&self, name: &str) -> E2bResult<Option<u64>> {
        let is_wrong = || wrong(name, "a whole number of at least 0");
        self.get(name).map(|value| value.as_u64().ok_or_else(is_wrong)).transpose()
    }

    pub(super) fn object(&self, name: &str) -> E2bResult<Option<&Map<String, Value>>> {
        self.get(name).map(|value| value.as_object().ok_or_else(|| wrong(name, "an object"))).transpose()
    }

    /// Names and texts.
    pub(super) fn texts(&self, name: &str) -> E2bResult<Vec<(String, String)>> {
        let texts = self.object(name)?.into_iter().flatten().map(|(key, value)| match value {
            Value::String(text) => Ok((key.clone(), text.clone())),
            _ => Err(wrong(&format!("{name}.{key}"), "a text")),
        });
        texts.collect()
    }

    /// Refuses what this server cannot give, unless it is as good as not asked for.
    pub(super) fn refuse(&self, name: &str, reason: &str) -> E2bResult<()> {
        match self.get(name) {
            None | Some(Value::Bool(false)) => Ok(()),
            Some(Value::Array(items)) if items.is_empty() => Ok(()),
            Some(Value::Object(fields)) if fields.is_empty() => Ok(()),
            Some(_) => Err(E2bError::bad_request(format!("'{name}' cannot be granted: {reason}"))),
        }
    }
}

fn wrong(name: &str, expected: &str) -> E2bError {
    E2bError::bad_request(format!("'{name}' must be {expected}"))
}
