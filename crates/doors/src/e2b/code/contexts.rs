//! The contexts of a sandbox: the default ones, which are always there, and those that were made.

use axum::extract::{Request, State};
use axum::response::Json;
use sandgate_core::{BackendError, ContextId, ContextInfo};
use serde::Serialize;
use serde_json::Value;

use super::super::route::Target;
use super::super::{Door, HOME};
use super::Refusal;
use super::request::{ContextBody, parse_context, read};
use crate::lent::Ids;

#[derive(Debug, Serialize)]
pub(super) struct Context {
    id: String,
    language: String,
    cwd: String,
}

impl From<ContextInfo> for Context {
    fn from(info: ContextInfo) -> Self {
        Self { id: info.id.to_string(), language: info.language, cwd: info.cwd }
    }
}

pub(super) async fn create(
    State(door): State<Door>,
    target: Target,
    request: Request,
) -> Result<Json<Context>, Refusal> {
    let spec = read::<ContextBody>(&door, request).await?.into_spec();
    let of_it = Refusal::of(&target.lease.id);
    let made = target.sandbox().await.map_err(&of_it)?.create_context(spec).await.map_err(&of_it)?;
    Ok(Json(made.into()))
}

/// E2B starts these two with every sandbox; here each starts with its first cell.
const DEFAULTS: [&str; 2] = ["python", "javascript"];

/// The default ones first, whether they were used yet or not; the youngest last.
pub(super) async fn list(target: Target) -> Result<Json<Vec<Context>>, Refusal> {
    let of_it = Refusal::of(&target.lease.id);
    let sandbox = target.sandbox().await.map_err(&of_it)?;
    let mut known = sandbox.contexts().await.map_err(&of_it)?;
    let can_run = sandbox.languages();
    let mut all = Vec::with_capacity(known.len() + DEFAULTS.len());
    for language in DEFAULTS.into_iter().filter(|language| can_run.iter().any(|can| can == language)) {
        let id = ContextId::default_of(language);
        all.push(match known.iter().position(|info| info.id == id) {
            Some(used) => known.remove(used).into(),
            None => Context { id: id.to_string(), language: language.to_owned(), cwd: HOME.to_owned() },
        });
    }
    all.extend(known.into_iter().map(Context::from));
    Ok(Json(all))
}

pub(super) async fn remove(target: Target, Ids(id): Ids<String>) -> Result<Json<Value>, Refusal> {
    let id = parse_context(&id)?;
    let of_it = Refusal::of(&target.lease.id);
    match target.sandbox().await.map_err(&of_it)?.delete_context(&id).await {
        Ok(()) => Ok(Json(Value::Null)),
        // It is listed before it is used, so it can be removed before, too.
        Err(BackendError::NoSuchContext(id)) if is_default(&id) => Ok(Json(Value::Null)),
        Err(error) => Err(of_it(error)),
    }
}

pub(super) async fn restart(target: Target, Ids(id): Ids<String>) -> Result<Json<Value>, Refusal> {
    let id = parse_context(&id)?;
    let of_it = Refusal::of(&target.lease.id);
    target.sandbox().await.map_err(&of_it)?.restart_context(&id).await.map_err(&of_it)?;
    Ok(Json(Value::Null))
}

fn is_default(id: &ContextId) -> bool {
    DEFAULTS.iter().any(|language| ContextId::default_of(language) == *id)
}
