//! Folders: listed, made, removed with all they hold.

use std::collections::BTreeMap;

use axum::extract::Request;
use axum::response::{Json, Response};
use sandgate_core::{BackendError, FileKind};

use super::super::body::{LARGEST, nothing, read};
use super::super::guest::{Guest, asked, asked_one};
use super::super::refusal::Refusal;
use super::info::Info;
use super::mode::Permission;

pub(super) async fn list(guest: Guest, request: Request) -> Result<Json<Vec<Info>>, Refusal> {
    let path = asked_one(request.uri(), "path").ok_or_else(|| Refusal::missing("path"))?;
    let depth = match asked_one(request.uri(), "depth") {
        None => 1,
        Some(text) => text
            .parse::<u32>()
            .map_err(|_| Refusal::invalid(format!("invalid query parameter 'depth': {text}")))?,
    };
    let path = guest.resolve(&path)?;
    let inside = guest.inside().await?;
    let entry = inside.stat(&path).await?;
    // A link is another folder than the one that was asked for.
    if entry.is_link {
        return Err(Refusal::invalid(format!("path is a symbolic link, refusing to traverse: {path}")));
    }
    if entry.kind != FileKind::Directory {
        return Err(Refusal::invalid(format!("path is not a directory: {path}")));
    }
    if depth == 0 {
        return Ok(Json(Vec::new()));
    }
    Ok(Json(inside.list(&path, depth).await?.into_iter().map(Info::from).collect()))
}

/// With those above it. One that is there already stays as it is.
pub(super) async fn make(guest: Guest, request: Request) -> Result<Response, Refusal> {
    let wanted: BTreeMap<String, Permission> = read(request, LARGEST).await?;
    let mut folders = Vec::new();
    for (path, permission) in &wanted {
        folders.push((guest.resolve(path)?, permission.bits()?));
    }
    let inside = guest.inside().await?;
    for (path, bits) in folders {
        match inside.make_dir(&path).await {
            Ok(_) => {
                if let Some(bits) = bits {
                    inside.set_mode(&path, bits).await?;
                }
            }
            Err(BackendError::Exists(_)) if inside.stat(&path).await?.kind == FileKind::Directory => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(nothing())
}

pub(super) async fn remove(guest: Guest, request: Request) -> Result<Response, Refusal> {
    let inside = guest.inside().await?;
    for path in asked(request.uri(), "path") {
        match inside.remove(&guest.resolve(&path)?).await {
            Ok(()) | Err(BackendError::NoSuchFile(_)) => {}
            Err(error) => {
                return Err(Refusal::from(error).in_words(&format!("error removing directory {path}. ")));
            }
        }
    }
    Ok(nothing())
}
