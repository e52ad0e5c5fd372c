//! Terminals: made first, started when somebody connects to them by a websocket, and still there when he comes back.

mod frames;
mod socket;
mod terminal;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::Request;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Json, Response};
use axum::routing::{get, post};
use sandgate_core::random_hex;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::Door;
use super::body::{LARGEST, nothing, read_or_default};
use super::guest::{Guest, asked_one};
use super::place::lock;
use super::refusal::{Code, Refusal};
use crate::lent::Ids;
use socket::{Entry, Wished};
use terminal::Terminal;

const MOST: usize = 16;
/// Of what a client sends at once.
const LARGEST_FRAME: usize = 1 << 20;

pub(super) fn routes() -> Router<Door> {
    Router::new()
        .route("/pty", post(create))
        .route("/pty/{id}", get(status).delete(remove))
        .route("/pty/{id}/ws", get(connect))
}

#[derive(Debug, Default)]
pub(super) struct Terminals(Mutex<HashMap<String, Arc<Terminal>>>);

impl Terminals {
    fn find(&self, id: &str) -> Result<Arc<Terminal>, Refusal> {
        let found = lock(&self.0).get(id).cloned();
        found.ok_or_else(|| Refusal::not_found(format!("pty session {id} not found")))
    }
}

#[derive(Debug, Default, Deserialize)]
struct New {
    #[serde(default)]
    cwd: Option<String>,
    #[serde(default)]
    command: Option<String>,
}

async fn create(guest: Guest, request: Request) -> Result<(StatusCode, Json<Value>), Refusal> {
    let New { cwd, command } = read_or_default(request, LARGEST).await?;
    let cwd = guest.folder(cwd.as_deref()).await?;
    let id = random_hex(16);
    let mut all = lock(&guest.place.terminals.0);
    if all.len() >= MOST {
        return Err(Refusal::too_many(format!(
            "there are {MOST} terminals, which is the limit; delete one first"
        )));
    }
    let command = command.filter(|command| !command.is_empty());
    all.insert(id.clone(), Arc::new(Terminal::new(id.clone(), cwd, command)));
    Ok((StatusCode::CREATED, Json(json!({ "session_id": id }))))
}

async fn status(guest: Guest, Ids(id): Ids<String>) -> Result<Json<Value>, Refusal> {
    Ok(Json(guest.place.terminals.find(&id)?.status()))
}

async fn remove(guest: Guest, Ids(id): Ids<String>) -> Result<Response, Refusal> {
    let terminal = guest.place.terminals.find(&id)?;
    terminal.kill(&*guest.processes().await?).await?;
    lock(&guest.place.terminals.0).remove(&id);
    Ok(nothing())
}

async fn connect(
    guest: Guest,
    Ids(id): Ids<String>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
    request: Request,
) -> Result<Response, Refusal> {
    let terminal = guest.place.terminals.find(&id)?;
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade.max_message_size(LARGEST_FRAME).max_frame_size(LARGEST_FRAME),
        Err(rejection) => return Ok(rejection.into_response()),
    };
    let asks = |name: &str, value: &str| asked_one(request.uri(), name).as_deref() == Some(value);
    let entry = match terminal.enter() {
        Some(alone) => Entry::Alone(alone),
        None if asks("takeover", "1") => Entry::TakesOver,
        None => {
            let message = format!("another client is already connected to pty session {id}");
            return Err(Refusal::new(StatusCode::CONFLICT, Code::AlreadyConnected, message));
        }
    };
    let since = asked_one(request.uri(), "since").and_then(|text| text.parse().ok()).unwrap_or_default();
    let wished = Wished { entry, since, is_pipe: asks("pty", "0") };
    Ok(upgrade.on_upgrade(async move |socket| socket::serve(socket, guest, terminal, wished).await))
}

#[cfg(test)]
mod tests;
