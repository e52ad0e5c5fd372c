//! `/v1/files`: what clients upload to have it at hand in containers.

use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::response::{Json, Response};
use sandgate_gate::{GateError, clean_file_name};
use sandgate_store::{FileRecord, StagedFile, StoreError};
use serde_json::{Value, json};
use tokio::io::AsyncSeekExt;

use super::download::{self, Wanted};
use super::error::{ApiError, ApiResult};
use super::pages::{self, Query};
use super::path::InPath;
use super::uploads::{Form, Part};
use super::{Door, OpenAiDoor};
use crate::owner::Caller;

const PURPOSES: [&str; 6] = ["assistants", "batch", "fine-tune", "vision", "user_data", "evals"];
/// An hour to thirty days.
const SECONDS: std::ops::RangeInclusive<u64> = 3600..=2_592_000;

/// What a form says, in whichever order it says it.
#[derive(Default)]
struct Upload {
    file: Option<(String, StagedFile)>,
    purpose: Option<String>,
    anchor: Option<String>,
    seconds: Option<String>,
}

pub(super) async fn create(
    State(door): State<Door>,
    Caller(owner): Caller,
    request: Request,
) -> ApiResult<Json<Value>> {
    let mut form = Form::read(request).await?;
    let mut upload = Upload::default();
    while let Some(part) = form.next().await? {
        upload.take(&door, part).await?;
    }
    let expires = upload.expires_after()?;
    let purpose = upload.purpose.ok_or_else(|| GateError::missing("purpose"))?;
    let (filename, staged) = upload.file.ok_or_else(|| GateError::missing("file"))?;
    let file = door.store.keep_file(staged, &owner, &filename, &purpose, expires).await?;
    Ok(Json(object(&file)))
}

impl Upload {
    async fn take(&mut self, door: &OpenAiDoor, part: Part<'_>) -> ApiResult<()> {
        let slot = match part.name.as_str() {
            "file" => {
                if self.file.is_some() {
                    return Err(ApiError::bad_request("Give one file at a time.").about("file"));
                }
                let filename = clean_file_name(&part.filename);
                let limit = door.limits.max_upload;
                let staged = door.store.stage_file(part.content(limit), limit).await;
                self.file = Some((filename, staged.map_err(|error| ApiError::from(error).about("file"))?));
                return Ok(());
            }
            "purpose" => {
                // At once: nobody should send a large file to hear that its purpose is wrong.
                self.purpose = Some(known_purpose(part.text().await?)?);
                return Ok(());
            }
            "expires_after[anchor]" => &mut self.anchor,
            "expires_after[seconds]" => &mut self.seconds,
            other => return Err(GateError::unknown_parameter(other).into()),
        };
        *slot = Some(part.text().await?);
        Ok(())
    }

    fn expires_after(&self) -> ApiResult<Option<u64>> {
        let (anchor, seconds) = match (&self.anchor, &self.seconds) {
            (None, None) => return Ok(None),
            (None, Some(_)) => return Err(GateError::missing("expires_after[anchor]").into()),
            (Some(_), None) => return Err(GateError::missing("expires_after[seconds]").into()),
            (Some(anchor), Some(seconds)) => (anchor, seconds),
        };
        if anchor != "created_at" {
            let message = format!("Invalid value: '{anchor}'. Supported values are: 'created_at'.");
            return Err(GateError::bad_value("expires_after[anchor]", message).into());
        }
        match seconds.parse::<u64>() {
            Ok(seconds) if SECONDS.contains(&seconds) => Ok(Some(seconds)),
            _ => {
                let (least, most) = (SECONDS.start(), SECONDS.end());
                let message = format!(
                    "Invalid 'expires_after[seconds]': expected an integer from {least} to {most}, but got \
                     '{seconds}' instead."
                );
                Err(GateError::bad_value("expires_after[seconds]", message).into())
            }
        }
    }
}

fn known_purpose(purpose: String) -> ApiResult<String> {
    if PURPOSES.contains(&purpose.as_str()) {
        return Ok(purpose);
    }
    let all = PURPOSES.map(|name| format!("'{name}'")).join(", ");
    let message = format!("Invalid value: '{purpose}'. Supported values are: {all}.");
    Err(GateError::bad_value("purpose", message).into())
}

pub(super) async fn list(
    State(door): State<Door>,
    Caller(owner): Caller,
    query: Query,
) -> ApiResult<Json<Value>> {
    let page = query.page(10_000, 10_000)?;
    let listed =
        door.store.files(&owner, query.get("purpose"), &page).await.map_err(|error| match error {
            StoreError::NotFound => pages::no_such_page(&page),
            other => other.into(),
        })?;
    Ok(Json(pages::list(pages::mapped(listed, |file| object(&file)))))
}

pub(super) async fn retrieve(
    State(door): State<Door>,
    Caller(owner): Caller,
    InPath(id): InPath<String>,
) -> ApiResult<Json<Value>> {
    let file = door.store.file(&owner, &id).await.map_err(|error| missing(error, &id))?;
    Ok(Json(object(&file)))
}

pub(super) async fn content(
    State(door): State<Door>,
    Caller(owner): Caller,
    InPath(id): InPath<String>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let (file, mut content) = door.store.open_file(&owner, &id).await.map_err(|error| missing(error, &id))?;
    let wanted = Wanted::read(&headers, file.bytes);
    if let Some(range) = wanted.range() {
        let start = std::io::SeekFrom::Start(range.start);
        content.seek(start).await.map_err(|error| ApiError::internal(&error))?;
    }
    Ok(download::answer(content, &file.filename, file.bytes, wanted))
}

pub(super) async fn delete(
    State(door): State<Door>,
    Caller(owner): Caller,
    InPath(id): InPath<String>,
) -> ApiResult<Json<Value>> {
    door.store.delete_file(&owner, &id).await.map_err(|error| missing(error, &id))?;
    Ok(Json(json!({"id": id, "object": "file", "deleted": true})))
}

fn missing(error: StoreError, id: &str) -> ApiError {
    match error {
        StoreError::NotFound => ApiError::no_such_file(id),
        other => other.into(),
    }
}

fn object(file: &FileRecord) -> Value {
    json!({
        "id": file.id,
        "object": "file",
        "bytes": file.bytes,
        "created_at": file.created_at,
        "expires_at": file.expires_at,
        "filename": file.filename,
        "purpose": file.purpose,
        "status": "processed",
        "status_details": null,
    })
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
