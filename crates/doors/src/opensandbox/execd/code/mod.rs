//! Code in contexts: each keeps what was defined in it, and runs one thing at a time.

mod contexts;
mod run;
mod runs;
mod words;

use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use axum::routing::{get, post};
use sandgate_core::ContextId;

use super::super::Door;
use super::body::nothing;
use super::guest::{Guest, asked_one};
use super::refusal::Refusal;

pub(super) use runs::Runs;

pub(super) fn routes() -> Router<Door> {
    Router::new()
        .route("/code", post(run::run).delete(interrupt))
        .route("/code/context", post(contexts::create))
        .route("/code/contexts", get(contexts::list).delete(contexts::remove_all))
        .route("/code/contexts/{id}", get(contexts::get).delete(contexts::remove))
}

/// Whatever runs under an id: code in a context, or a command.
pub(super) async fn interrupt(guest: Guest, request: Request) -> Result<Response, Refusal> {
    let id = asked_one(request.uri(), "id").ok_or_else(|| Refusal::missing("id"))?;
    let is_context = match ContextId::parse(&id) {
        Ok(context) => {
            guest.place.runs.interrupt(&context) || contexts::find(&guest, &context).await?.is_some()
        }
        Err(_) => false,
    };
    if is_context || guest.place.commands.interrupt(&guest, &id).await? {
        return Ok(nothing());
    }
    Err(Refusal::runtime(format!("error interruptting code context. no such session {id}")))
}

#[cfg(test)]
mod tests;
