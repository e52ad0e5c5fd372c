//! Responses that run with nobody waiting: started, listened to, cancelled, and picked up after a crash.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use http::HeaderMap;
use sandgate_core::Owner;
use sandgate_store::{ResponseRecord, StoreError};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::emitter::{Sink, StreamEvent};
use crate::error::{GateError, Result};
use crate::gate::{Answer, Caller, EventStream, Gate};
use crate::ids::ResponseIds;
use crate::recording::Recording;
use crate::request::CreateRequest;

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

impl Gate {
    pub(crate) async fn create_in_background(
        self: &Arc<Self>,
        caller: Caller,
        request: CreateRequest,
    ) -> Result<Answer> {
        let ids = ResponseIds::new();
        let id = ids.response().to_owned();
        let recording = Arc::new(Recording::new(id.clone(), self.store.clone()));
        let cancel = recording.cancel.clone();
        let (stream, obfuscation) = (request.stream, request.obfuscation);
        let sink = Sink::Recording(Arc::clone(&recording));
        let mut run = self.prepare(caller, request, ids, sink, cancel).await?;
        run.object.set("status", json!("queued"));
        let queued = run.object.snapshot();
        // Kept before its id is out: from now on it can be asked for, cancelled, and found after a crash.
        self.store.save_response(&run.record("queued", queued.clone()), &run.inputs, &[]).await?;
        self.backgrounds.lock().insert(id.clone(), Arc::clone(&recording));
        let gate = Arc::clone(self);
        self.tasks.spawn({
            let (id, recording) = (id.clone(), Arc::clone(&recording));
            async move {
                // How it ended is in the store and in the recording; nobody waits here.
                let _ = run.go(None).await;
                recording.close();
                gate.backgrounds.lock().remove(&id);
            }
        });
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
        let Some(recording) = self.backgrounds.get(id) else { return Ok(record.body) };
        let mut length = recording.listen();
        recording.cancel.cancel();
        // The run writes its own end.
        let _ = length.wait_for(|(_, over)| *over).await;
        Ok(self.response(owner, id).await?.body)
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
        }
        Ok(count)
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
