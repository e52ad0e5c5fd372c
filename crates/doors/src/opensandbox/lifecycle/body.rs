//! The JSON of a request, and what is wrong with its fields: all of it at once, as the original's framework does.

use std::collections::BTreeMap;

use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::super::error::{Answered, Refusal};
use crate::openai::is_kind;

/// The fields of a request's JSON object.
#[derive(Clone, Debug)]
pub(super) struct Fields(pub(super) Map<String, Value>);

impl<S: Send + Sync> FromRequest<S> for Fields {
    type Rejection = Refusal;

    async fn from_request(request: Request, state: &S) -> Answered<Self> {
        // A page in a browser can send other kinds without asking first.
        let is_json = is_kind(request.headers(), "application/json");
        let bytes = Bytes::from_request(request, state).await?;
        Self::parse(&bytes, is_json)
    }
}

/// The same, where a body may be left out.
#[derive(Debug)]
pub(super) struct AnyFields(pub(super) Map<String, Value>);

impl<S: Send + Sync> FromRequest<S> for AnyFields {
    type Rejection = Refusal;

    async fn from_request(request: Request, state: &S) -> Answered<Self> {
        let is_json = is_kind(request.headers(), "application/json");
        let bytes = Bytes::from_request(request, state).await?;
        if bytes.is_empty() {
            return Ok(Self(Map::new()));
        }
        Fields::parse(&bytes, is_json).map(|Fields(fields)| Self(fields))
    }
}

impl Fields {
    fn parse(bytes: &[u8], is_json: bool) -> Answered<Self> {
        let mut problems = Problems::default();
        if bytes.iter().all(u8::is_ascii_whitespace) {
            problems.add("missing", &[], "Field required", &Value::Null);
        } else if !is_json {
            let message = "send the body with the header 'Content-Type: application/json'";
            problems.add("model_attributes_type", &[], message, &Value::Null);
        } else {
            match serde_json::from_slice(bytes) {
                Ok(Value::Object(fields)) => return Ok(Self(fields)),
                Ok(other) => problems.wrong("dict", &[], &other),
                Err(error) => {
                    problems.add("json_invalid", &[], &format!("JSON decode error: {error}"), &json!({}));
                }
            }
        }
        Err(Refusal::fields(problems.0))
    }
}

/// What is wrong with fields.
#[derive(Debug, Default)]
pub(super) struct Problems(pub(super) Vec<Value>);

impl Problems {
    pub(super) fn done(self) -> Answered<()> {
        if self.0.is_empty() { Ok(()) } else { Err(Refusal::fields(self.0)) }
    }

    /// `place`: behind the body.
    pub(super) fn add(&mut self, kind: &str, place: &[&str], message: &str, input: &Value) {
        let place: Vec<_> = std::iter::once("body").chain(place.iter().copied()).collect();
        self.0.push(json!({"type": kind, "loc": place, "msg": message, "input": input}));
    }

    /// What only shows when all fields are looked at together.
    pub(super) fn value(&mut self, message: &str, input: &Map<String, Value>) {
        let message = format!("Value error, {message}");
        self.add("value_error", &[], &message, &Value::Object(without_secrets(input)));
    }

    pub(super) fn missing(&mut self, place: &[&str], input: &Value) {
        self.add("missing", place, "Field required", input);
    }

    /// `kind`: string, int, bool, list or dict.
    pub(super) fn wrong(&mut self, kind: &str, place: &[&str], input: &Value) {
        let named = match kind {
            "string" => "string",
            "int" => "integer",
            "bool" => "boolean",
            "list" => "list",
            _ => "dictionary",
        };
        self.add(&format!("{kind}_type"), place, &format!("Input should be a valid {named}"), input);
    }

    /// Names and texts; none when there is no such field.
    pub(super) fn texts(
        &mut self,
        fields: &Map<String, Value>,
        name: &str,
    ) -> Option<BTreeMap<String, String>> {
        let given = self.object(fields, name)?;
        let mut texts = BTreeMap::new();
        for (key, value) in given {
            match value {
                Value::String(text) => {
                    texts.insert(key.clone(), text.clone());
                }
                other => self.wrong("string", &[name, key], other),
            }
        }
        Some(texts)
    }

    pub(super) fn object<'a>(
        &mut self,
        fields: &'a Map<String, Value>,
        name: &str,
    ) -> Option<&'a Map<String, Value>> {
        match get(fields, name)? {
            Value::Object(object) => Some(object),
            other => {
                self.wrong("dict", &[name], other);
                None
            }
        }
    }

    pub(super) fn text<'a>(&mut self, fields: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
        match get(fields, name)? {
            Value::String(text) => Some(text),
            other => {
                self.wrong("string", &[name], other);
                None
            }
        }
    }
}

/// A field that is there; null is as good as none.
pub(super) fn get<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    fields.get(name).filter(|value| !value.is_null())
}

/// What is said back may end in somebody's log.
fn without_secrets(fields: &Map<String, Value>) -> Map<String, Value> {
    let mut shown = fields.clone();
    shown.remove("env");
    shown.remove("volumes");
    if let Some(Value::Object(image)) = shown.get_mut("image") {
        image.remove("auth");
    }
    shown
}

#[cfg(test)]
#[path = "body_tests.rs"]
mod tests;
