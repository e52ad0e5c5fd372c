//! One turn of the model, chunk by chunk: what it says goes on to the client at once, calls for code are
//! taken out, and calls of the client's own functions pass under numbers that leave ours out.

use futures_util::StreamExt;
use serde_json::{Map, Value, json};

use super::code_calls::Writing;
use super::gather::{add, fed_back};
use super::run::ChatRun;
use crate::error::{GateError, Result};
use crate::upstream::{GatheredCall, GatheredCalls, Turn, UpstreamError, unused_id};

#[derive(Debug, Default)]
struct TurnState {
    /// What the model said, for its own next turn.
    message: Map<String, Value>,
    calls: GatheredCalls,
    /// Of each call, whose it is.
    entries: Vec<Entry>,
    /// How many of them are the client's.
    clients: usize,
    finish: Option<String>,
    usage: Option<Value>,
}

#[derive(Debug)]
struct Entry {
    /// By which the call is answered.
    id: String,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// Its name is not known yet: it may be ours, and then the client must not see it.
    Unnamed,
    /// With its number among the client's.
    Client(usize),
    Code(Writing),
    /// For code, past a limit.
    Refused,
}

impl ChatRun {
    /// Takes a whole turn. Some: the answer is finished, for this reason.
    pub(super) async fn take_turn(&mut self, mut turn: Turn) -> Result<Option<String>> {
        let mut state = TurnState::default();
        self.answer.next_turn();
        while let Some(chunk) = turn.events.next().await {
            if let Value::Object(chunk) = chunk? {
                self.take_chunk(&mut state, chunk).await?;
            }
        }
        // It is over; what follows is no longer the model's time.
        drop(turn);
        self.usage.add(state.usage.as_ref());
        self.end_turn(state).await
    }

    async fn take_chunk(&mut self, state: &mut TurnState, mut chunk: Map<String, Value>) -> Result<()> {
        if chunk.get("error").is_some_and(|error| !error.is_null()) {
            return Err(GateError::model_failed(&chunk));
        }
        let usage = chunk.shift_remove("usage").filter(Value::is_object);
        let Some(Value::Array(choices)) = chunk.shift_remove("choices") else { return Ok(()) };
        self.answer.learn(chunk);
        if choices.is_empty() && usage.is_none() {
            self.answer.aside().await?;
        }
        // The last counts are those of the whole turn.
        state.usage = usage.or(state.usage.take());
        for choice in choices {
            // Others than the first are alternatives that nobody asked for.
            if let Value::Object(choice) = choice
                && choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0
            {
                self.take_choice(state, choice).await?;
            }
        }
        Ok(())
    }

    async fn take_choice(&mut self, state: &mut TurnState, mut choice: Map<String, Value>) -> Result<()> {
        let delta = choice.shift_remove("delta");
        let mut delta = if let Some(Value::Object(delta)) = delta { delta } else { Map::new() };
        let calls = delta.shift_remove("tool_calls");
        let reason = choice.get("finish_reason").and_then(Value::as_str).filter(|reason| !reason.is_empty());
        if let Some(reason) = reason {
            state.finish = Some(reason.to_owned());
        }
        add(&mut state.message, &delta);
        self.answer.pass(delta, &choice).await?;
        for call in calls.as_ref().and_then(Value::as_array).into_iter().flatten() {
            self.take_call(state, call).await?;
        }
        Ok(())
    }

    async fn take_call(&mut self, state: &mut TurnState, fragment: &Value) -> Result<()> {
        let added = state.calls.add(fragment);
        if added.call == state.entries.len() {
            state.entries.push(Entry { id: String::new(), kind: Kind::Unnamed });
        }
        let call = &state.calls.list[added.call];
        let entry = &mut state.entries[added.call];
        match &mut entry.kind {
            Kind::Unnamed if call.name.is_empty() => Ok(()),
            Kind::Unnamed => {
                entry.id = unused_id(call.id.as_deref(), &mut self.taken);
                if !self.is_ours(&call.name) {
                    let index = state.clients;
                    state.clients += 1;
                    entry.kind = Kind::Client(index);
                    let begun = call_form(call, &entry.id, &call.text);
                    return self.answer.delta(numbered(index, begun)).await;
                }
                entry.kind = Kind::Refused;
                if self.may_call() {
                    let mut writing = self.begin_code().await?;
                    self.write_code(&mut writing, &call.text, call.is_custom).await?;
                    entry.kind = Kind::Code(writing);
                }
                Ok(())
            }
            Kind::Client(_) if added.text.is_empty() => Ok(()),
            Kind::Client(index) => {
                let (kind, field) = inner_names(call);
                self.answer.delta(numbered(*index, json!({kind: {field: added.text}}))).await
            }
            Kind::Code(writing) => self.write_code(writing, &added.text, call.is_custom).await,
            Kind::Refused => Ok(()),
        }
    }

    /// The turn is over: code runs now, in the order it was called for.
    async fn end_turn(&mut self, state: TurnState) -> Result<Option<String>> {
        let TurnState { message, calls, entries, clients, finish, .. } = state;
        // Stopped in the middle: what is not complete never will be.
        let cut_off = matches!(finish.as_deref(), Some("length" | "content_filter"));
        let (mut made, mut of_client, mut told) = (Vec::new(), Vec::new(), Vec::new());
        for (call, entry) in calls.list.iter().zip(&entries) {
            let whole = whole_call(call, &entry.id);
            let result = match &entry.kind {
                Kind::Unnamed if cut_off => continue,
                Kind::Unnamed => {
                    return Err(UpstreamError::Broken("a tool call has no name".to_owned()).into());
                }
                Kind::Client(_) => {
                    of_client.push(whole.clone());
                    String::new()
                }
                Kind::Code(writing) if cut_off => {
                    self.leave_code(writing).await?;
                    continue;
                }
                Kind::Code(writing) => self.finish_code(writing, call, &entry.id).await?,
                Kind::Refused => {
                    "[the code was not run: no more rounds of code are left; answer now]".to_owned()
                }
            };
            made.push(whole);
            told.push(json!({"role": "tool", "tool_call_id": entry.id, "content": result}));
        }
        if !of_client.is_empty() {
            self.answer.set("tool_calls", Value::Array(of_client));
        }
        if clients > 0 || cut_off || made.is_empty() {
            let usual = if clients > 0 { "tool_calls" } else { "stop" };
            return Ok(Some(finish.unwrap_or_else(|| usual.to_owned())));
        }
        self.messages.push(fed_back(message, made));
        self.messages.append(&mut told);
        Ok(None)
    }

    fn is_ours(&self, name: &str) -> bool {
        self.tools.as_ref().is_some_and(|tools| tools.name == name)
    }
}

/// The call as the model made it.
fn whole_call(call: &GatheredCall, id: &str) -> Value {
    let is_empty = !call.is_custom && call.text.trim().is_empty();
    call_form(call, id, if is_empty { "{}" } else { &call.text })
}

fn call_form(call: &GatheredCall, id: &str, text: &str) -> Value {
    let (kind, field) = inner_names(call);
    let mut form = json!({"id": id, "type": kind, kind: {"name": call.name, field: text}});
    if let Value::Object(form) = &mut form {
        form.extend(call.more.clone());
    }
    form
}

fn inner_names(call: &GatheredCall) -> (&'static str, &'static str) {
    if call.is_custom { ("custom", "input") } else { ("function", "arguments") }
}

fn numbered(index: usize, call: Value) -> Value {
    let mut numbered = json!({"index": index});
    if let (Value::Object(numbered), Value::Object(call)) = (&mut numbered, call) {
        numbered.extend(call);
    }
    json!({"tool_calls": [numbered]})
}
