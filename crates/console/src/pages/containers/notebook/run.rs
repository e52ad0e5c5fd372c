//! Code of a notebook under way: through the same approvals and onto the same record as everybody's, and what it
//! says as it comes.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{Json, Response};
use sandgate_core::{ContextId, Event, ExecuteRequest};
use sandgate_gate::{Crowd, Manner, Running};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Console;
use crate::documents::OfRun;
use crate::fields::Asked;
use crate::held;
use crate::origin::Origin;
use crate::pages::containers::Which;
use crate::problem::Problem;
use crate::refused::said;
use crate::rich::shown;
use crate::stream::{Gone, Teller, answer};
use crate::visitor::Visitor;

#[derive(Debug, Deserialize)]
pub(super) struct Wanted {
    code: String,
    context: Option<String>,
    language: Option<String>,
}

pub(super) async fn run(
    State(console): State<Console>,
    visitor: Visitor,
    Which(container): Which,
    origin: Origin,
    Json(wanted): Json<Wanted>,
) -> Result<Response, Problem> {
    let context = wanted.context.as_deref().map(ContextId::parse).transpose();
    let run = ExecuteRequest {
        code: wanted.code,
        context: context.map_err(|error| Problem::Invalid(error.to_string()))?,
        language: wanted.language,
        ..ExecuteRequest::default()
    };
    let asker = origin.asker(&console, &visitor);
    asker.call.begin();
    let within = console.clone();
    Ok(answer(&console, async move |teller| {
        teller
            .tell(&json!({"type": "asked", "request": crate::pages::requests::link(&asker.request_id)}))
            .await?;
        let manner = Manner { crowd: Crowd::Refuse, makes_context: false };
        let starting = within.parts().executions.start(&asker, &container, run, manner);
        let told = held::while_telling(&within, &asker.request_id, starting, async |event| {
            // Whoever has left is noticed at the next word.
            let _ = teller.tell(&event).await;
        });
        match told.await {
            Ok(running) => {
                let told = tell_all(&within, running, &teller).await;
                container.keep_alive();
                told
            }
            Err(refused) => teller.tell(&json!({"type": "refused", "text": said(&asker, refused)})).await,
        }
    }))
}

pub(super) async fn stop(
    State(console): State<Console>,
    _visitor: Visitor,
    Asked(asked): Asked,
) -> Result<StatusCode, Problem> {
    let is_there = console.runs().stop(asked.get("run").unwrap_or_default());
    is_there.then_some(StatusCode::NO_CONTENT).ok_or(Problem::NotFound)
}

async fn tell_all(console: &Console, mut running: Running, teller: &Teller) -> Result<(), Gone> {
    let stoppable = console.runs().add(running.handle());
    teller.tell(&json!({"type": "running", "run": stoppable.id})).await?;
    let documents = console.documents().of_run();
    let mut is_done = false;
    while let Some(event) = running.next().await {
        is_done |= matches!(event, Event::Done { .. });
        if let Some(told) = told(event, &documents) {
            teller.tell(&told).await?;
        }
    }
    if is_done {
        running.call().ended("completed");
        return Ok(());
    }
    running.call().failed("engine_failed");
    teller
        .tell(&json!({"type": "refused", "text": "The execution broke off without saying how it ended."}))
        .await
}

/// As the page knows it.
fn told(event: Event, documents: &OfRun<'_>) -> Option<Value> {
    Some(match event {
        Event::Started { .. } => return None,
        Event::Stdout { text } => json!({"type": "stdout", "text": text}),
        Event::Stderr { text } => json!({"type": "stderr", "text": text}),
        Event::Display { data } => json!({"type": "shown", "shown": shown(&data, documents)}),
        Event::Result { data, .. } => {
            json!({"type": "shown", "is_result": true, "shown": shown(&data, documents)})
        }
        Event::Error(error) => {
            let traceback: Vec<String> = error.traceback.iter().map(|line| without_escapes(line)).collect();
            json!({"type": "raised", "name": error.name, "value": error.value, "traceback": traceback.join("\n")})
        }
        Event::Note { text, .. } => json!({"type": "note", "text": text}),
        Event::Files { changes } => {
            json!({"type": "files", "paths": changes.into_iter().map(|change| change.path).collect::<Vec<_>>()})
        }
        Event::Done { ending, text, execution_count, duration_ms } => json!({
            "type": "done", "ending": ending, "text": text, "count": execution_count,
            "took": crate::times::exact_length(duration_ms),
        }),
    })
}

/// Colours of a terminal are noise on a page.
fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '\u{1b}' {
            plain.push(letter);
        } else if letters.next() == Some('[') {
            letters.by_ref().find(|letter| ('@'..='~').contains(letter));
        }
    }
    plain
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
