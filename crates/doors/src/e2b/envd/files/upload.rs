//! `POST /files`: files into the sandbox, as a form or as they are.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use axum::extract::Request;
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::response::{IntoResponse, Json, Response};
use futures_util::TryStreamExt;
use sandgate_core::{Entry, Inside, SandboxPath, human_bytes};
use serde_json::{Value, json};
use tokio::io::AsyncRead;
use tokio_util::io::StreamReader;

use super::super::filesystem::metadata;
use super::super::guest::Guest;
use super::super::paths::{name_of, resolve};
use super::super::refusal::{Kind, Refusal};
use super::super::user;
use super::content::{Packing, refused, unpacked};
use super::metadata::attributes;
use super::{Asked, form};
use crate::lent::Content;

/// Where the files of one request go.
pub(super) struct Upload {
    guest: Guest,
    inside: Arc<dyn Inside>,
    attributes: BTreeMap<String, String>,
}

impl Upload {
    pub(super) async fn write<R: AsyncRead + Send + Unpin>(
        &self,
        path: &SandboxPath,
        mut content: Content<R>,
    ) -> Result<Entry, Refusal> {
        let written = self.inside.write(path, &mut content, &self.attributes).await;
        written.map_err(|error| content.broken().map_or_else(|| self.guest.explain(error.into()), refused))
    }
}

pub(super) async fn answer(request: Request) -> Result<Response, Refusal> {
    let asked = Asked::of(request.uri());
    user::check(asked.username.as_deref())?;
    let kind = media_type(request.headers());
    let is_form = kind.starts_with("multipart/");
    if !is_form && kind != "application/octet-stream" {
        let message = format!(
            "unsupported content type: {kind}, expected multipart/form-data or application/octet-stream"
        );
        return Err(Refusal::invalid(message));
    }
    let packing = Packing::of(request.headers())?;
    let attributes = attributes(request.headers())?;
    let guest = Guest::of(&request).await?;
    if packing == Packing::None {
        fits(&guest, request.headers())?;
    }
    let inside = guest.inside().await?;
    let upload = Upload { guest, inside, attributes };
    let request = request.map(|body| unpacked(body, packing));
    let written = if is_form {
        form::write(&upload, asked.path.as_deref(), request).await?
    } else {
        let path = asked.path.filter(|path| !path.is_empty());
        let path =
            path.ok_or_else(|| Refusal::invalid("path query parameter is required for raw body upload"))?;
        let content = StreamReader::new(request.into_body().into_data_stream().map_err(io::Error::other));
        vec![upload.write(&resolve(&path)?, Content::new(content)).await?]
    };
    let entries: Vec<_> = written.iter().map(described).collect();
    Ok(Json(entries).into_response())
}

/// What an upload says of a file.
pub(super) fn described(entry: &Entry) -> Value {
    let mut described = json!({ "path": entry.path, "name": name_of(&entry.path), "type": "file" });
    let metadata = metadata(&entry.attributes);
    if !metadata.is_empty() {
        described["metadata"] = json!(metadata);
    }
    described
}

/// More than the whole sandbox may hold is refused before it is sent.
fn fits(guest: &Guest, headers: &HeaderMap) -> Result<(), Refusal> {
    let announced = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    let limit = guest.container.spec().limits.disk_bytes;
    match announced {
        Some(size) if size > limit => {
            let message = format!(
                "not enough disk space available: attempted to write {size} bytes, and a sandbox here holds {}",
                human_bytes(limit)
            );
            Err(Refusal::new(Kind::NoSpace, message))
        }
        Some(_) | None => Ok(()),
    }
}

fn media_type(headers: &HeaderMap) -> String {
    let declared = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    declared.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}
