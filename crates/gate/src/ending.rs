//! The end of a response: what became of it is said in its object, kept, and only then told.

use sandgate_core::now_seconds;
use sandgate_store::{ItemRecord, ResponseRecord};
use serde_json::{Value, json};

use crate::error::{GateError, Result};
use crate::run::Run;
use crate::turn::{Verdict, text};
use crate::visible::visible;

impl Run {
    pub(crate) async fn finish(&mut self, verdict: Verdict) -> Result<Value> {
        let (status, completed_at) = match verdict {
            Verdict::Completed => ("completed", json!(now_seconds())),
            Verdict::Incomplete(details) => {
                self.object.set("incomplete_details", details);
                ("incomplete", Value::Null)
            }
            Verdict::Failed(error) => {
                self.asker.call.note("error", text(&error, "code"));
                self.object.set("error", error);
                ("failed", Value::Null)
            }
        };
        self.object.set("completed_at", completed_at);
        self.settle(status).await?;
        self.asker.call.ended(status);
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
        self.save(status, body, &items).await?;
        self.is_settled = true;
        Ok(())
    }

    /// The response as it is kept.
    pub(crate) fn record(&self, status: &str, body: Value) -> ResponseRecord {
        // One that only the upstream knows is not a link of our own chain.
        let ours = self.upstream_previous != self.request.previous;
        ResponseRecord {
            id: self.ids.response().to_owned(),
            owner: self.asker.owner.clone(),
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
            store.add_items(&self.asker.owner, conversation, &all).await?;
        }
        if self.request.store {
            store.save_response(&self.record(status, body), &self.inputs, items).await?;
        } else {
            // Clients send code calls back without their outputs, and thoughts without what only the model can
            // read, so these are kept in any case.
            let is_shown_in_part = |item: &&ItemRecord| match text(&item.body, "type") {
                "code_interpreter_call" => true,
                "reasoning" => visible(item.body.clone(), &self.request.include) != item.body,
                _ => false,
            };
            let in_part: Vec<ItemRecord> = items.iter().filter(is_shown_in_part).cloned().collect();
            store.keep_items(&self.asker.owner, &in_part).await?;
        }
        Ok(())
    }

    /// The end of a response that could not be finished.
    pub(crate) async fn fail(mut self, error: GateError) -> Result<Value> {
        let is_cancelled = matches!(error, GateError::Cancelled);
        let said = error.said();
        if is_cancelled {
            self.asker.call.ended("cancelled");
        } else {
            self.asker.call.failed(&said.code);
        }
        if is_cancelled && !self.request.background {
            tracing::info!(response = self.ids.response(), "the client left; the run was stopped");
            if !self.is_settled {
                self.workplace.abandon().await;
            }
            return Err(error);
        }
        if is_cancelled {
            self.settle("cancelled").await?;
            return Ok(self.object.snapshot());
        }
        tracing::warn!(response = self.ids.response(), %error, "a response failed");
        // The client may be gone by now; what happened is kept all the same. And it is kept before the client
        // is told: SDKs raise at the first word of an error, and whoever catches that may ask at once.
        let is_heard = self.start(None).await.is_ok();
        self.object.set("error", json!({"code": said.code, "message": said.message}));
        if let Err(unkept) = self.settle("failed").await {
            tracing::error!(response = self.ids.response(), error = %unkept, "a failed response could not be kept");
        }
        let fields = json!({"error":
            {"type": said.kind, "code": said.code, "message": said.message, "param": null}});
        if is_heard && self.emitter.emit("error", fields).await.is_ok() {
            let response = self.object.snapshot();
            let _ = self.emitter.emit("response.failed", json!({"response": response})).await;
        }
        // Cut off before its client heard of anything: what was made for it goes with it.
        if matches!(error, GateError::Stopping) && !self.request.stream && !self.request.background {
            self.workplace.abandon().await;
        }
        Err(error)
    }
}
