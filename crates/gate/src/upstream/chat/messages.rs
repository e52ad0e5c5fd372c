//! Input items as messages. Everything the assistant did in one go is one message, and the outputs of its
//! calls follow it at once, as Chat Completions demands, wherever they stand in the input.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::UpstreamError;
use super::content::{content, output, spoken};
use super::request::{given, refused};
use super::tools::INPUT;
use crate::upstream::compose::Object;

pub(super) fn messages(body: &Object) -> Result<Vec<Value>, UpstreamError> {
    let mut writer = Writer::default();
    if let Some(instructions) = given(body, "instructions") {
        writer.system(instructions.clone());
    }
    match given(body, "input") {
        Some(Value::Array(items)) => writer.items(items)?,
        Some(Value::String(text)) => writer.messages.push(json!({"role": "user", "content": text})),
        _ => {}
    }
    if writer.messages.is_empty() {
        return Err(UpstreamError::refused("Missing required parameter: 'input'.", Some("input")));
    }
    Ok(writer.messages)
}

#[derive(Default)]
struct Writer<'a> {
    messages: Vec<Value>,
    said: Said<'a>,
    /// Outputs by the call they belong to, with their place in the input.
    outputs: HashMap<&'a str, (usize, &'a Value)>,
    seen: HashSet<&'a str>,
}

/// What the assistant said and did since somebody else had the word.
#[derive(Default)]
struct Said<'a> {
    reasoning: String,
    text: String,
    refusal: String,
    calls: Vec<&'a Value>,
}

impl<'a> Writer<'a> {
    fn items(&mut self, items: &'a [Value]) -> Result<(), UpstreamError> {
        let kind = |item: &'a Value| item["type"].as_str().unwrap_or("message");
        let is_output =
            |item: &'a Value| matches!(kind(item), "function_call_output" | "custom_tool_call_output");
        let outputs = items.iter().enumerate().filter(|(_, item)| is_output(item));
        self.outputs =
            outputs.filter_map(|(at, item)| Some((item["call_id"].as_str()?, (at, item)))).collect();
        let last_user = items.iter().rposition(|item| item["role"] == "user");
        for (at, item) in items.iter().enumerate() {
            match kind(item) {
                "message" => self.message(at, item)?,
                "function_call" | "custom_tool_call" => {
                    self.seen.insert(item["call_id"].as_str().unwrap_or_default());
                    self.said.calls.push(item);
                }
                "function_call_output" | "custom_tool_call_output" => {
                    self.end_assistant()?;
                    let call = item["call_id"].as_str().unwrap_or_default();
                    if !self.seen.contains(call) {
                        let message =
                            format!("No tool call found for function call output with call_id {call}.");
                        return Err(UpstreamError::refused(&message, Some("input")));
                    }
                }
                // Servers want the thoughts of the work at hand back, and drop or refuse older ones.
                "reasoning" if last_user.is_none_or(|user| at > user) => {
                    let (text, _) = spoken(&item["content"]);
                    append(&mut self.said.reasoning, &text);
                }
                "reasoning" => {}
                kind => {
                    let what = format!("An item of type '{kind}' cannot be passed on.");
                    return Err(refused(&what, &format!("input[{at}].type")));
                }
            }
        }
        self.end_assistant()
    }

    fn message(&mut self, at: usize, item: &Value) -> Result<(), UpstreamError> {
        let role = item["role"].as_str().unwrap_or_default();
        let param = format!("input[{at}].content");
        match role {
            "assistant" => {
                let (text, refusal) = spoken(&item["content"]);
                append(&mut self.said.text, &text);
                append(&mut self.said.refusal, &refusal);
            }
            "user" => {
                self.end_assistant()?;
                let content = content(&item["content"], &param)?;
                self.messages.push(json!({"role": "user", "content": content}));
            }
            "system" | "developer" => {
                self.end_assistant()?;
                let content = content(&item["content"], &param)?;
                self.system(content);
            }
            _ => {
                let what = format!("A message of the role '{role}' cannot be passed on.");
                return Err(refused(&what, &format!("input[{at}].role")));
            }
        }
        Ok(())
    }

    /// `developer` is known to few servers, and many templates take one system message, at the start.
    fn system(&mut self, content: Value) {
        let only = self.messages.len() == 1 && self.messages[0]["role"] == "system";
        match (self.messages.first_mut(), content) {
            (Some(first), Value::String(more)) if only && first["content"].is_string() => {
                let mut text = first["content"].as_str().unwrap_or_default().to_owned();
                append(&mut text, &more);
                first["content"] = text.into();
            }
            (_, content) => self.messages.push(json!({"role": "system", "content": content})),
        }
    }

    fn end_assistant(&mut self) -> Result<(), UpstreamError> {
        let said = std::mem::take(&mut self.said);
        if said.text.is_empty() && said.refusal.is_empty() && said.calls.is_empty() {
            return Ok(());
        }
        let mut message = json!({"role": "assistant", "content": null});
        if !said.text.is_empty() {
            message["content"] = said.text.into();
        }
        if !said.refusal.is_empty() {
            message["refusal"] = said.refusal.into();
        }
        if !said.reasoning.is_empty() {
            message["reasoning_content"] = said.reasoning.into();
        }
        if !said.calls.is_empty() {
            message["tool_calls"] = said.calls.iter().map(|call| tool_call(call)).collect();
        }
        self.messages.push(message);
        self.outputs_of(&said.calls)
    }

    fn outputs_of(&mut self, calls: &[&Value]) -> Result<(), UpstreamError> {
        let mut shown = Vec::new();
        for call in calls {
            let id = call["call_id"].as_str().unwrap_or_default();
            let Some((at, item)) = self.outputs.get(id) else {
                let message = format!("No tool output found for function call {id}.");
                return Err(UpstreamError::refused(&message, Some("input")));
            };
            let (text, others) = output(&item["output"], &format!("input[{at}].output"))?;
            self.messages.push(json!({"role": "tool", "tool_call_id": id, "content": text}));
            if !others.is_empty() {
                shown.push(json!({"type": "text", "text": format!("Output of the tool call {id}:")}));
                shown.extend(others);
            }
        }
        if !shown.is_empty() {
            self.messages.push(json!({"role": "user", "content": shown}));
        }
        Ok(())
    }
}

fn tool_call(call: &Value) -> Value {
    let arguments = if call["type"] == "custom_tool_call" {
        json!({INPUT: call["input"]}).to_string()
    } else {
        let given = call["arguments"].as_str().filter(|text| !text.trim().is_empty());
        given.unwrap_or("{}").to_owned()
    };
    json!({
        "id": call["call_id"], "type": "function",
        "function": {"name": call["name"], "arguments": arguments},
    })
}

fn append(text: &mut String, more: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(more);
}

#[cfg(test)]
#[path = "messages_tests.rs"]
mod tests;
