//! Runs code and answers with what it says while it says it. Closing the connection drops the execution, which
//! interrupts the code.

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use sandgate_core::{ContextId, ExecuteRequest};
use serde::Deserialize;

use super::super::body::{LARGEST, read};
use super::super::command::run_shell;
use super::super::events::{PING, answer, init, refused};
use super::super::guest::Guest;
use super::super::refusal::Refusal;
use super::contexts::{default_of, find};
use super::words::Words;
use crate::lent::stream;

/// One byte takes six in JSON at most (`\u0000`), so no code within its limit is refused for the way it is written.
const WORST_ESCAPE: u64 = 6;

#[derive(Debug, Deserialize)]
struct Wish {
    #[serde(default)]
    code: String,
    #[serde(default)]
    context: Option<Where>,
}

#[derive(Debug, Default, Deserialize)]
struct Where {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    language: Option<String>,
}

pub(super) async fn run(guest: Guest, request: Request) -> Result<Response, Refusal> {
    let most = guest.target.container.spec().limits.code_bytes;
    let Wish { code, context } = read(request, most.saturating_mul(WORST_ESCAPE) + LARGEST).await?;
    if code.is_empty() {
        return Err(Refusal::invalid("invalid request, validation error 'code' is required"));
    }
    let Where { id, language } = context.unwrap_or_default();
    let (id, language) = (given(id), given(language));
    let context = match (id, language) {
        // Without a language it is a command, whatever context it names.
        (_, None) => return run_shell(&guest, code).await,
        (Some(id), language) => named(&guest, &id, language.as_deref()).await?,
        (None, Some(language)) => default_of(&guest, &language).await.map_err(not_run)?,
    };
    let Some(claim) = guest.place.runs.claim(&context) else { return Ok(busy(&context)) };
    let request = ExecuteRequest { code, context: Some(context.clone()), ..ExecuteRequest::default() };
    let running = guest.target.run(request).await.map_err(|error| not_run(error.into()))?;
    claim.begun(running.execution.handle());
    let words = Words::new(claim, &context);
    Ok(answer(stream(running, words, PING)))
}

/// No text is no wish.
fn given(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

fn not_run(refusal: Refusal) -> Refusal {
    refusal.in_words("error running codes ")
}

async fn named(guest: &Guest, id: &str, language: Option<&str>) -> Result<ContextId, Refusal> {
    let lost = || Refusal::runtime(format!("error running codes context {id} not found"));
    let context = ContextId::parse(id).map_err(|_| lost())?;
    match find(guest, &context).await? {
        Some(info) if language.is_some_and(|language| language != info.language) => {
            let message =
                format!("context {id} is for {}, and not for {}", info.language, language.unwrap_or("?"));
            Err(Refusal::invalid(message))
        }
        Some(_) => Ok(context),
        // It is made when it is first used.
        None if context == ContextId::default_context() => Ok(context),
        None => Err(lost()),
    }
}

/// Contexts have no queue: the original says so after the answer began, and clients look for these words.
fn busy(context: &ContextId) -> Response {
    let mut lines = Vec::new();
    init(&mut lines, context.as_str());
    refused(&mut lines, &Refusal::runtime("error running codes session is busy"));
    answer(Body::from(lines))
}
