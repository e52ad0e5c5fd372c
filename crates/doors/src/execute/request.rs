//! The body of `POST /v1/execute`, read strictly: what is wrong is said with the field's name.

use std::time::Duration;

use sandgate_core::network::NetworkPolicy;
use sandgate_core::{ContainerId, ContextId};
use serde_json::{Map, Value};

use super::Refusal;

#[derive(Debug, PartialEq)]
pub(super) struct Request {
    pub(super) code: String,
    pub(super) language: Option<String>,
    /// None: a fresh one.
    pub(super) container: Option<ContainerId>,
    pub(super) context: Option<ContextId>,
    pub(super) timeout: Option<Duration>,
    pub(super) stream: bool,
    /// What a fresh container may reach; None: what the server gives to those who ask for nothing.
    pub(super) network: Option<NetworkPolicy>,
}

impl Request {
    pub(super) fn parse(body: &[u8]) -> Result<Self, Refusal> {
        let text =
            std::str::from_utf8(body).map_err(|error| Refusal::NotUtf8 { offset: error.valid_up_to() })?;
        let value = serde_json::from_str(text).map_err(|error| Refusal::NotJson(error.to_string()))?;
        let Value::Object(fields) = value else { return Err(Refusal::NotAnObject) };
        let mut fields = Fields(fields);
        let request = Self {
            code: fields.text("code")?.ok_or(Refusal::Missing("code"))?,
            language: fields.text("language")?,
            container: fields.id("container", ContainerId::parse)?,
            context: fields.id("context", ContextId::parse)?,
            timeout: fields.seconds("timeout")?,
            stream: fields.flag("stream")?,
            network: fields.network("network")?,
        };
        match fields.0.into_iter().next() {
            Some((name, _)) => Err(Refusal::UnknownField(name.chars().take(100).collect())),
            None => Ok(request),
        }
    }
}

/// Takes known fields out; what is left over is unknown. A field that is null counts as not given.
struct Fields(Map<String, Value>);

impl Fields {
    fn take(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name).filter(|value| !value.is_null())
    }

    fn text(&mut self, name: &'static str) -> Result<Option<String>, Refusal> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong(name, "a string", &other)),
        }
    }

    fn id<I, E: ToString>(
        &mut self,
        name: &'static str,
        parse: fn(&str) -> Result<I, E>,
    ) -> Result<Option<I>, Refusal> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let id = parse(&text).map_err(|error| Refusal::BadValue { name, reason: error.to_string() })?;
        Ok(Some(id))
    }

    fn seconds(&mut self, name: &'static str) -> Result<Option<Duration>, Refusal> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let number = value.as_f64().ok_or_else(|| wrong(name, "a number of seconds", &value))?;
        match Duration::try_from_secs_f64(number) {
            Ok(time) if !time.is_zero() => Ok(Some(time)),
            _ => Err(Refusal::BadValue {
                name,
                reason: format!("'{name}' must be more than 0 seconds, not {number}"),
            }),
        }
    }

    /// One word or several, as on the command line.
    fn network(&mut self, name: &'static str) -> Result<Option<NetworkPolicy>, Refusal> {
        const EXPECTED: &str = "a string or an array of strings";
        const EACH: &str = "a string at every place of the array";
        let Some(value) = self.take(name) else { return Ok(None) };
        let word = |word| Value::as_str(word).ok_or_else(|| wrong(name, EACH, word));
        let words: Vec<&str> = match &value {
            Value::String(word) => vec![word],
            Value::Array(words) => words.iter().map(word).collect::<Result<_, _>>()?,
            _ => return Err(wrong(name, EXPECTED, &value)),
        };
        let policy = NetworkPolicy::from_words(words);
        policy.map(Some).map_err(|error| Refusal::BadValue { name, reason: format!("'{name}': {error}") })
    }

    fn flag(&mut self, name: &'static str) -> Result<bool, Refusal> {
        match self.take(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(other) => Err(wrong(name, "true or false", &other)),
        }
    }
}

fn wrong(name: &'static str, expected: &'static str, found: &Value) -> Refusal {
    let found = match found {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    Refusal::WrongType { name, expected, found }
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
