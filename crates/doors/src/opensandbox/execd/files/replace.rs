//! One text for another, in files as they are.

use std::collections::BTreeMap;

use axum::extract::Request;
use axum::response::{IntoResponse, Json, Response};
use sandgate_core::{BackendError, Inside, SandboxPath, human_bytes};
use serde::{Deserialize, Serialize};
use tokio::io::AsyncReadExt;

use super::super::body::{LARGEST, nothing, read};
use super::super::guest::{Guest, asked_one};
use super::super::refusal::Refusal;

/// It is held in memory, twice.
const LARGEST_FILE: u64 = 32 << 20;

#[derive(Debug, Deserialize)]
struct Wish {
    #[serde(default)]
    old: String,
    #[serde(default)]
    new: String,
}

#[derive(Debug, Serialize)]
struct Replaced {
    #[serde(rename = "replacedCount")]
    count: usize,
}

pub(super) async fn replace(guest: Guest, request: Request) -> Result<Response, Refusal> {
    let verbose = asked_one(request.uri(), "verbose").as_deref() == Some("true");
    let wishes: BTreeMap<String, Wish> = read(request, LARGEST).await?;
    if wishes.values().any(|wish| wish.old.is_empty()) {
        return Err(Refusal::invalid("old content must not be empty"));
    }
    let inside = guest.inside().await?;
    let mut replaced = BTreeMap::new();
    for (path, wish) in wishes {
        let count = in_file(&*inside, &guest.resolve(&path)?, &wish).await?;
        replaced.insert(path, Replaced { count });
    }
    if verbose { Ok(Json(replaced).into_response()) } else { Ok(nothing()) }
}

/// How many times.
async fn in_file(inside: &dyn Inside, path: &SandboxPath, wish: &Wish) -> Result<usize, Refusal> {
    let open = inside.open(path, None).await?;
    let mut content = Vec::new();
    let read = open.reader.take(LARGEST_FILE + 1).read_to_end(&mut content).await;
    read.map_err(|error| BackendError::File { path: path.to_string(), reason: error.to_string() })?;
    if content.len() as u64 > LARGEST_FILE {
        let message = format!("{path}: text is replaced in files of at most {}", human_bytes(LARGEST_FILE));
        return Err(Refusal::invalid(message));
    }
    let Ok(content) = String::from_utf8(content) else {
        return Err(Refusal::invalid(format!("{path}: this is no text in UTF-8")));
    };
    let count = content.matches(&wish.old).count();
    if count > 0 {
        let grown = content.len() as u64 + (count as u64).saturating_mul(wish.new.len() as u64);
        if grown > LARGEST_FILE.saturating_mul(2) {
            return Err(Refusal::invalid(format!("{path}: the file would become too large")));
        }
        let changed = content.replace(&wish.old, &wish.new);
        inside.write(path, &mut changed.as_bytes(), &open.entry.attributes).await?;
        inside.set_mode(path, open.entry.mode).await?;
    }
    Ok(count)
}
