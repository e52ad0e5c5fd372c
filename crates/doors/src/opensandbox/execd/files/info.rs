//! What is known of files.

use std::collections::BTreeMap;

use axum::extract::Request;
use axum::response::Json;
use sandgate_core::{Entry, FileKind};
use serde::Serialize;

use super::super::guest::{Guest, asked};
use super::super::refusal::Refusal;
use super::mode::digits;
use crate::lent::iso;

#[derive(Debug, Serialize)]
pub(super) struct Info {
    path: String,
    #[serde(rename = "type")]
    kind: &'static str,
    size: u64,
    modified_at: String,
    /// Nobody here remembers it better than its last change.
    created_at: String,
    owner: String,
    group: String,
    mode: u32,
}

impl From<Entry> for Info {
    fn from(entry: Entry) -> Self {
        let kind = match entry.kind {
            _ if entry.is_link => "symlink",
            FileKind::File => "file",
            FileKind::Directory => "directory",
            FileKind::Symlink => "symlink",
            FileKind::Other => "other",
        };
        let modified_at = iso(u64::try_from(entry.modified_ms).unwrap_or_default());
        Self {
            path: entry.path,
            kind,
            size: entry.size,
            created_at: modified_at.clone(),
            modified_at,
            owner: entry.owner,
            group: entry.group,
            mode: digits(entry.mode),
        }
    }
}

/// Each under the path that was asked for.
pub(super) async fn get(guest: Guest, request: Request) -> Result<Json<BTreeMap<String, Info>>, Refusal> {
    let inside = guest.inside().await?;
    let mut all = BTreeMap::new();
    for path in asked(request.uri(), "path") {
        let entry = inside.stat(&guest.resolve(&path)?).await?;
        all.insert(path, entry.into());
    }
    Ok(Json(all))
}
