//! One turn of the model, event by event: code calls are taken out and run, everything else goes on to
//! the client under numbers and ids of the whole response.

use futures_util::StreamExt;
use serde_json::{Map, Value, json};

use crate::error::{GateError, Result};
use crate::ids::{is_unique, prefix_of};
use crate::message::MessageState;
use crate::run::Run;
use crate::slots::{Entry, Slot, TurnState};
use crate::upstream::{Turn, UpstreamError, expand};
use crate::visible::visible;

/// How the model's turn ended.
#[derive(Debug)]
pub(crate) enum Verdict {
    Completed,
    /// `incomplete_details`.
    Incomplete(Value),
    /// `error` of the response.
    Failed(Value),
}

#[derive(Debug)]
pub(crate) struct TurnEnd {
    pub(crate) verdict: Verdict,
    /// The model called for code, so it waits for what came of it.
    pub(crate) called_code: bool,
    /// The client has to do something before the model can go on.
    pub(crate) waits_for_client: bool,
}

fn is_unnamed_call(item: &Value) -> bool {
    matches!(text(item, "type"), "function_call" | "custom_tool_call") && text(item, "name").is_empty()
}

/// Calls of tools that the upstream runs itself; they count towards the client's limit.
fn is_hosted_call(item: &Value) -> bool {
    matches!(
        text(item, "type"),
        "web_search_call"
            | "file_search_call"
            | "image_generation_call"
            | "mcp_call"
            | "code_interpreter_call"
    )
}

/// Items that only the client can answer.
fn is_for_client(item: &Value) -> bool {
    let environment = item.get("environment").and_then(|place| place.get("type")).and_then(Value::as_str);
    match text(item, "type") {
        "function_call"
        | "custom_tool_call"
        | "computer_call"
        | "local_shell_call"
        | "apply_patch_call"
        | "mcp_approval_request" => true,
        "shell_call" => environment.is_none_or(|kind| kind == "local"),
        // A search of the upstream's own comes with what it found.
        "tool_search_call" => text(item, "execution") == "client",
        _ => false,
    }
}

impl Run {
    pub(crate) async fn take_turn(&mut self, mut turn: Turn) -> Result<TurnEnd> {
        let mut state = TurnState::default();
        while let Some(event) = turn.events.next().await {
            let Value::Object(event) = event? else { continue };
            if let Some(verdict) = self.take_event(&mut state, event).await? {
                let TurnState { called_code, waits_for_client, .. } = state;
                return Ok(TurnEnd { verdict, called_code, waits_for_client });
            }
        }
        Err(UpstreamError::Broken("it ended in the middle of the turn".to_owned()).into())
    }

    async fn take_event(
        &mut self,
        state: &mut TurnState,
        event: Map<String, Value>,
    ) -> Result<Option<Verdict>> {
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        match kind.as_str() {
            "response.created" => self.start(event.get("response")).await?,
            "response.in_progress" | "response.queued" | "keepalive" => {}
            "response.output_item.added" => self.item_added(state, event).await?,
            "response.output_item.done" => self.item_done(state, event).await?,
            "response.completed" => return self.ended(state, event, Verdict::Completed).await.map(Some),
            "response.incomplete" => {
                let details = field(&event, "incomplete_details");
                return self.ended(state, event, Verdict::Incomplete(details)).await.map(Some);
            }
            "response.failed" => {
                let error = field(&event, "error");
                return self.ended(state, event, Verdict::Failed(error)).await.map(Some);
            }
            "error" => return Err(GateError::model_failed(&event)),
            _ => self.item_event(state, event).await?,
        }
        Ok(None)
    }

    async fn item_added(&mut self, state: &mut TurnState, mut event: Map<String, Value>) -> Result<()> {
        self.start(None).await?;
        let item = event.get("item").cloned().unwrap_or_default();
        let upstream_id = text(&item, "id").to_owned();
        let upstream_index = event.get("output_index").and_then(Value::as_u64);
        // Announced twice: what runs or is shown once must not run or be shown again.
        if state.find(&event, &upstream_id).is_some() {
            return Ok(());
        }
        state.check_room()?;
        let slot = if is_unnamed_call(&item) {
            Slot::Unnamed
        } else if self.is_code_call(&item) {
            state.called_code = true;
            if self.may_call() { Slot::Code(Box::new(self.begin_code().await?)) } else { Slot::Ignored }
        } else {
            state.waits_for_client |= is_for_client(&item);
            let (index, id) = (self.take_index(), self.final_id(&item));
            let mut shown = visible(item.clone(), &self.request.include);
            set(&mut shown, "id", json!(id));
            event.insert("output_index".to_owned(), json!(index));
            event.insert("item".to_owned(), shown);
            self.emitter.pass(event).await?;
            Slot::Shown { index, id, item: item.clone(), message: MessageState::default() }
        };
        let kind = text(&item, "type").to_owned();
        state.entries.push(Entry { upstream_index, upstream_id, kind, slot, is_done: false });
        Ok(())
    }

    /// An upstream's id that is one of a kind stays; another is replaced.
    fn final_id(&mut self, item: &Value) -> String {
        let id = text(item, "id");
        if is_unique(id) && self.seen_ids.insert(id.to_owned()) {
            return id.to_owned();
        }
        self.ids.item(prefix_of(text(item, "type")))
    }

    async fn item_event(&mut self, state: &mut TurnState, mut event: Map<String, Value>) -> Result<()> {
        let id = event.get("item_id").and_then(Value::as_str).unwrap_or_default().to_owned();
        // Deltas of an item that was never announced: it comes whole at its end.
        state.take_bytes(&event)?;
        let Some(entry) = state.find(&event, &id).filter(|entry| !entry.is_done) else { return Ok(()) };
        match &mut entry.slot {
            Slot::Ignored | Slot::Unnamed => Ok(()),
            Slot::Code(call) => self.code_event(call, &event).await,
            Slot::Shown { index, id, message, .. } => {
                event.insert("output_index".to_owned(), json!(index));
                if event.contains_key("item_id") {
                    event.insert("item_id".to_owned(), json!(id));
                }
                self.message_event(message, *index, id, &mut event).await?;
                self.emitter.pass(event).await
            }
        }
    }

    async fn item_done(&mut self, state: &mut TurnState, mut event: Map<String, Value>) -> Result<()> {
        let mut item = event.get("item").cloned().unwrap_or_default();
        let upstream_id = text(&item, "id").to_owned();
        if state.find(&event, &upstream_id).is_none() {
            let index = event.get("output_index").and_then(Value::as_u64).unwrap_or(0);
            return self.whole_item(state, item, index).await;
        }
        if let Some(at) = state.entries.iter().position(|entry| {
            matches!(entry.slot, Slot::Unnamed) && entry.upstream_id == upstream_id && !is_unnamed_call(&item)
        }) {
            // Now that it has a name it goes the way of one that was never announced.
            let index = state.entries.remove(at).upstream_index.unwrap_or(0);
            return self.whole_item(state, item, index).await;
        }
        let Some(entry) = state.find(&event, &upstream_id) else { return Ok(()) };
        if std::mem::replace(&mut entry.is_done, true) {
            return Ok(());
        }
        match &mut entry.slot {
            Slot::Ignored => {
                self.refuse_call(item);
                Ok(())
            }
            Slot::Unnamed => {
                Err(UpstreamError::Broken("it calls a function without a name".to_owned()).into())
            }
            Slot::Code(call) => self.finish_code(call, item).await,
            Slot::Shown { .. } if self.is_code_call(&item) => {
                Err(UpstreamError::Broken("it changed the name of a call under way".to_owned()).into())
            }
            Slot::Shown { index, id, message, .. } => {
                self.calls += u64::from(is_hosted_call(&item));
                let original = item.clone();
                self.message_done(message, *index, id, &mut item).await?;
                set(&mut item, "id", json!(id));
                event.insert("output_index".to_owned(), json!(index));
                event.insert("item".to_owned(), visible(item.clone(), &self.request.include));
                self.emitter.pass(event).await?;
                self.keep(*index, item, vec![original.clone()]);
                self.model_input.push(original);
                Ok(())
            }
        }
    }

    /// An item that was not announced: it goes the way of one that was.
    async fn whole_item(&mut self, state: &mut TurnState, item: Value, index: u64) -> Result<()> {
        let Value::Object(alone) = json!({"status": "completed", "output": [item]}) else { return Ok(()) };
        for event in expand(alone)? {
            let Value::Object(mut event) = event else { continue };
            if event.contains_key("output_index") {
                event.insert("output_index".to_owned(), json!(index));
                Box::pin(self.take_event(state, event)).await?;
            }
        }
        Ok(())
    }

    /// The end of the turn: what it used, what it left open, what it never announced.
    async fn ended(
        &mut self,
        state: &mut TurnState,
        event: Map<String, Value>,
        verdict: Verdict,
    ) -> Result<Verdict> {
        self.start(None).await?;
        let response = event.get("response");
        let output = response.and_then(|response| response.get("output")).and_then(Value::as_array);
        for (index, item) in state.unannounced(output) {
            self.whole_item(state, item, index).await?;
        }
        self.close_open(state, output).await?;
        self.usage.add(response.and_then(|response| response.get("usage")));
        self.object.learn(response, &self.request);
        Ok(verdict)
    }

    /// Items that began and never ended: the turn was cut short.
    async fn close_open(&mut self, state: &mut TurnState, output: Option<&Vec<Value>>) -> Result<()> {
        for entry in state.entries.iter_mut().filter(|entry| !entry.is_done) {
            entry.is_done = true;
            match &mut entry.slot {
                Slot::Ignored | Slot::Unnamed => {}
                Slot::Code(call) => self.leave_code(call).await?,
                Slot::Shown { index, id, item, message } => {
                    let named = |seen: &&Value| {
                        text(seen, "id") == entry.upstream_id && !entry.upstream_id.is_empty()
                    };
                    let last = output.into_iter().flatten().find(named);
                    let mut item = last.unwrap_or(item).clone();
                    message.complete(&mut item);
                    set(&mut item, "id", json!(id));
                    if item.get("status").is_some() {
                        set(&mut item, "status", json!("incomplete"));
                    }
                    let shown = visible(item.clone(), &self.request.include);
                    let fields = json!({"output_index": index, "item": shown});
                    self.emitter.emit("response.output_item.done", fields).await?;
                    let model = if message.has_text() { vec![item.clone()] } else { Vec::new() };
                    self.keep(*index, item, model);
                }
            }
        }
        Ok(())
    }
}

fn field(event: &Map<String, Value>, name: &str) -> Value {
    event.get("response").and_then(|response| response.get(name)).cloned().unwrap_or_default()
}

pub(crate) fn text<'a>(item: &'a Value, name: &str) -> &'a str {
    item.get(name).and_then(Value::as_str).unwrap_or_default()
}

pub(crate) fn set(item: &mut Value, name: &str, value: Value) {
    if let Value::Object(fields) = item {
        fields.insert(name.to_owned(), value);
    }
}
