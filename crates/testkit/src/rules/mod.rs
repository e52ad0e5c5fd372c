//! What a request must hold to, beyond its schema, for a strict upstream to take it.

mod chat;
mod responses;
mod tools;

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::checks::Schemas;

/// What was given out under the request's key.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) given: HashSet<String>,
    /// Ids that were not given out are taken too.
    pub(crate) foreign: bool,
}

impl Known {
    fn knows(&self, id: &str) -> bool {
        self.foreign || self.given.contains(id)
    }
}

/// Why a request is refused, and the field it is about.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) message: String,
    pub(crate) param: Option<String>,
}

impl Refusal {
    pub(crate) fn new(message: impl Into<String>, param: Option<&str>) -> Self {
        Self { message: message.into(), param: param.map(str::to_owned) }
    }
}

type Outcome = Result<(), Refusal>;

fn refuse(param: &str, message: impl Into<String>) -> Outcome {
    Err(Refusal::new(message, Some(param)))
}

pub(crate) fn check_responses(request: &Map<String, Value>, known: &Known) -> Outcome {
    schema("CreateResponse", request)?;
    no_internals(request)?;
    tools::check(request, tools::in_responses)?;
    responses::check(request, known)
}

pub(crate) fn check_chat(request: &Map<String, Value>, known: &Known) -> Outcome {
    schema("CreateChatCompletionRequest", request)?;
    no_internals(request)?;
    tools::check(request, tools::in_chat)?;
    chat::check(request, known)
}

fn schema(name: &str, request: &Map<String, Value>) -> Outcome {
    Schemas::check(name, &Value::Object(request.clone())).map_err(|message| Refusal::new(message, None))
}

/// Fields that mean something between a client and us, and nothing to a model.
fn no_internals(request: &Map<String, Value>) -> Outcome {
    let internal = |name: &&String| {
        matches!(name.as_str(), "container" | "container_id" | "containers") || name.contains("sandbox")
    };
    match request.keys().find(internal) {
        Some(name) => refuse(name, format!("Unknown parameter: '{name}'.")),
        None => Ok(()),
    }
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
