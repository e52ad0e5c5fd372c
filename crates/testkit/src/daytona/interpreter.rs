//! Code: the interpreter by websocket, its contexts, and the run without a state.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::check::{Body, Refused};
use super::sandbox::Sandbox;
use super::worker::{End, Worker};
use super::{World, lock};

/// When nothing is said about it.
const USUAL_TIMEOUT: u64 = 600;
const BUFFERED: usize = 256;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Execute {
    code: String,
    #[serde(default)]
    context_id: Option<String>,
    #[serde(default)]
    envs: BTreeMap<String, String>,
    #[serde(default)]
    timeout: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewContext {
    #[serde(default)]
    cwd: Option<String>,
    #[serde(default)]
    language: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CodeRun {
    code: String,
    language: String,
    #[serde(default)]
    envs: BTreeMap<String, String>,
    #[serde(default)]
    timeout: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShellCommand {
    command: String,
    #[serde(default)]
    timeout: Option<u64>,
}

pub(crate) async fn execute(
    State(world): State<Arc<World>>,
    Path(id): Path<String>,
    upgrade: WebSocketUpgrade,
) -> Result<Response, Refused> {
    let sandbox = world.started(&id)?;
    Ok(upgrade.on_upgrade(async move |mut socket| {
        let frame = serve(&world, &sandbox, &mut socket).await;
        let _ = socket.send(Message::Close(Some(frame))).await;
    }))
}

/// One message, then the frames of the run.
async fn serve(world: &World, sandbox: &Arc<Sandbox>, socket: &mut WebSocket) -> CloseFrame {
    let Some(Ok(Message::Text(text))) = socket.recv().await else {
        return violation(world, "the first message is no text");
    };
    let request: Execute = match serde_json::from_str(&text) {
        Ok(request) => request,
        Err(error) => return violation(world, &format!("the request: {error}")),
    };
    let worker = match sandbox.worker(request.context_id.as_deref()) {
        Ok(worker) => worker,
        Err(refused) => return close(1008, &refused.to_string()),
    };
    let timeout = match request.timeout.unwrap_or(USUAL_TIMEOUT) {
        0 => Duration::from_secs(86_400),
        seconds => Duration::from_secs(seconds),
    };
    if worker.is_dead() {
        return close(1008, "context is not active");
    }
    let (sender, mut frames) = mpsc::channel(BUFFERED);
    let sandbox = Arc::clone(sandbox);
    // The code goes on when its listener goes.
    let run = tokio::spawn(async move {
        let order = json!({"code": request.code, "envs": request.envs});
        worker.run(&sandbox, &order, timeout, &sender).await
    });
    loop {
        tokio::select! {
            frame = frames.recv() => match frame {
                Some(frame) => {
                    if socket.send(Message::text(frame)).await.is_err() {
                        return close(1000, "");
                    }
                }
                None => break,
            },
            said = socket.recv() => match said {
                Some(Ok(Message::Text(_) | Message::Binary(_))) => return violation(world, "a second message"),
                Some(Ok(_)) => {}
                None | Some(Err(_)) => return close(1000, ""),
            },
        }
    }
    match run.await {
        Ok(Ok(End::Done)) => close(1000, ""),
        Ok(Ok(End::TimedOut)) => close(4008, "execution timeout"),
        // As the original's does: its worker went away.
        Ok(Ok(End::Died)) => close(1001, "worker exited"),
        Ok(Err(refused)) => close(1011, &refused.to_string()),
        Err(_) => close(1011, "the run was cut short"),
    }
}

fn violation(world: &World, what: &str) -> CloseFrame {
    lock(&world.violations).push(format!("the interpreter's websocket: {what}"));
    close(1003, what)
}

fn close(code: u16, reason: &str) -> CloseFrame {
    let reason: String = reason.chars().take(100).collect();
    CloseFrame { code, reason: reason.into() }
}

pub(crate) async fn create(
    State(world): State<Arc<World>>,
    Path(id): Path<String>,
    Body(body): Body<NewContext>,
) -> Result<Json<Value>, Refused> {
    let sandbox = world.started(&id)?;
    if body.language.is_some_and(|language| language != "python") {
        return Err(Refused::no("the interpreter knows Python alone"));
    }
    let mut workers = lock(&sandbox.workers);
    let context = format!("ctx-{}", workers.len() + 1);
    let cwd = body.cwd.clone().unwrap_or_else(|| "/tmp".to_owned());
    workers.insert(context.clone(), Arc::new(Worker::new(body.cwd)));
    Ok(Json(shown(&context, &cwd)))
}

fn shown(context: &str, cwd: &str) -> Value {
    json!({"id": context, "cwd": cwd, "createdAt": "2026-01-01T00:00:00Z", "active": true, "language": "python"})
}

pub(crate) async fn list(
    State(world): State<Arc<World>>,
    Path(id): Path<String>,
) -> Result<Json<Value>, Refused> {
    let sandbox = world.started(&id)?;
    let workers = lock(&sandbox.workers);
    let made = workers.iter().filter(|(context, _)| !context.is_empty());
    let made = made.map(|(context, worker)| shown(context, worker.cwd.as_deref().unwrap_or("/tmp")));
    Ok(Json(json!({"contexts": made.collect::<Vec<_>>()})))
}

pub(crate) async fn remove(
    State(world): State<Arc<World>>,
    Path((id, context)): Path<(String, String)>,
) -> Result<Response, Refused> {
    let sandbox = world.started(&id)?;
    let removed = lock(&sandbox.workers).remove(&context);
    match removed {
        Some(_) => Ok(Json(json!({"message": "deleted"})).into_response()),
        None => Err(Refused::missing(format!("context {context} not found"))),
    }
}

pub(crate) async fn code_run(
    State(world): State<Arc<World>>,
    Path(id): Path<String>,
    Body(body): Body<CodeRun>,
) -> Result<Json<Value>, Refused> {
    let sandbox = world.started(&id)?;
    let words: [&str; 3] = match body.language.as_str() {
        "python" => ["/opt/venv/bin/python", "-c", &body.code],
        "javascript" => ["node", "-e", &body.code],
        _ => return Err(Refused::new(StatusCode::BAD_REQUEST, "no such language")),
    };
    let output = sandbox.program(&words).envs(&body.envs).stderr(std::process::Stdio::piped()).output();
    let limit = Duration::from_secs(body.timeout.unwrap_or(10));
    let output = tokio::time::timeout(limit, output).await.map_err(|_| Refused::too_late())?;
    let output = output.map_err(|error| Refused::failed(&error))?;
    let text = [output.stdout, output.stderr].concat();
    let result = String::from_utf8_lossy(&text);
    Ok(Json(
        json!({"exitCode": output.status.code().unwrap_or(-1), "result": result, "artifacts": {"charts": []}}),
    ))
}

/// All runs as root here, where its image has a user of its own: what that one may not do is not done.
pub(crate) async fn shell(
    State(world): State<Arc<World>>,
    Path(id): Path<String>,
    Body(body): Body<ShellCommand>,
) -> Result<Json<Value>, Refused> {
    let sandbox = world.started(&id)?;
    let is_allowed = body.command.split("&&").all(|part| part.trim().starts_with("sudo -n "));
    if !is_allowed {
        return Ok(Json(json!({"exitCode": 1, "result": "permission denied"})));
    }
    let script = format!("sudo() {{ shift; \"$@\"; }}; {}", body.command);
    let output = sandbox.program(&["sh", "-c", &script]).stderr(std::process::Stdio::piped()).output();
    let limit = Duration::from_secs(body.timeout.unwrap_or(10));
    let output = tokio::time::timeout(limit, output).await.map_err(|_| Refused::too_late())?;
    let output = output.map_err(|error| Refused::failed(&error))?;
    let text = [output.stdout, output.stderr].concat();
    let result = String::from_utf8_lossy(&text);
    Ok(Json(json!({"exitCode": output.status.code().unwrap_or(-1), "result": result})))
}
