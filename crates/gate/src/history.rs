//! What the model has in front of it: the conversation so far, found by whichever of the ways the client
//! named it, with code calls in the form the model made them.

use std::collections::HashSet;

use sandgate_core::{Owner, human_bytes};
use sandgate_store::{ItemRecord, Store, StoreError, if_there};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::error::{GateError, Result};
use crate::ids::{fresh_id, prefix_of};
use crate::input_files::{InputFile, TakenFiles, take_files};
use crate::item_form::with_defaults;
use crate::request::CreateRequest;
use crate::tool_secrets::forget_secrets_of_item;
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
    /// Other files were given by an address, and are in no container.
    pub(crate) files_elsewhere: bool,
    /// A response that only the upstream knows.
    pub(crate) upstream_previous: Option<String>,
    /// What the code tool was called in earlier turns.
    pub(crate) code_names: HashSet<String>,
    /// Ids of all items in front of the model.
    pub(crate) ids: HashSet<String>,
    weight: usize,
}

/// Bytes in front of the model, more than any model reads.
const MOST_BYTES: usize = 128 << 20;

/// Refuses what would take the server's memory.
pub(crate) fn check_weight(bytes: usize) -> Result<()> {
    if bytes <= MOST_BYTES {
        return Ok(());
    }
    let most = human_bytes(MOST_BYTES as u64);
    Err(GateError::Invalid {
        message: format!("The input, with everything it refers to, is larger than {most}."),
        param: Some("input".to_owned()),
        code: Some("context_length_exceeded"),
    })
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
                    for item in items {
                        history.recall(item)?;
                    }
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
            for item in items {
                history.recall(item)?;
            }
        }
        for item in request.input_items()? {
            history.add_input(store, owner, item, remembers).await?;
        }
        let mut files = TakenFiles::new(request.code_tool.is_some(), history.weight);
        for item in &mut history.model {
            take_files(item, owner, store, &mut files).await?;
        }
        history.files_elsewhere = files.is_elsewhere;
        history.files = files.found;
        Ok(history)
    }

    /// Puts an item in front of the model.
    fn recall(&mut self, item: ItemRecord) -> Result<()> {
        let model = item.model.unwrap_or_else(|| vec![item.body.clone()]);
        // Names of things that are kept here are short; what they stand for is not.
        self.weight += model.iter().map(weight).sum::<usize>();
        check_weight(self.weight)?;
        if kind(&item.body) == "code_interpreter_call" {
            let container = item.body.get("container_id").and_then(Value::as_str);
            self.containers.extend(container.map(str::to_owned));
        }
        // A call that the client does not see as one is a call for code, run or refused.
        if !is_call(&item.body) {
            let names =
                model.iter().filter(|item| is_call(item)).filter_map(|call| call.get("name")?.as_str());
            self.code_names.extend(names.map(str::to_owned));
        }
        self.ids.insert(item.id);
        self.model.extend(model);
        Ok(())
    }

    async fn add_input(&mut self, store: &Store, owner: &Owner, item: Value, remembers: bool) -> Result<()> {
        let known = known(store, owner, &item).await?;
        let kept = match (kind(&item), known) {
            // The model's own form, with what the client may not have: outputs, encrypted thoughts.
            ("code_interpreter_call" | "reasoning" | "item_reference", Some(known)) => known,
            ("message", Some(known)) if same_text(&known.body, &item) => known,
            ("code_interpreter_call", None) => {
                let model = rebuilt(&item);
                record(item, model)
            }
            ("message", _) => {
                let model = vec![for_the_model(item.clone())];
                record(item, model)
            }
            ("item_reference", None) if !remembers => return Err(no_such_item(&item)),
            _ => {
                let model = vec![item.clone()];
                record(item, model)
            }
        };
        self.recall(kept.clone())?;
        self.inputs.push(without_secrets(kept));
        Ok(())
    }
}

/// The model has read what an item brought along; what is kept of it has no secrets.
pub(crate) fn without_secrets(mut item: ItemRecord) -> ItemRecord {
    forget_secrets_of_item(&mut item.body);
    item.model.iter_mut().flatten().for_each(forget_secrets_of_item);
    item
}

/// What the store has under the item's id.
pub(crate) async fn known(store: &Store, owner: &Owner, item: &Value) -> Result<Option<ItemRecord>> {
    match item.get("id").and_then(Value::as_str) {
        Some(id) => Ok(if_there(store.item(owner, id).await)?),
        None => Ok(None),
    }
}

/// A rough size of a value in bytes.
pub(crate) fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 8,
        Value::Array(items) => items.iter().map(weight).sum::<usize>() + 8,
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| name.len() + weight(value)).sum::<usize>() + 8
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
    }
}

/// Whether a message that is sent again says what it said.
fn same_text(kept: &Value, sent: &Value) -> bool {
    let text = |item: &Value| -> Option<Vec<String>> {
        match item.get("content")? {
            Value::String(text) => Some(vec![text.clone()]),
            Value::Array(parts) => {
                parts.iter().map(|part| part.get("text")?.as_str().map(str::to_owned)).collect()
            }
            _ => None,
        }
    };
    text(kept).is_some() && text(kept) == text(sent)
}

/// A message that a client made up, or changed: without citations of containers that the upstream does
/// not know, and with the fields that clients like to leave out.
fn for_the_model(mut message: Value) -> Value {
    if message.get("role").and_then(Value::as_str) != Some("assistant") {
        return message;
    }
    let Some(Value::Array(parts)) = message.get_mut("content") else { return message };
    for part in parts.iter_mut().filter_map(Value::as_object_mut) {
        if part.get("type").and_then(Value::as_str) != Some("output_text") {
            continue;
        }
        part.entry("logprobs").or_insert_with(|| json!([]));
        let annotations = part.entry("annotations").or_insert_with(|| json!([]));
        if let Value::Array(annotations) = annotations {
            annotations.retain(|note| kind(note) != "container_file_citation");
        }
    }
    if message.get("id").is_some()
        && let Value::Object(fields) = &mut message
    {
        fields.entry("status").or_insert_with(|| json!("completed"));
    }
    message
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

fn is_call(item: &Value) -> bool {
    matches!(kind(item), "function_call" | "custom_tool_call")
}

/// A message may leave its type out, and so may the bare name of an item.
pub(crate) fn kind(item: &Value) -> &str {
    let is_reference = || item.get("role").is_none() && item.get("id").is_some_and(Value::is_string);
    match item.get("type").and_then(Value::as_str) {
        Some(kind) => kind,
        None if is_reference() => "item_reference",
        None => "message",
    }
}

/// Whether an item of a request only names one, with or without saying so.
#[must_use]
pub fn is_reference(item: &Value) -> bool {
    item.is_object() && kind(item) == "item_reference"
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
