//! A prompt on its way through the gate, in the name of whoever is signed in. The page never sees a key.

use axum::extract::State;
use axum::response::{Json, Response};
use sandgate_core::BackendError;
use sandgate_gate::upstream::Credentials;
use sandgate_gate::{Answer, Caller, CreateRequest, GateError, INCLUDE_OUTPUTS};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::LOOPBACK;
use crate::Console;
use crate::held;
use crate::origin::Origin;
use crate::pages::requests;
use crate::problem::Problem;
use crate::stream::answer;
use crate::visitor::Visitor;

#[derive(Debug, Deserialize)]
pub(super) struct Prompt {
    model: String,
    message: String,
    /// The response that this one goes on from.
    previous: Option<String>,
}

pub(super) async fn ask(
    State(console): State<Console>,
    visitor: Visitor,
    origin: Origin,
    Json(prompt): Json<Prompt>,
) -> Result<Response, Problem> {
    let is_loopback = prompt.model == LOOPBACK;
    if !is_loopback && !visitor.principal.limits.allows_model(&prompt.model) {
        return Err(Problem::Forbidden("Your key may not use this model."));
    }
    let parts = console.parts();
    let gate = if is_loopback { &parts.loopback } else { &parts.gate };
    let asker = origin.asker(&console, &visitor);
    let call = asker.call.clone();
    let caller = Caller { asker, credentials: Credentials::default() };
    let asked = match CreateRequest::parse(body(prompt)) {
        Ok(request) => gate.create(caller, request).await,
        Err(error) => Err(error),
    };
    let events = match asked {
        Ok(Answer::Stream { events, .. }) => events,
        Ok(Answer::Whole { .. }) => return Err(Problem::Internal),
        Err(error) => {
            let problem = problem(&error);
            call.answered(problem.status().as_u16());
            call.failed("not_answered");
            return Err(problem);
        }
    };
    call.answered(200);
    let (link, within, id) = (requests::link(&origin.id), console.clone(), origin.id);
    Ok(answer(&console, async move |teller| {
        let mut events = events;
        teller.tell(&json!({"type": "console.asked", "request": link})).await?;
        loop {
            let told = held::while_telling(&within, &id, events.events.recv(), async |event| {
                let _ = teller.tell(&event).await;
            });
            match told.await {
                Some(event) => teller.tell_text(event.data).await?,
                None => return Ok(()),
            }
        }
    }))
}

/// The same as "show as code" shows.
fn body(prompt: Prompt) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("model".to_owned(), prompt.model.into());
    body.insert("input".to_owned(), prompt.message.into());
    body.insert("tools".to_owned(), json!([{"type": "code_interpreter", "container": {"type": "auto"}}]));
    body.insert("include".to_owned(), json!([INCLUDE_OUTPUTS]));
    body.insert("stream".to_owned(), true.into());
    if let Some(previous) = prompt.previous {
        body.insert("previous_response_id".to_owned(), previous.into());
    }
    body
}

fn problem(error: &GateError) -> Problem {
    match error {
        GateError::Backend(BackendError::Engine(_)) | GateError::Store(_) => {
            tracing::error!(%error, "the playground could not be answered");
            Problem::Internal
        }
        other => Problem::Conflict(other.said().message),
    }
}
