//! Removing, moving, and who may do what.

use std::collections::BTreeMap;

use axum::extract::Request;
use axum::response::Response;
use sandgate_core::{BackendError, FileKind};
use serde::Deserialize;

use super::super::body::{LARGEST, nothing, read};
use super::super::guest::{Guest, asked};
use super::super::refusal::Refusal;
use super::mode::Permission;

/// Files alone; what is not there is as good as removed.
pub(super) async fn remove(guest: Guest, request: Request) -> Result<Response, Refusal> {
    let inside = guest.inside().await?;
    for path in asked(request.uri(), "path") {
        let resolved = guest.resolve(&path)?;
        let removed = match inside.stat(&resolved).await {
            Ok(entry) if entry.kind == FileKind::Directory && !entry.is_link => {
                Err(BackendError::IsFolder(path.clone()))
            }
            Ok(_) => inside.remove(&resolved).await,
            Err(error) => Err(error),
        };
        match removed {
            Ok(()) | Err(BackendError::NoSuchFile(_)) => {}
            Err(error) => return Err(Refusal::from(error).in_words(&format!("error removing file {path}. "))),
        }
    }
    Ok(nothing())
}

#[derive(Debug, Deserialize)]
struct Move {
    src: String,
    dest: String,
}

/// Nothing is written over.
pub(super) async fn rename(guest: Guest, request: Request) -> Result<Response, Refusal> {
    let moves: Vec<Move> = read(request, LARGEST).await?;
    let inside = guest.inside().await?;
    for Move { src, dest } in moves {
        let (from, to) = (guest.resolve(&src)?, guest.resolve(&dest)?);
        inside.stat(&from).await?;
        match inside.stat(&to).await {
            Err(BackendError::NoSuchFile(_)) => {}
            Ok(_) => {
                let message = format!("error accessing file: destination path already exists: {dest}");
                return Err(Refusal::runtime(message));
            }
            Err(error) => return Err(error.into()),
        }
        inside.rename(&from, &to).await?;
    }
    Ok(nothing())
}

pub(super) async fn permissions(guest: Guest, request: Request) -> Result<Response, Refusal> {
    let wanted: BTreeMap<String, Permission> = read(request, LARGEST).await?;
    // Nothing is changed when something cannot be.
    let mut changes = Vec::new();
    for (path, permission) in &wanted {
        changes.push((path, guest.resolve(path)?, permission.bits()?));
    }
    let inside = guest.inside().await?;
    for (path, resolved, bits) in changes {
        let failed =
            |error| Refusal::from(error).in_words(&format!("error changing permissions for {path}. "));
        match bits {
            Some(bits) => inside.set_mode(&resolved, bits).await.map_err(failed)?,
            None => inside.stat(&resolved).await.map(drop).map_err(failed)?,
        }
    }
    Ok(nothing())
}
