//! One response, from the first turn of the model to its last word.

use std::collections::HashSet;
use std::sync::Arc;

use sandgate_store::ItemRecord;
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::config::GateConfig;
use crate::emitter::Emitter;
use crate::error::{GateError, Result};
use crate::executions::Asker;
use crate::gate::Gate;
use crate::ids::ResponseIds;
use crate::ledger::TurnEntry;
use crate::request::CreateRequest;
use crate::response_object::ResponseObject;
use crate::tools::ToolRewrite;
use crate::turn::Verdict;
use crate::upstream::{Asked, Credentials, Turn, TurnRequest};
use crate::usage::UsageSum;
use crate::workplace::Workplace;

/// A turn is not worth asking for with fewer tokens than the API takes as a limit.
const LEAST_TOKENS: u64 = 16;
/// Tries of a later turn: giving up would throw away all that was done before it.
pub(crate) const LATER_RETRIES: u32 = 2;

#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) gate: Arc<Gate>,
    pub(crate) asker: Asker,
    pub(crate) credentials: Credentials,
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
    /// What the model has called the code tool before; it may try again where it cannot.
    pub(crate) code_names: HashSet<String>,
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
    /// How it ended is kept; nothing it made may be taken back.
    pub(crate) is_settled: bool,
    pub(crate) deadline: Instant,
    pub(crate) config: Arc<GateConfig>,
    pub(crate) cancel: CancellationToken,
}

impl Run {
    /// All turns, whatever happens. The whole response, or why there is none.
    pub(crate) async fn go(mut self, first: Option<Turn>) -> Result<Value> {
        let deadline = self.deadline;
        let cancel = self.cancel.clone();
        let outcome = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(self.gate.why_cancelled()),
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
            if self.rounds > self.config.rounds {
                return Err(GateError::too_many_rounds(self.config.rounds));
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
            request_id: self.asker.request_id.clone(),
            retries,
            asked: Asked::default(),
        };
        let model = self.asker.model.as_deref();
        let watch = self.asker.watch.turn(model);
        let entry = TurnEntry::begin(&self.asker.call, model, request.stream);
        let upstream = &self.gate.upstream;
        let ask = async |request| watch.over(request, async |request| upstream.turn(request).await).await;
        Ok(entry.over(request, ask).await?)
    }

    fn out_of_time(&self) -> GateError {
        GateError::out_of_time(self.config.total)
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
}
