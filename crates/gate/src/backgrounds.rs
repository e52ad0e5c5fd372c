//! Responses that run with nobody waiting: started, listened to, cancelled, and picked up after a crash.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use http::HeaderMap;
use sandgate_core::{BackendError, Owner};
use sandgate_store::{ResponseRecord, StoreError};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use crate::emitter::{Sink, StreamEvent};
use crate::error::{GateError, Result};
use crate::gate::{Answer, Caller, EventStream, Gate};
use crate::ids::ResponseIds;
use crate::recording::Recording;
use crate::request::CreateRequest;

/// Responses in the background at once.
const MOST_RUNS: usize = 1000;
const MOST_RUNS_OF_ONE: usize = 100;
/// Events read ahead of a listener.
const EVENTS_AHEAD: usize = 64;

/// The runs under way, by response id.
#[derive(Debug, Default)]
pub(crate) struct Backgrounds(Mutex<HashMap<String, Arc<Recording>>>);

impl Backgrounds {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Recording>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, id: &str) -> Option<Arc<Recording>> {
        self.lock().get(id).cloned()
    }
}

/// A run under way; whatever ends it, those who listen hear of the end.
struct UnderWay {
    gate: Arc<Gate>,
    id: String,
    recording: Arc<Recording>,
}

impl UnderWay {
    fn begin(gate: &Arc<Gate>, id: String, recording: Arc<Recording>) -> Self {
        gate.backgrounds.lock().insert(id.clone(), Arc::clone(&recording));
        Self { gate: Arc::clone(gate), id, recording }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.recording.close();
        self.gate.backgrounds.lock().remove(&self.id);
    }
}

impl Gate {
    /// A run in the background holds no connection, so nothing else would bound their number.
    fn check_room(&self, owner: &Owner) -> Result<()> {
        let (all, own) = {
            let runs = self.backgrounds.lock();
            (runs.len(), runs.values().filter(|run| run.owner == *owner).count())
        };
        if all >= MOST_RUNS || own >= MOST_RUNS_OF_ONE {
            let (count, whose) =
                if own >= MOST_RUNS_OF_ONE { (own, "You have") } else { (all, "The server has") };
            return Err(GateError::Busy(format!(
                "{whose} {count} responses in the background under way, which is the limit. Try again when one has ended."
            )));
        }
        Ok(())
    }

    pub(crate) async fn create_in_background(
        self: &Arc<Self>,
        caller: Caller,
        request: CreateRequest,
    ) -> Result<Answer> {
        self.check_room(&caller.asker.owner)?;
        let ids = ResponseIds::new();
        let id = ids.response().to_owned();
        let owner = caller.asker.owner.clone();
        let cancel = self.stopping.child_token();
        let recording = Arc::new(Recording::new(id.clone(), owner, self.store.clone(), cancel.clone()));
        let (stream, obfuscation) = (request.stream, request.obfuscation);
        let sink = Sink::Recording(Arc::clone(&recording));
        let mut run = self.prepare(caller, request, ids, sink, cancel).await?;
        run.object.set("status", json!("queued"));
        let queued = run.object.snapshot();
        let (kept, is_kept) = oneshot::channel();
        // In one task: a client that leaves in between must not leave a response that nobody works on.
        self.tasks.spawn({
            let (gate, recording, queued) = (Arc::clone(self), Arc::clone(&recording), queued.clone());
            async move {
                // Kept before its id is out: from now on it can be asked for, cancelled, and found after a crash.
                let record = run.record("queued", queued);
                let saved = gate.store.save_response(&record, &run.inputs, &[]).await;
                let is_saved = saved.is_ok();
                let under_way = is_saved.then(|| UnderWay::begin(&gate, id, recording));
                let _ = kept.send(saved);
                if is_saved {
                    // How it ended is in the store and in the recording; nobody waits here.
                    let _ = run.go(None).await;
                }
                drop(under_way);
            }
        });
        let lost = |_| BackendError::Engine("a run ended before it began".to_owned());
        is_kept.await.map_err(lost)??;
        if stream {
            let events = listen(recording, None, obfuscation);
            return Ok(Answer::Stream { events, headers: HeaderMap::new() });
        }
        Ok(Answer::Whole { response: queued, headers: HeaderMap::new() })
    }

    /// The events of a background response after the given number, as they come.
    pub async fn listen(
        &self,
        owner: &Owner,
        id: &str,
        after: Option<u64>,
        obfuscation: bool,
    ) -> Result<EventStream> {
        let record = self.response(owner, id).await?;
        if !record.background {
            return Err(GateError::bad_value(
                "stream",
                "This response was not created in the background, so it cannot be streamed again.",
            ));
        }
        if let Some(recording) = self.backgrounds.get(id) {
            return Ok(listen(recording, after, obfuscation));
        }
        let events = self.store.events_after(id, after).await?;
        let (sender, receiver) = mpsc::channel(EVENTS_AHEAD);
        self.tasks.spawn(async move {
            for (sequence, data) in events {
                let event = shown(StreamEvent { sequence, kind: kind_of(&data), data }, obfuscation);
                if sender.send(event).await.is_err() {
                    return;
                }
            }
        });
        Ok(EventStream { events: receiver, _stop: None })
    }

    /// Stops a background response. One that has ended stays as it ended.
    pub async fn cancel(&self, owner: &Owner, id: &str) -> Result<Value> {
        let record = self.response(owner, id).await?;
        if !record.background {
            return Err(GateError::Invalid {
                message: "Cannot cancel a synchronous response.".to_owned(),
                param: None,
                code: None,
            });
        }
        self.stop(id).await;
        Ok(self.response(owner, id).await?.body)
    }

    /// Deletes a response. One under way is stopped first: its end would bring it back.
    pub async fn delete(&self, owner: &Owner, id: &str) -> Result<(), StoreError> {
        self.store.response(owner, id).await?;
        self.stop(id).await;
        self.store.delete_response(owner, id).await
    }

    async fn stop(&self, id: &str) {
        let Some(recording) = self.backgrounds.get(id) else { return };
        let mut length = recording.listen();
        recording.cancel.cancel();
        // The run writes its own end.
        let _ = length.wait_for(|(_, over)| *over).await;
    }

    /// A stored response, with its outputs whole.
    pub async fn response(&self, owner: &Owner, id: &str) -> Result<ResponseRecord> {
        self.store.response(owner, id).await.map_err(|error| match error {
            StoreError::NotFound => {
                GateError::NotFound { message: format!("Response with id '{id}' not found."), param: None }
            }
            other => other.into(),
        })
    }

    /// What a crash cut short can not go on: its model turn is lost. It is said in the response itself.
    pub async fn close_interrupted(&self) -> Result<usize> {
        let interrupted = self.store.unfinished_background().await?;
        let count = interrupted.len();
        for mut record in interrupted {
            let message = "The server was stopped while it worked on this response.";
            record.status = "failed".to_owned();
            if let Value::Object(body) = &mut record.body {
                body.insert("status".to_owned(), json!("failed"));
                body.insert("error".to_owned(), json!({"code": "server_error", "message": message}));
            }
            self.store.update_response(&record).await?;
            self.end_events(&record, message).await?;
        }
        Ok(count)
    }

    /// Whoever comes back to listen hears of the end, too.
    async fn end_events(&self, record: &ResponseRecord, message: &str) -> Result<()> {
        let last = self.store.events_after(&record.id, None).await?.pop();
        let number = last.map_or(0, |(number, _)| number + 1);
        let error =
            json!({"type": "server_error", "code": "server_error", "message": message, "param": null});
        let events = [
            json!({"type": "error", "sequence_number": number, "error": error}),
            json!({"type": "response.failed", "sequence_number": number + 1, "response": record.body}),
        ];
        let events: Vec<(u64, String)> = (number..).zip(events.iter().map(Value::to_string)).collect();
        Ok(self.store.append_events(&record.id, &events).await?)
    }
}

/// Follows a recording from the event after `after` on. Dropping the stream stops the listening, not
/// the run.
fn listen(recording: Arc<Recording>, after: Option<u64>, obfuscation: bool) -> EventStream {
    let (sender, receiver) = mpsc::channel(EVENTS_AHEAD);
    tokio::spawn(async move {
        let mut length = recording.listen();
        let mut next = 0;
        loop {
            while let Some(event) = recording.get(next) {
                next += 1;
                if after.is_some_and(|after| event.sequence <= after) {
                    continue;
                }
                if sender.send(shown(event, obfuscation)).await.is_err() {
                    return;
                }
            }
            let (count, over) = *length.borrow_and_update();
            if count > next {
                continue;
            }
            if over || length.changed().await.is_err() {
                return;
            }
        }
    });
    EventStream { events: receiver, _stop: None }
}

/// The listener's own wish about padding, which may differ from that of whoever started it.
fn shown(event: StreamEvent, obfuscation: bool) -> StreamEvent {
    if obfuscation {
        return event;
    }
    let Ok(Value::Object(mut fields)) = serde_json::from_str(&event.data) else { return event };
    fields.shift_remove("obfuscation");
    StreamEvent { data: Value::Object(fields).to_string(), ..event }
}

fn kind_of(data: &str) -> String {
    let parsed: Option<Value> = serde_json::from_str(data).ok();
    parsed.as_ref().map_or("", |event| crate::turn::text(event, "type")).to_owned()
}
