//! Shells that keep where they are and what they export between the commands that are run in them. Each command is a
//! `bash` of its own, which takes up what the last one left in a file inside the sandbox: a command that ends its
//! shell, or is stopped, ends nothing else.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::Request;
use axum::response::{Json, Response};
use axum::routing::{delete, post};
use sandgate_core::{BackendError, SandboxPath, StartProcess, random_hex};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::Door;
use super::body::{LARGEST, nothing, read, read_or_default};
use super::command::{Command, start_foreground, timeout};
use super::guest::Guest;
use super::place::lock;
use super::refusal::Refusal;
use super::variables::with_variables;
use crate::lent::Ids;

const MOST: usize = 64;
const MOST_RUNNING: usize = 16;

/// Given: the file with the state, a folder to go to or nothing, the command.
const SHELL: &str = r#"__state=$1 __folder=$2 __command=$3
set --
[ -r "$__state" ] && . "$__state" 2>/dev/null
exec 2>&1
if [ -n "$__folder" ]; then cd -- "$__folder" || exit; fi
trap '__code=$?; { export -p; printf "cd -- %q\n" "$PWD"; } >"$__state.new" && mv -f -- "$__state.new" "$__state"; exit "$__code"' EXIT
eval "$__command"
"#;

pub(super) fn routes() -> Router<Door> {
    Router::new()
        .route("/session", post(create))
        .route("/session/{id}/run", post(run))
        .route("/session/{id}", delete(remove))
}

#[derive(Debug, Default)]
pub(super) struct Sessions(Mutex<HashMap<String, Arc<Session>>>);

#[derive(Debug)]
struct Session {
    id: String,
    /// Where the first command starts.
    cwd: String,
    running: Mutex<Vec<Arc<Command>>>,
}

impl Session {
    /// Where its state is.
    fn file(&self) -> String {
        format!("/tmp/.opensandbox-session-{}", self.id)
    }

    fn running(&self) -> Vec<Arc<Command>> {
        let mut running = lock(&self.running);
        running.retain(|command| !command.is_over());
        running.clone()
    }
}

impl Sessions {
    /// What runs in a session. None: there is no such session.
    pub(super) fn running(&self, id: &str) -> Option<Vec<Arc<Command>>> {
        let session = lock(&self.0).get(id).cloned()?;
        Some(session.running())
    }

    fn find(&self, id: &str) -> Result<Arc<Session>, Refusal> {
        let found = lock(&self.0).get(id).cloned();
        found.ok_or_else(|| Refusal::not_found(format!("session {id} not found")))
    }
}

#[derive(Debug, Default, Deserialize)]
struct New {
    #[serde(default)]
    cwd: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Run {
    #[serde(default)]
    command: String,
    #[serde(default)]
    cwd: Option<String>,
    #[serde(default)]
    timeout: Option<i64>,
}

async fn create(guest: Guest, request: Request) -> Result<Json<Value>, Refusal> {
    let New { cwd } = read_or_default(request, LARGEST).await?;
    if let Some(cwd) = cwd.as_deref().filter(|cwd| !cwd.is_empty()) {
        // The original makes it, too.
        match guest.inside().await?.make_dir(&guest.resolve(cwd)?).await {
            Ok(_) | Err(BackendError::Exists(_)) => {}
            Err(error) => return Err(Refusal::from(error).in_words("error creating session. ")),
        }
    }
    let cwd = guest.folder(cwd.as_deref()).await?;
    let id = random_hex(16);
    let mut all = lock(&guest.place.sessions.0);
    if all.len() >= MOST {
        return Err(Refusal::too_many(format!(
            "there are {MOST} sessions, which is the limit; delete one first"
        )));
    }
    let session = Session { id: id.clone(), cwd, running: Mutex::default() };
    all.insert(id.clone(), Arc::new(session));
    Ok(Json(json!({ "session_id": id })))
}

async fn run(guest: Guest, Ids(id): Ids<String>, request: Request) -> Result<Response, Refusal> {
    let session = guest.place.sessions.find(&id)?;
    let Run { command, cwd, timeout: millis } = read(request, LARGEST).await?;
    if command.is_empty() || command.contains('\0') {
        return Err(Refusal::invalid("invalid request. 'command' is required, and has no NUL"));
    }
    let folder = match cwd.filter(|cwd| !cwd.is_empty()) {
        Some(cwd) => guest.folder(Some(&cwd)).await?,
        None => String::new(),
    };
    let shell = ["--noprofile", "--norc", "-c", SHELL, "bash"].map(str::to_owned).into_iter();
    let start = StartProcess {
        program: "bash".to_owned(),
        args: shell.chain([session.file(), folder, command.clone()]).collect(),
        env: with_variables(&guest, []).await,
        cwd: Some(session.cwd.clone()),
        timeout: timeout(millis)?,
        ..StartProcess::default()
    };
    let tag = format!("{id}-{}", random_hex(8));
    let command = Arc::new(Command::new(id, tag, command, false));
    if session.running().len() >= MOST_RUNNING {
        let message = format!("{MOST_RUNNING} commands run in this session, which is the limit");
        return Err(Refusal::too_many(message));
    }
    lock(&session.running).push(Arc::clone(&command));
    start_foreground(&guest, command, start).await
}

async fn remove(guest: Guest, Ids(id): Ids<String>) -> Result<Response, Refusal> {
    let session = guest.place.sessions.find(&id)?;
    let processes = guest.processes().await?;
    for command in session.running() {
        command.kill(&*processes).await?;
    }
    match guest.inside().await?.remove(&SandboxPath::parse(&session.file())?).await {
        Ok(()) | Err(BackendError::NoSuchFile(_)) => {}
        Err(error) => return Err(error.into()),
    }
    lock(&guest.place.sessions.0).remove(&id);
    Ok(nothing())
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
