//! The contexts of a sandbox: those that were made, and one for each language that was used without.

use axum::extract::Request;
use axum::response::{Json, Response};
use sandgate_core::{BackendError, ContextId, ContextInfo, ContextSpec};
use serde::{Deserialize, Serialize};

use super::super::body::{LARGEST, nothing, read};
use super::super::guest::{Guest, asked_one};
use super::super::refusal::Refusal;
use crate::lent::Ids;

/// The language of the engine's own default context.
const FIRST: &str = "python";

#[derive(Debug, Serialize)]
pub(super) struct Context {
    id: String,
    language: String,
}

impl From<ContextInfo> for Context {
    fn from(info: ContextInfo) -> Self {
        Self { id: info.id.to_string(), language: info.language }
    }
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Wish {
    #[serde(default)]
    language: Option<String>,
    #[serde(default)]
    cwd: Option<String>,
}

pub(super) async fn create(guest: Guest, request: Request) -> Result<Json<Context>, Refusal> {
    let Wish { language, cwd } = read(request, LARGEST).await?;
    let language = language.filter(|language| !language.is_empty());
    let language = language.ok_or_else(|| Refusal::invalid("name the 'language' of the context"))?;
    let cwd = guest.folder(cwd.as_deref()).await?;
    let spec = ContextSpec { id: None, language: Some(language), cwd: Some(cwd) };
    let made = guest.sandbox.create_context(spec).await;
    let made = made.map_err(|error| Refusal::from(error).in_words("error creating code context. "))?;
    Ok(Json(made.into()))
}

pub(super) async fn list(guest: Guest, request: Request) -> Result<Json<Vec<Context>>, Refusal> {
    let language = asked_one(request.uri(), "language");
    let all = guest.sandbox.contexts().await?.into_iter();
    let is_wanted = |info: &ContextInfo| language.as_ref().is_none_or(|language| info.language == *language);
    Ok(Json(all.filter(is_wanted).map(Context::from).collect()))
}

pub(super) async fn remove_all(guest: Guest, request: Request) -> Result<Response, Refusal> {
    let language = asked_one(request.uri(), "language").ok_or_else(|| Refusal::missing("language"))?;
    for info in guest.sandbox.contexts().await? {
        if info.language == language {
            match guest.sandbox.delete_context(&info.id).await {
                Ok(()) | Err(BackendError::NoSuchContext(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(nothing())
}

pub(super) async fn get(guest: Guest, Ids(id): Ids<String>) -> Result<Json<Context>, Refusal> {
    let found = match ContextId::parse(&id) {
        Ok(parsed) => find(&guest, &parsed).await?,
        Err(_) => None,
    };
    found.map(|info| Json(info.into())).ok_or_else(|| not_found(&id))
}

pub(super) async fn remove(guest: Guest, Ids(id): Ids<String>) -> Result<Response, Refusal> {
    let parsed = ContextId::parse(&id).map_err(|_| not_found(&id))?;
    guest.sandbox.delete_context(&parsed).await?;
    Ok(nothing())
}

fn not_found(id: &str) -> Refusal {
    Refusal::not_found(format!("context {id} not found"))
}

pub(super) async fn find(guest: &Guest, id: &ContextId) -> Result<Option<ContextInfo>, Refusal> {
    Ok(guest.sandbox.contexts().await?.into_iter().find(|info| info.id == *id))
}

/// The context that code of a language runs in when it names none, made on first use.
pub(super) async fn default_of(guest: &Guest, language: &str) -> Result<ContextId, Refusal> {
    if language == FIRST {
        return Ok(ContextId::default_context());
    }
    let language = language.to_owned();
    // A name that cannot be is no language either, and the engine says so.
    let id = ContextId::parse(&format!("default-{language}")).ok();
    if let Some(id) = &id
        && find(guest, id).await?.is_some()
    {
        return Ok(id.clone());
    }
    let spec = ContextSpec { id, language: Some(language), cwd: None };
    match guest.sandbox.create_context(spec).await {
        Ok(info) => Ok(info.id),
        // Somebody else's request was there first.
        Err(BackendError::ContextExists(id)) => Ok(id),
        Err(error) => Err(error.into()),
    }
}
