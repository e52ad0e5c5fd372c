//! What the model has in front of it: the conversation so far, found by whichever of the ways the client
//! named it, with code calls in the form the model made them.

use sandgate_core::Owner;
use sandgate_store::{ItemRecord, Store, StoreError};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::error::{GateError, Result};
use crate::ids::{fresh_id, prefix_of};
use crate::input_files::{InputFile, take_files};
use crate::item_form::with_defaults;
use crate::request::CreateRequest;
use crate::tools::NAME;

#[derive(Debug, Default)]
pub(crate) struct History {
    /// Items for the upstream.
    pub(crate) model: Vec<Value>,
    /// The client's new input, to be kept with the response.
    pub(crate) inputs: Vec<ItemRecord>,
    /// Containers that earlier calls ran in, in order.
    pub(crate) containers: Vec<String>,
    pub(crate) files: Vec<InputFile>,
    /// A response that only the upstream knows.
    pub(crate) upstream_previous: Option<String>,
}

impl History {
    /// `remembers`: whether the upstream keeps responses of its own, which the client may name.
    pub(crate) async fn gather(
        store: &Store,
        owner: &Owner,
        request: &CreateRequest,
        remembers: bool,
    ) -> Result<Self> {
        let mut history = Self::default();
        if let Some(previous) = &request.previous {
            match store.history(owner, previous).await {
                Ok((items, upstream)) => {
                    history.upstream_previous = upstream;
                    history.recall(items);
                }
                Err(StoreError::NotFound) if remembers => history.upstream_previous = Some(previous.clone()),
                Err(StoreError::NotFound) => return Err(no_such_response(previous)),
                Err(error) => return Err(error.into()),
            }
        }
        if let Some(conversation) = &request.conversation {
            let items = store.all_items(owner, conversation).await.map_err(|error| match error {
                StoreError::NotFound => GateError::NotFound {
                    message: format!("Conversation with id '{conversation}' not found."),
                    param: None,
                },
                other => other.into(),
            })?;
            history.recall(items);
        }
        for item in request.input_items()? {
            history.add_input(store, owner, item, remembers).await?;
        }
        let mut files = Vec::new();
        for item in &mut history.model {
            take_files(item, owner, store, &mut files).await?;
        }
        history.files = files;
        Ok(history)
    }

    fn recall(&mut self, items: Vec<ItemRecord>) {
        for item in items {
            self.note_container(&item.body);
            self.model.extend(item.model.unwrap_or_else(|| vec![item.body]));
        }
    }

    fn note_container(&mut self, item: &Value) {
        if kind(item) == "code_interpreter_call"
            && let Some(id) = item.get("container_id").and_then(Value::as_str)
        {
            self.containers.push(id.to_owned());
        }
    }

    async fn add_input(&mut self, store: &Store, owner: &Owner, item: Value, remembers: bool) -> Result<()> {
        let known = match item.get("id").and_then(Value::as_str) {
            Some(id) => match store.item(owner, id).await {
                Ok(record) => Some(record),
                Err(StoreError::NotFound) => None,
                Err(error) => return Err(error.into()),
            },
            None => None,
        };
        self.note_container(known.as_ref().map_or(&item, |record| &record.body));
        let model = match (kind(&item), known.clone()) {
            // The model's own form, with what the client may not have: outputs, encrypted thoughts.
            ("code_interpreter_call" | "reasoning" | "item_reference", Some(record)) => {
                record.model.unwrap_or_else(|| vec![record.body])
            }
            ("code_interpreter_call", None) => rebuilt(&item),
            ("item_reference", None) if !remembers => return Err(no_such_item(&item)),
            _ => vec![item.clone()],
        };
        self.model.extend(model.iter().cloned());
        let record = known.unwrap_or_else(|| record(item, model));
        self.inputs.push(record);
        Ok(())
    }
}

/// An input as it is kept: with an id and all its fields for those who list it, and the client's own
/// form for the model.
pub(crate) fn record(item: Value, model: Vec<Value>) -> ItemRecord {
    let mut body = with_defaults(item);
    let id = body.get("id").and_then(Value::as_str).map(str::to_owned);
    let id = id.unwrap_or_else(|| fresh_id(prefix_of(kind(&body))));
    if let Value::Object(fields) = &mut body {
        fields.insert("id".to_owned(), json!(id));
    }
    ItemRecord { id, body, model: Some(model) }
}

/// A code call that this server has no record of: another's, or one whose record is gone. The client's
/// copy has the code and, with luck, the outputs.
pub(crate) fn rebuilt(item: &Value) -> Vec<Value> {
    let id = item.get("id").and_then(Value::as_str).unwrap_or_default();
    let code = item.get("code").and_then(Value::as_str).unwrap_or_default();
    let digest = Sha256::digest(format!("{id}\n{code}").as_bytes());
    let call: String = digest.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
    let call_id = format!("call_{call}");
    let arguments = json!({"code": code}).to_string();
    vec![
        json!({"type": "function_call", "call_id": call_id, "name": NAME, "arguments": arguments}),
        json!({"type": "function_call_output", "call_id": call_id, "output": rebuilt_output(item)}),
    ]
}

fn rebuilt_output(item: &Value) -> String {
    let Some(Value::Array(outputs)) = item.get("outputs") else {
        return "[the output of this call is not available any more]".to_owned();
    };
    let mut text = String::new();
    for output in outputs {
        match output.get("logs").and_then(Value::as_str) {
            Some(logs) => text.push_str(logs),
            None => text.push_str("[a figure was shown to the user]\n"),
        }
    }
    if text.is_empty() { "[no output]".to_owned() } else { text }
}

/// A message may leave its type out.
pub(crate) fn kind(item: &Value) -> &str {
    item.get("type").and_then(Value::as_str).unwrap_or("message")
}

fn no_such_response(id: &str) -> GateError {
    GateError::Invalid {
        message: format!("Previous response with id '{id}' not found."),
        param: Some("previous_response_id".to_owned()),
        code: Some("previous_response_not_found"),
    }
}

fn no_such_item(item: &Value) -> GateError {
    let id = item.get("id").and_then(Value::as_str).unwrap_or_default();
    GateError::NotFound { message: format!("Item with id '{id}' not found."), param: Some("input") }
}

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;
