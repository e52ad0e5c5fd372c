//! One completion, from the first turn of the model to its last word.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::answer::Answer;
use super::request::ChatRequest;
use super::shown::{FIELD, Shown};
use crate::config::GateConfig;
use crate::error::{GateError, Result};
use crate::executions::Asker;
use crate::gate::Gate;
use crate::ledger::TurnEntry;
use crate::run::LATER_RETRIES;
use crate::tools::{ToolRewrite, TurnTools};
use crate::upstream::{Asked, Credentials, Turn, TurnRequest};
use crate::usage::UsageSum;
use crate::workplace::Workplace;

#[derive(Debug)]
pub(super) struct ChatRun {
    pub(super) gate: Arc<Gate>,
    pub(super) asker: Asker,
    pub(super) credentials: Credentials,
    /// With an empty place for its messages.
    pub(super) request: ChatRequest,
    /// The model's view of everything so far.
    pub(super) messages: Vec<Value>,
    pub(super) tools: Option<ToolRewrite>,
    pub(super) workplace: Workplace,
    pub(super) answer: Answer,
    pub(super) shown: Shown,
    pub(super) usage: UsageSum,
    /// Turns in which code was called.
    pub(super) rounds: u32,
    /// Ids that name a call already.
    pub(super) taken: HashSet<String>,
    pub(super) deadline: Instant,
    pub(super) config: Arc<GateConfig>,
    pub(super) cancel: CancellationToken,
}

impl ChatRun {
    /// All turns, whatever happens. The whole completion, or why there is none.
    pub(super) async fn go(mut self, first: Turn) -> Result<Value> {
        let (deadline, cancel) = (self.deadline, self.cancel.clone());
        let outcome = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(self.gate.why_cancelled()),
            outcome = Box::pin(self.turns(first)) => outcome,
            () = tokio::time::sleep_until(deadline) => Err(GateError::out_of_time(self.config.total)),
        };
        match outcome {
            Ok(completion) => Ok(completion),
            Err(error) => self.fail(error).await,
        }
    }

    async fn turns(&mut self, first: Turn) -> Result<Value> {
        let mut turn = first;
        loop {
            if let Some(reason) = self.take_turn(turn).await? {
                return self.finish(&reason).await;
            }
            self.rounds += 1;
            if self.rounds > self.config.rounds {
                return Err(GateError::too_many_rounds(self.config.rounds));
            }
            if self.tokens_left().is_some_and(|(_, left)| left == 0) {
                return self.finish("length").await;
            }
            turn = self.open_turn().await?;
        }
    }

    async fn finish(&mut self, reason: &str) -> Result<Value> {
        self.show_files().await?;
        if let Some(shown) = self.shown.whole() {
            self.answer.set(FIELD, shown);
        }
        let is_cut = matches!(reason, "length" | "content_filter");
        self.asker.call.note("response_id", self.answer.id());
        self.asker.call.ended(if is_cut { "incomplete" } else { "completed" });
        self.answer.finish(reason, self.usage.plain()).await
    }

    /// The first turn, asked for before the client is answered.
    pub(super) async fn first_turn(&mut self) -> Result<Turn> {
        match tokio::time::timeout_at(self.deadline, self.open_turn()).await {
            Ok(turn) => turn,
            Err(_) => Err(GateError::out_of_time(self.config.total)),
        }
    }

    async fn open_turn(&self) -> Result<Turn> {
        let request = TurnRequest {
            body: self.turn_body(),
            credentials: self.credentials.clone(),
            stream: self.request.stream,
            request_id: self.asker.request_id.clone(),
            retries: if self.rounds == 0 { 0 } else { LATER_RETRIES },
            asked: Asked::default(),
        };
        let model = self.asker.model.as_deref();
        let watch = self.asker.watch.turn(model);
        let entry = TurnEntry::begin(&self.asker.call, model, request.stream);
        let upstream = &self.gate.upstream;
        let ask =
            async |request| watch.over(request, async |request| upstream.chat_turn(request).await).await;
        Ok(entry.over(request, ask).await?)
    }

    fn turn_body(&self) -> Map<String, Value> {
        let mut body = self.request.body.clone();
        body.insert("messages".to_owned(), Value::Array(self.messages.clone()));
        if let Some((name, left)) = self.tokens_left() {
            body.insert(name.to_owned(), json!(left));
        }
        if let Some(tools) = &self.tools {
            tools.apply(&mut body, TurnTools::of(self.rounds, self.may_call()));
        }
        body
    }

    /// What is left of the client's limit, which counts over all turns.
    fn tokens_left(&self) -> Option<(&'static str, u64)> {
        let (name, most) = self.request.max_tokens?;
        Some((name, most.saturating_sub(self.usage.completion_tokens())))
    }

    /// Whether another call would be run.
    pub(super) fn may_call(&self) -> bool {
        self.tools.is_some() && self.rounds < self.config.rounds
    }

    /// The end of an answer that could not be finished.
    async fn fail(mut self, error: GateError) -> Result<Value> {
        if matches!(error, GateError::Cancelled) {
            self.asker.call.ended("cancelled");
            tracing::info!(request = self.asker.request_id, "the client left; the run was stopped");
            self.workplace.abandon().await;
            return Err(error);
        }
        tracing::warn!(request = self.asker.request_id, %error, "a completion failed");
        self.asker.call.failed(&error.said().code);
        let is_heard = self.answer.is_streamed() && self.shown.container.is_some();
        self.answer.fail(&error.said()).await;
        // Of a container that nobody has heard of there is no use.
        if !is_heard {
            self.workplace.abandon().await;
        }
        Err(error)
    }
}
