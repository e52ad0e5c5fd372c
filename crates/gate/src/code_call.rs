//! One code call: its code shown while the model writes it, then run, and what came of it told to both.

use std::sync::Arc;

use sandgate_core::Container;
use serde_json::{Map, Value, json};

use crate::citations::cite_figure;
use crate::code_reader::{CodeReader, whole_code};
use crate::error::Result;
use crate::execution::Came;
use crate::metrics::Place;
use crate::run::Run;
use crate::turn::{set, text};

#[derive(Debug)]
pub(crate) struct CodeCall {
    index: usize,
    id: String,
    container: Arc<Container>,
    reader: CodeReader,
    /// Code given out of a call whose arguments are the code itself.
    raw: String,
}

impl Run {
    pub(crate) fn is_code_call(&self, item: &Value) -> bool {
        let name = text(item, "name");
        let is_ours = self.tools.as_ref().is_some_and(|tools| tools.name == name)
            // It remembers a tool that this request does not have. The client must not get such a call.
            || (self.code_names.contains(name) && !self.has_tool_named(name));
        is_ours && matches!(text(item, "type"), "function_call" | "custom_tool_call")
    }

    fn has_tool_named(&self, name: &str) -> bool {
        let tools = self.request.body.get("tools").and_then(Value::as_array);
        tools.into_iter().flatten().any(|tool| text(tool, "name") == name)
    }

    /// Announces the call. Its container has to be known by now, so this is where it is made.
    pub(crate) async fn begin_code(&mut self) -> Result<CodeCall> {
        self.calls += 1;
        let container = {
            let _waits = self.asker.watch.outside(Place::Sandbox);
            self.workplace.ready().await?
        };
        let (index, id) = (self.take_index(), self.ids.item("ci"));
        let call = CodeCall { index, id, container, reader: CodeReader::new(), raw: String::new() };
        let item = self.item(&call, "in_progress", "", Some(Vec::new()));
        self.emitter.emit("response.output_item.added", json!({"output_index": index, "item": item})).await?;
        self.code_state(&call, "in_progress").await?;
        Ok(call)
    }

    pub(crate) async fn code_event(&mut self, call: &mut CodeCall, event: &Map<String, Value>) -> Result<()> {
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
        let delta = event.get("delta").and_then(Value::as_str).unwrap_or_default();
        let code = match kind {
            "response.function_call_arguments.delta" => call.reader.read(delta),
            "response.custom_tool_call_input.delta" => {
                call.raw.push_str(delta);
                delta.to_owned()
            }
            _ => return Ok(()),
        };
        self.code_delta(call, &code).await
    }

    async fn code_delta(&mut self, call: &CodeCall, code: &str) -> Result<()> {
        if code.is_empty() {
            return Ok(());
        }
        let fields = json!({"output_index": call.index, "item_id": call.id, "delta": code});
        self.emitter.emit("response.code_interpreter_call_code.delta", fields).await
    }

    async fn code_state(&mut self, call: &CodeCall, state: &str) -> Result<()> {
        let kind = format!("response.code_interpreter_call.{state}");
        self.emitter.emit(&kind, json!({"output_index": call.index, "item_id": call.id})).await
    }

    /// The call is whole: run it. `item` is the upstream's own form of it.
    pub(crate) async fn finish_code(&mut self, call: &mut CodeCall, item: Value) -> Result<()> {
        // Cut off in the middle, for length: half of a program is not what the model meant.
        if text(&item, "status") == "incomplete" {
            return self.leave_code(call).await;
        }
        let (code, problem) = if text(&item, "type") == "custom_tool_call" {
            (text(&item, "input").to_owned(), None)
        } else {
            match whole_code(text(&item, "arguments"), &call.reader) {
                Ok(code) => (code, None),
                Err(problem) => (call.reader.given().to_owned(), Some(problem)),
            }
        };
        let given = if call.raw.is_empty() { call.reader.given() } else { &call.raw };
        let rest = code.strip_prefix(given).unwrap_or_default().to_owned();
        self.code_delta(call, &rest).await?;
        let fields = json!({"output_index": call.index, "item_id": call.id, "code": code});
        self.emitter.emit("response.code_interpreter_call_code.done", fields).await?;
        let came = match problem {
            Some(problem) => Came::not_run(&problem),
            None => {
                self.code_state(call, "interpreting").await?;
                let came = self.execute(call, &code).await?;
                // There is no such event for code that was not run; the item says that it failed.
                if came.status == "completed" {
                    self.code_state(call, "completed").await?;
                }
                came
            }
        };
        let shown = self.item(call, came.status, &code, Some(came.outputs.clone()));
        let fields = json!({"output_index": call.index, "item": shown});
        self.emitter.emit("response.output_item.done", fields).await?;
        let answer = answer_to(&item, &came.told);
        let mut kept = self.item(call, came.status, &code, None);
        set(&mut kept, "outputs", Value::Array(came.outputs));
        self.model_input.extend([item.clone(), answer.clone()]);
        self.keep(call.index, kept, vec![item, answer]);
        Ok(())
    }

    /// The turn ended in the middle of the call.
    pub(crate) async fn leave_code(&mut self, call: &CodeCall) -> Result<()> {
        let code = if call.raw.is_empty() { call.reader.given() } else { &call.raw };
        let shown = self.item(call, "incomplete", code, Some(Vec::new()));
        let mut kept = shown.clone();
        set(&mut kept, "outputs", json!([]));
        let fields = json!({"output_index": call.index, "item": shown});
        self.emitter.emit("response.output_item.done", fields).await?;
        self.keep(call.index, kept, Vec::new());
        Ok(())
    }

    /// A call past a limit: the model is told, the client is not bothered.
    pub(crate) fn refuse_call(&mut self, item: Value) {
        let told = match self.request.max_tool_calls {
            _ if self.tools.is_none() => "[the code was not run: there is no such tool any more]".to_owned(),
            Some(most) if self.calls >= most => {
                format!("[the code was not run: this response may make {most} tool calls, and has made them]")
            }
            _ => "[the code was not run: no more rounds of code are left; answer now]".to_owned(),
        };
        let answer = answer_to(&item, &told);
        // The client has no item for it. It is kept with the one before, which may be the thought that led to it:
        // no upstream takes that alone.
        if let Some(before) = self.output.iter_mut().rev().flatten().next() {
            before.model.get_or_insert_default().extend([item.clone(), answer.clone()]);
        }
        self.model_input.extend([item, answer]);
    }

    async fn execute(&mut self, call: &CodeCall, code: &str) -> Result<Came> {
        let mut came = self.gate.run_code(&self.config, &self.asker, &call.container, code).await?;
        for file in &came.figures {
            let name = file.path.rsplit('/').next().unwrap_or_default();
            self.figures.push(cite_figure(&call.container, &file.id, name));
        }
        if let Some(note) = self.workplace.take_loss() {
            came.tell(note);
        }
        if let Some(note) = self.last_call_note() {
            came.tell(&note);
        }
        Ok(came)
    }

    /// The item as the client sees it; `outputs` are hidden unless it asked for them.
    fn item(&self, call: &CodeCall, status: &str, code: &str, outputs: Option<Vec<Value>>) -> Value {
        let outputs = if self.request.wants_outputs() { outputs.map(Value::Array) } else { None };
        json!({
            "id": call.id,
            "type": "code_interpreter_call",
            "status": status,
            "code": code,
            "container_id": call.container.id().as_str(),
            "outputs": outputs
        })
    }
}

/// What is fed back for a call.
fn answer_to(item: &Value, told: &str) -> Value {
    let kind = if text(item, "type") == "custom_tool_call" {
        "custom_tool_call_output"
    } else {
        "function_call_output"
    };
    let mut answer = json!({"type": kind, "call_id": text(item, "call_id"), "output": told});
    // A program of the model's that made the call gets its answer by these.
    let names: &[&str] = if kind == "function_call_output" { &["caller", "namespace"] } else { &["caller"] };
    for name in names {
        if let Some(value) = item.get(*name).filter(|value| !value.is_null()) {
            set(&mut answer, name, value.clone());
        }
    }
    answer
}

#[cfg(test)]
#[path = "code_call_tests.rs"]
mod tests;
