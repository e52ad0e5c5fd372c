//! One response, from the first turn of the model to its last word.

use std::collections::HashSet;
use std::sync::Arc;

use sandgate_core::{Owner, now_seconds};
use sandgate_store::{ItemRecord, ResponseRecord};
use serde_json::{Map, Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::emitter::Emitter;
use crate::error::{GateError, Result};
use crate::gate::Gate;
use crate::ids::ResponseIds;
use crate::request::CreateRequest;
use crate::response_object::ResponseObject;
use crate::tools::{ToolRewrite, TurnTools};
use crate::turn::Verdict;
use crate::upstream::{Credentials, Turn, TurnRequest};
use crate::usage::UsageSum;
use crate::visible::visible;
use crate::workplace::Workplace;

/// A turn is not worth asking for with fewer tokens than the API takes as a limit.
const LEAST_TOKENS: u64 = 16;
/// Tries of a later turn: giving up would throw away all that was done before it.
const LATER_RETRIES: u32 = 2;

#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) gate: Arc<Gate>,
    pub(crate) owner: Owner,
    pub(crate) credentials: Credentials,
    pub(crate) request_id: String,
    /// Without `input`, which is in `model_input` now.
    pub(crate) request: CreateRequest,
    pub(crate) ids: ResponseIds,
    pub(crate) emitter: Emitter,
    pub(crate) object: ResponseObject,
    /// The client's new items.
    pub(crate) inputs: Vec<ItemRecord>,
    /// The model's view of everything so far.
    pub(crate) model_input: Vec<Value>,
    pub(crate) upstream_previous: Option<String>,
    pub(crate) tools: Option<ToolRewrite>,
    /// The model has called for code before, so it may try again where it cannot.
    pub(crate) knows_code: bool,
    pub(crate) workplace: Workplace,
    /// Items of the output by their index; None while they are being made.
    pub(crate) output: Vec<Option<ItemRecord>>,
    pub(crate) usage: UsageSum,
    /// Code calls so far.
    pub(crate) calls: u64,
    /// Turns in which code was called.
    pub(crate) rounds: u32,
    /// Citations of figures that no message has taken yet.
    pub(crate) figures: Vec<Value>,
    pub(crate) seen_ids: HashSet<String>,
    pub(crate) is_started: bool,
    pub(crate) deadline: Instant,
    pub(crate) cancel: CancellationToken,
}

impl Run {
    /// All turns, whatever happens. The whole response, or why there is none.
    pub(crate) async fn go(mut self, first: Option<Turn>) -> Result<Value> {
        let deadline = self.deadline;
        let cancel = self.cancel.clone();
        let outcome = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(GateError::Cancelled),
            outcome = Box::pin(self.turns(first)) => outcome,
            () = tokio::time::sleep_until(deadline) => Err(self.out_of_time()),
        };
        let ended = match outcome {
            Ok(verdict) => self.finish(verdict).await,
            Err(error) => Err(error),
        };
        match ended {
            Ok(response) => Ok(response),
            Err(error) => self.fail(error).await,
        }
    }

    async fn turns(&mut self, first: Option<Turn>) -> Result<Verdict> {
        let mut turn = match first {
            Some(turn) => turn,
            None => self.open_turn().await?,
        };
        loop {
            let end = self.take_turn(turn).await?;
            if !matches!(end.verdict, Verdict::Completed) || !end.called_code || end.waits_for_client {
                return Ok(end.verdict);
            }
            self.rounds += 1;
            if self.rounds > self.gate.config.rounds {
                return Err(GateError::LimitReached(format!(
                    "The model went on calling code after {} rounds, which is the limit for one response.",
                    self.gate.config.rounds
                )));
            }
            if self.tokens_left().is_some_and(|left| left < LEAST_TOKENS) {
                return Ok(Verdict::Incomplete(json!({"reason": "max_output_tokens"})));
            }
            turn = self.open_turn().await?;
        }
    }

    /// The first turn, asked for before the client is answered.
    pub(crate) async fn first_turn(&mut self) -> Result<Turn> {
        let deadline = self.deadline;
        match tokio::time::timeout_at(deadline, self.open_turn()).await {
            Ok(turn) => turn,
            Err(_) => Err(self.out_of_time()),
        }
    }

    /// Asks the model for its next turn.
    pub(crate) async fn open_turn(&mut self) -> Result<Turn> {
        let retries = if self.rounds == 0 { 0 } else { LATER_RETRIES };
        let request = TurnRequest {
            body: self.turn_body(),
            credentials: self.credentials.clone(),
            stream: self.request.stream || self.request.background,
            request_id: self.request_id.clone(),
            retries,
        };
        Ok(self.gate.upstream.turn(request).await?)
    }

    fn turn_body(&self) -> Map<String, Value> {
        let mut body = self.request.body.clone();
        for ours in ["background", "conversation", "previous_response_id"] {
            body.shift_remove(ours);
        }
        if let Some(previous) = &self.upstream_previous {
            body.insert("previous_response_id".to_owned(), json!(previous));
        }
        // What is said stays here; the upstream need not keep it.
        body.insert("store".to_owned(), json!(false));
        body.insert("input".to_owned(), Value::Array(self.model_input.clone()));
        let include: Vec<&String> =
            self.request.include.iter().filter(|name| *name != crate::request::INCLUDE_OUTPUTS).collect();
        if include.is_empty() {
            body.shift_remove("include");
        } else {
            body.insert("include".to_owned(), json!(include));
        }
        if let Some(left) = self.tokens_left() {
            body.insert("max_output_tokens".to_owned(), json!(left));
        }
        if let Some(tools) = &self.tools {
            // Calls of ours are no tool calls to the upstream; it counts its own, if it has any.
            if let Some(most) = self.request.max_tool_calls {
                if tools.has_hosted() {
                    body.insert("max_tool_calls".to_owned(), json!(most.saturating_sub(self.calls).max(1)));
                } else {
                    body.shift_remove("max_tool_calls");
                }
            }
            let turn = match self.rounds {
                _ if !self.may_call() => TurnTools::NoMoreCode,
                0 => TurnTools::First,
                _ => TurnTools::Later,
            };
            tools.apply(&mut body, turn);
        }
        body
    }

    /// What is left of the client's limit, which counts over all turns.
    fn tokens_left(&self) -> Option<u64> {
        self.request.max_output_tokens.map(|most| most.saturating_sub(self.usage.output_tokens()))
    }

    /// Whether another code call would be run.
    pub(crate) fn may_call(&self) -> bool {
        self.tools.is_some()
            && self.rounds < self.gate.config.rounds
            && self.request.max_tool_calls.is_none_or(|most| self.calls < most)
    }

    /// For the model, when it will not be able to call again.
    pub(crate) fn last_call_note(&self) -> Option<String> {
        if self.rounds + 1 >= self.gate.config.rounds {
            let rounds = self.gate.config.rounds;
            return Some(format!(
                "this was the last of {rounds} rounds of code in this response; answer now"
            ));
        }
        let most = self.request.max_tool_calls?;
        (self.calls >= most)
            .then(|| format!("this was the last of {most} tool calls in this response; answer now"))
    }

    fn out_of_time(&self) -> GateError {
        let seconds = self.gate.config.total.as_secs();
        GateError::LimitReached(format!("The response took longer than the limit of {seconds} seconds."))
    }

    /// The next place in the output.
    pub(crate) fn take_index(&mut self) -> usize {
        self.output.push(None);
        self.output.len() - 1
    }

    /// Keeps a finished item, with all its outputs, and the model's own form of it.
    pub(crate) fn keep(&mut self, index: usize, body: Value, model: Vec<Value>) {
        let id = crate::turn::text(&body, "id").to_owned();
        if let Some(place) = self.output.get_mut(index) {
            *place = Some(ItemRecord { id, body, model: Some(model) });
        }
    }

    /// The first events, as soon as the upstream has said who it is.
    pub(crate) async fn start(&mut self, upstream: Option<&Value>) -> Result<()> {
        if std::mem::replace(&mut self.is_started, true) {
            return Ok(());
        }
        self.object.learn(upstream, &self.request);
        if self.request.background {
            let queued = self.object.snapshot();
            self.emitter.emit("response.created", json!({"response": queued})).await?;
            self.emitter.emit("response.queued", json!({"response": queued})).await?;
        }
        self.object.set("status", json!("in_progress"));
        let response = self.object.snapshot();
        if self.request.background {
            let record = self.record("in_progress", response.clone());
            self.gate.store.update_response(&record).await?;
        } else {
            self.emitter.emit("response.created", json!({"response": response})).await?;
        }
        self.emitter.emit("response.in_progress", json!({"response": response})).await
    }

    async fn finish(&mut self, verdict: Verdict) -> Result<Value> {
        let (status, completed_at) = match verdict {
            Verdict::Completed => ("completed", json!(now_seconds())),
            Verdict::Incomplete(details) => {
                self.object.set("incomplete_details", details);
                ("incomplete", Value::Null)
            }
            Verdict::Failed(error) => {
                self.object.set("error", error);
                ("failed", Value::Null)
            }
        };
        self.object.set("completed_at", completed_at);
        self.settle(status).await?;
        let response = self.object.snapshot();
        self.emitter.emit(&format!("response.{status}"), json!({"response": response})).await?;
        Ok(response)
    }

    /// Says how it ended in the object, and keeps it before anybody is told: who has heard of a
    /// response can go on from it.
    async fn settle(&mut self, status: &str) -> Result<()> {
        self.object.set("status", json!(status));
        self.object.set("usage", self.usage.to_value());
        let items: Vec<ItemRecord> = self.output.iter().flatten().cloned().collect();
        let whole: Vec<&Value> = items.iter().map(|item| &item.body).collect();
        let shown: Vec<Value> =
            whole.iter().map(|item| visible((*item).clone(), &self.request.include)).collect();
        self.object.set("output", json!(whole));
        let body = self.object.snapshot();
        self.object.set("output", Value::Array(shown));
        self.save(status, body, &items).await
    }

    /// The response as it is kept.
    pub(crate) fn record(&self, status: &str, body: Value) -> ResponseRecord {
        // One that only the upstream knows is not a link of our own chain.
        let ours = self.upstream_previous != self.request.previous;
        ResponseRecord {
            id: self.ids.response().to_owned(),
            owner: self.owner.clone(),
            created_at: body.get("created_at").and_then(Value::as_u64).unwrap_or_default(),
            status: status.to_owned(),
            background: self.request.background,
            body,
            previous: self.request.previous.clone().filter(|_| ours),
            conversation: self.request.conversation.clone(),
            upstream_previous: self.upstream_previous.clone(),
        }
    }

    async fn save(&self, status: &str, body: Value, items: &[ItemRecord]) -> Result<()> {
        let store = &self.gate.store;
        // The conversation first: a crash in between leaves a response that was never finished, not a
        // finished one that its conversation has not heard of.
        if let Some(conversation) = &self.request.conversation
            && status == "completed"
        {
            let all: Vec<ItemRecord> = self.inputs.iter().chain(items).cloned().collect();
            store.add_items(&self.owner, conversation, &all).await?;
        }
        if self.request.store {
            store.save_response(&self.record(status, body), &self.inputs, items).await?;
        } else {
            // Clients send code calls back without their outputs, so these are kept in any case.
            let calls: Vec<ItemRecord> = items
                .iter()
                .filter(|item| crate::turn::text(&item.body, "type") == "code_interpreter_call")
                .cloned()
                .collect();
            store.keep_items(&self.owner, &calls).await?;
        }
        Ok(())
    }

    /// The end of a response that could not be finished.
    async fn fail(mut self, error: GateError) -> Result<Value> {
        let is_cancelled = matches!(error, GateError::Cancelled);
        if is_cancelled && !self.request.background {
            tracing::info!(response = self.ids.response(), "the client left; the run was stopped");
            self.workplace.abandon().await;
            return Err(error);
        }
        if is_cancelled {
            self.settle("cancelled").await?;
            return Ok(self.object.snapshot());
        }
        tracing::warn!(response = self.ids.response(), %error, "a response failed");
        let said = error.said();
        // The client may be gone by now; what happened is kept all the same.
        let told = async {
            self.start(None).await?;
            let fields = json!({"error":
                {"type": said.kind, "code": said.code, "message": said.message, "param": null}});
            self.emitter.emit("error", fields).await
        };
        let told = told.await;
        self.object.set("error", json!({"code": said.code, "message": said.message}));
        if let Err(unkept) = self.settle("failed").await {
            tracing::error!(response = self.ids.response(), error = %unkept, "a failed response could not be kept");
        }
        let response = self.object.snapshot();
        if told.is_ok() {
            let _ = self.emitter.emit("response.failed", json!({"response": response})).await;
        }
        Err(error)
    }
}
