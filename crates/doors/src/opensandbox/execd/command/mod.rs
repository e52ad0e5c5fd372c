//! Commands: in the foreground, told line by line while the client listens, or in the background, whose last words
//! can be asked for.

mod foreground;
mod kept;
mod lines;
mod wish;

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::{get, post};
use sandgate_core::{BackendError, Joined, StartProcess};

use super::super::Door;
use super::body::{LARGEST, read};
use super::code::interrupt;
use super::events::{answer, complete, init};
use super::guest::{Guest, asked_one};
use super::refusal::{Code, Refusal};
use crate::lent::Ids;
use wish::Wish;

pub(super) use foreground::tell_foreground;
pub(super) use kept::{Command, Commands};
pub(super) use wish::timeout;

const CURSOR: HeaderName = HeaderName::from_static("execd-commands-tail-cursor");

pub(super) fn routes() -> Router<Door> {
    Router::new()
        .route("/command", post(run).delete(interrupt))
        .route("/command/status/{id}", get(status))
        .route("/command/{id}/logs", get(logs))
}

async fn run(guest: Guest, request: Request) -> Result<Response, Refusal> {
    let wish = read::<Wish>(request, LARGEST).await?;
    let is_background = wish.background;
    let (content, start) = wish.into_start(&guest).await?;
    if is_background {
        background(&guest, content, start).await
    } else {
        foreground(&guest, content, start).await
    }
}

/// What `bash` makes of a text.
pub(super) async fn run_shell(guest: &Guest, text: String) -> Result<Response, Refusal> {
    let (content, start) = Wish::shell(text).into_start(guest).await?;
    foreground(guest, content, start).await
}

async fn foreground(guest: &Guest, content: String, start: StartProcess) -> Result<Response, Refusal> {
    let command = guest.place.commands.add(content, false)?;
    start_foreground(guest, command, start).await
}

/// `command`: where its end is written down.
pub(super) async fn start_foreground(
    guest: &Guest,
    command: Arc<Command>,
    start: StartProcess,
) -> Result<Response, Refusal> {
    let processes = guest.processes().await?;
    match begin(guest, &command, start).await {
        Ok(joined) => Ok(tell_foreground(command, processes, joined)),
        Err(NotBegun::Told(why)) => {
            command.not_started(&why);
            Ok(foreground::tell_failure(&command, &why))
        }
        Err(NotBegun::Refused(refusal)) => {
            command.not_started(&refusal.to_string());
            Err(refusal.in_words("error running commands "))
        }
    }
}

async fn background(guest: &Guest, content: String, start: StartProcess) -> Result<Response, Refusal> {
    let begun = Instant::now();
    let command = guest.place.commands.add(content, true)?;
    let joined = begin(guest, &command, start).await.map_err(|error| {
        let refusal = match error {
            NotBegun::Told(why) => Refusal::runtime(format!("failed to start commands: {why}")),
            NotBegun::Refused(refusal) => refusal,
        };
        command.not_started(&refusal.to_string());
        refusal.in_words("error running commands ")
    })?;
    let mut lines = Vec::new();
    init(&mut lines, &command.id);
    complete(&mut lines, begun.elapsed());
    tokio::spawn(async move { command.follow(joined).await });
    Ok(answer(Body::from(lines)))
}

enum NotBegun {
    /// The client hears it as the end of the command.
    Told(String),
    Refused(Refusal),
}

/// The one way by which commands of this door start.
async fn begin(guest: &Guest, command: &Command, start: StartProcess) -> Result<Joined, NotBegun> {
    let start = StartProcess { tag: Some(command.tag.clone()), ..start };
    guest.target.start(start).await.map_err(|error| match error {
        BackendError::NoSuchFile(_)
        | BackendError::PermissionDenied(_)
        | BackendError::IsFolder(_)
        | BackendError::NotAFolder(_)
        | BackendError::File { .. } => NotBegun::Told(error.to_string()),
        other => NotBegun::Refused(other.into()),
    })
}

async fn status(guest: Guest, Ids(id): Ids<String>) -> Result<Response, Refusal> {
    let command = guest.place.commands.find(&id).ok_or_else(|| no_such_command(&id))?;
    Ok(Json(command.status()).into_response())
}

async fn logs(guest: Guest, Ids(id): Ids<String>, request: Request) -> Result<Response, Refusal> {
    let command = guest.place.commands.find(&id).ok_or_else(|| no_such_command(&id))?;
    let cursor = match asked_one(request.uri(), "cursor") {
        None => 0,
        Some(text) => text.parse::<u64>().map_err(|_| {
            Refusal::invalid(format!("'{text}' is no cursor; give the one of an earlier answer"))
        })?,
    };
    let Some((text, end)) = command.logs(cursor) else {
        return Err(Refusal::invalid(format!("command {id} is not running in background")));
    };
    let mut response = (StatusCode::OK, text).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(CURSOR, HeaderValue::from(end));
    Ok(response)
}

fn no_such_command(id: &str) -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, Code::InvalidRequest, format!("command not found: {id}"))
}

/// Of one that was asked to end and does not.
const GRACE: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests;
